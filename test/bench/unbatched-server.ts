import { createHttpService } from '../../adapters/http/http-server.ts';
import { createLogObserver } from '../../adapters/http/log.ts';
import { createStandardErrorLog } from '../../adapters/logging/standard-error-log.ts';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { CALLER_CACHE_TTL_MS } from '../../core/access/caller-cache.ts';
import { Application } from '../../core/application.ts';

/** The API of the service on MongoDB, without batching: each call sends a command of its own (docs/adr/0014-batching.md). */
const settings = readSettings(process.env);
const log = await createStandardErrorLog(settings.LOG_LEVEL);
const { engine, connection } = createMongodbEngine(settings.MONGODB_URI, (line) => log.warn(line), false);
await connection.waitForStartup();
const core = {
  app: new Application(createStorage(engine), createNodeSystem(), { callerCacheTtlMs: CALLER_CACHE_TTL_MS }),
  requestLimiter: createMemoryRateLimiter(settings.RATE_LIMIT_POINTS, settings.RATE_LIMIT_WINDOW_SECONDS),
  rejectedCredentialLimiter: createMemoryRateLimiter(settings.REFUSED_CREDENTIALS_PER_MINUTE, 60),
};
const { BODY_LIMIT_BYTES: bodyLimit, DOCS_URL: docsUrl, TRUST_PROXY: trustProxy } = settings;
const { server } = createHttpService(core, { bodyLimit, docsUrl, trustProxy }, [createLogObserver(log)]);
server.listen(settings.PORT, settings.HOST);
