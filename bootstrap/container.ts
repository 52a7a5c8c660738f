import 'reflect-metadata';
import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { HttpService } from '../adapters/http/http-server.ts';
import type { Observer } from '../adapters/http/responder.ts';
import { createStorage } from '../adapters/persistence/storage.ts';
import type { StorageEngine } from '../adapters/persistence/storage-engine.ts';
import type { DatabaseState, Metrics, RateLimiterState } from '../adapters/prometheus/metrics.ts';
import type { RateLimiter } from '../core/access/rate-limiter.ts';
import { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import { type Settings, SettingsError } from './settings.ts';

/** A connection to another server, such as MongoDB or Redis, that is opened at startup and closed at shutdown. */
export interface ExternalConnection {
  /** Resolves when the other server is ready. Also resolves if it is unavailable: the connection retries in the background. */
  open(): Promise<void>;
  close(): Promise<void>;
}

export const tokens = {
  app: Symbol('Application') as ServiceIdentifier<Application>,
  log: Symbol('Logger') as ServiceIdentifier<Logger>,
  refusalLimiter: Symbol('RateLimiter of rejected credentials') as ServiceIdentifier<RateLimiter>,
  requestLimiter: Symbol('RateLimiter of requests') as ServiceIdentifier<RateLimiter>,
  http: Symbol('HttpService') as ServiceIdentifier<HttpService>,
  metrics: Symbol('Metrics') as ServiceIdentifier<Metrics>,
  observers: Symbol('Observer') as ServiceIdentifier<readonly Observer[]>,
  settings: Symbol('Settings') as ServiceIdentifier<Settings>,
  connection: Symbol('Connection') as ServiceIdentifier<ExternalConnection>,
  databaseState: Symbol('DatabaseState') as ServiceIdentifier<DatabaseState>,
  rateLimiterState: Symbol('RateLimiterState') as ServiceIdentifier<RateLimiterState>,
  storageEngine: Symbol('StorageEngine') as ServiceIdentifier<StorageEngine>,
  system: Symbol('System') as ServiceIdentifier<System>,
};

/** How long a process caches the caller of a key. A revoked key must stop working in every process within 5 seconds. */
export const CALLER_CACHE_TTL_MS = 3_000;

const core = new ContainerModule(({ bind }) => {
  bind(tokens.app)
    .toResolvedValue(
      (engine, system, { DEMO_API_KEY: chosenSecret }) =>
        new Application(createStorage(engine), system, { callerCacheTtlMs: CALLER_CACHE_TTL_MS, chosenSecret }),
      [tokens.storageEngine, tokens.system, tokens.settings],
    )
    .inSingletonScope();
});

/** Loads the HTTP adapter. The command line does not need it. */
async function loadHttpModule(): Promise<ContainerModule> {
  const { createHttpService } = await import('../adapters/http/http-server.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.http)
      .toResolvedValue(
        (app, requestLimiter, refusalLimiter, settings, observers) => {
          const { BODY_LIMIT_BYTES: bodyLimit, DOCS_URL: docsUrl, TRUST_PROXY: trustProxy } = settings;
          return createHttpService(
            { app, requestLimiter, refusalLimiter },
            { bodyLimit, docsUrl, trustProxy },
            observers,
          );
        },
        [tokens.app, tokens.requestLimiter, tokens.refusalLimiter, tokens.settings, tokens.observers],
      )
      .inSingletonScope();
  });
}

/** Loads the observer that logs requests. Used only if `METRICS_PORT` is not set. */
async function loadLogModule(): Promise<ContainerModule> {
  const { createLogObserver } = await import('../adapters/http/log.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.observers)
      .toResolvedValue((log) => [createLogObserver(log)], [tokens.log])
      .inSingletonScope();
  });
}

/**
 * Loads the observer that logs requests, and the metrics of requests, storage and rate limiters. Used only if `METRICS_PORT` is
 * set.
 */
async function loadMetricsModule(): Promise<ContainerModule> {
  const { Metrics } = await import('../adapters/prometheus/metrics.ts');
  const { createLogObserver } = await import('../adapters/http/log.ts');
  return new ContainerModule(({ bind, onActivation }) => {
    const metrics = new Metrics();
    bind(tokens.metrics)
      .toResolvedValue(
        (database: DatabaseState | undefined, rateLimiter: RateLimiterState | undefined) => {
          if (database) metrics.addDatabaseMetrics(database);
          if (rateLimiter) metrics.addRateLimiterMetrics(rateLimiter);
          return metrics;
        },
        [
          { serviceIdentifier: tokens.databaseState, optional: true },
          { serviceIdentifier: tokens.rateLimiterState, optional: true },
        ],
      )
      .inSingletonScope();
    bind(tokens.observers)
      .toResolvedValue((log) => [createLogObserver(log), metrics], [tokens.log])
      .inSingletonScope();
    onActivation(tokens.storageEngine, (_, engine) => metrics.wrapStorageEngine(engine));
    onActivation(tokens.requestLimiter, (_, limiter) => metrics.wrapRateLimiter('requests', limiter));
    onActivation(tokens.refusalLimiter, (_, limiter) => metrics.wrapRateLimiter('refusals', limiter));
  });
}

/** Loads the memory storage. */
async function loadMemoryStorageModule(): Promise<ContainerModule> {
  const { createMemoryEngine } = await import('../adapters/memory/engine.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.storageEngine)
      .toResolvedValue((system) => createMemoryEngine(system.now), [tokens.system])
      .inSingletonScope();
  });
}

/** Loads the MongoDB storage. */
async function loadMongodbStorageModule({ MONGODB_URI }: Settings, log: Logger): Promise<ContainerModule> {
  const { createMongodbEngine, UnsupportedDatabase } = await import('../adapters/mongodb/engine.ts');
  const { connection, engine } = createMongodbEngine(MONGODB_URI, (line) => log.warn(line));
  return new ContainerModule(({ bind }) => {
    bind(tokens.storageEngine).toConstantValue(engine);
    bind(tokens.databaseState).toConstantValue(connection);
    bind(tokens.connection).toConstantValue({
      open: async () => {
        try {
          await connection.waitForFirstAttempt();
        } catch (error) {
          if (error instanceof UnsupportedDatabase) throw new SettingsError([`MONGODB_URI: ${error.message}`]);
          throw error;
        }
      },
      close: () => connection.close(),
    });
  });
}

type RateLimiterFactory = (name: string, limit: number, windowSeconds: number) => RateLimiter;

/** Loads rate limiters that count the requests of this process. */
async function loadMemoryRateLimiterModule(): Promise<ContainerModule> {
  const { createMemoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
  return createRateLimiterModule((_name, limit, windowSeconds) => createMemoryRateLimiter(limit, windowSeconds));
}

/** Loads rate limiters that count the requests of all processes in Redis. */
async function loadRedisRateLimiterModule({ REDIS_URL }: Settings, log: Logger): Promise<ContainerModule> {
  const { RedisRateLimiters } = await import('../adapters/redis/rate-limiter.ts');
  const { createMemoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
  const redis = new RedisRateLimiters(REDIS_URL, (line) => log.warn(line));
  return createRateLimiterModule(
    (name, limit, windowSeconds) =>
      redis.createRateLimiter(name, limit, windowSeconds, createMemoryRateLimiter(limit, windowSeconds)),
    redis,
  );
}

function createRateLimiterModule(
  createRateLimiter: RateLimiterFactory,
  connection?: ExternalConnection & RateLimiterState,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    if (connection) {
      bind(tokens.connection).toConstantValue(connection);
      bind(tokens.rateLimiterState).toConstantValue(connection);
    }
    bind(tokens.requestLimiter)
      .toResolvedValue(
        ({ RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS }) =>
          createRateLimiter('requests', RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS),
        [tokens.settings],
      )
      .inSingletonScope();
    bind(tokens.refusalLimiter)
      .toResolvedValue(
        ({ REFUSED_CREDENTIALS_PER_MINUTE }) => createRateLimiter('refusals', REFUSED_CREDENTIALS_PER_MINUTE, 60),
        [tokens.settings],
      )
      .inSingletonScope();
  });
}

type LoadModule = (settings: Settings, log: Logger) => Promise<ContainerModule>;

const storageModules: Record<Settings['STORAGE'], LoadModule> = {
  memory: loadMemoryStorageModule,
  mongodb: loadMongodbStorageModule,
};

const rateLimiterModules: Record<Settings['RATE_LIMITER'], LoadModule> = {
  memory: loadMemoryRateLimiterModule,
  redis: loadRedisRateLimiterModule,
};

/** Wires the use cases and the storage that the settings select. */
export async function wireCore(settings: Settings, system: System, log: Logger): Promise<Container> {
  const container = new Container();
  container.bind(tokens.settings).toConstantValue(settings);
  container.bind(tokens.system).toConstantValue(system);
  container.bind(tokens.log).toConstantValue(log);
  await container.load(core, await storageModules[settings.STORAGE](settings, log));
  return container;
}

/** Wires the server: the use cases, the storage, the rate limiters, HTTP, the log, and the metrics if `METRICS_PORT` is set. */
export async function wireServer(settings: Settings, system: System, log: Logger): Promise<Container> {
  const [container, ...modules] = await Promise.all([
    wireCore(settings, system, log),
    settings.METRICS_PORT === undefined ? loadLogModule() : loadMetricsModule(),
    rateLimiterModules[settings.RATE_LIMITER](settings, log),
    loadHttpModule(),
  ]);
  await container.load(...modules);
  return container;
}
