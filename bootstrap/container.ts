import 'reflect-metadata';
import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { HttpService } from '../adapters/http/http-server.ts';
import type { Observer } from '../adapters/http/responder.ts';
import type { DatabaseState, Metrics, RateLimiterState } from '../adapters/prometheus/metrics.ts';
import type { RateLimiter } from '../core/access/rate-limiter.ts';
import { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import type { Storage } from '../core/storage.ts';
import { type Settings, SettingsError } from './settings.ts';

/** What an adapter that reaches another server needs at the start and at the end of the service. */
export interface ExternalConnection {
  /** Resolves when the server can be used, or when it is away and comes up by itself as soon as it can. */
  open(): Promise<void>;
  close(): Promise<void>;
}

export const tokens = {
  app: Symbol('Application') as ServiceIdentifier<Application>,
  log: Symbol('Logger') as ServiceIdentifier<Logger>,
  refusalLimiter: Symbol('RateLimiter of refused credentials') as ServiceIdentifier<RateLimiter>,
  requestLimiter: Symbol('RateLimiter of requests') as ServiceIdentifier<RateLimiter>,
  http: Symbol('HttpService') as ServiceIdentifier<HttpService>,
  metrics: Symbol('Metrics') as ServiceIdentifier<Metrics>,
  observers: Symbol('Observer') as ServiceIdentifier<readonly Observer[]>,
  settings: Symbol('Settings') as ServiceIdentifier<Settings>,
  connection: Symbol('Connection') as ServiceIdentifier<ExternalConnection>,
  databaseState: Symbol('DatabaseState') as ServiceIdentifier<DatabaseState>,
  sharedCountState: Symbol('SharedCountState') as ServiceIdentifier<RateLimiterState>,
  storage: Symbol('Storage') as ServiceIdentifier<Storage>,
  system: Symbol('System') as ServiceIdentifier<System>,
};

/** A revoked key is to stop working within 5 seconds in every process. */
export const CALLER_CACHE_TTL_MS = 3_000;

const core = new ContainerModule(({ bind }) => {
  bind(tokens.app)
    .toResolvedValue(
      (storage, system) => new Application(storage, system, CALLER_CACHE_TTL_MS),
      [tokens.storage, tokens.system],
    )
    .inSingletonScope();
});

/** Loads what serves HTTP; what only works on the records does without it. */
async function httpModule(): Promise<ContainerModule> {
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

async function logModule(): Promise<ContainerModule> {
  const { logObserver } = await import('../adapters/http/log.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.observers)
      .toResolvedValue((log) => [logObserver(log)], [tokens.log])
      .inSingletonScope();
  });
}

/** Loads what measures all others, only where the settings ask for it. */
async function metricsModule(): Promise<ContainerModule> {
  const { Metrics } = await import('../adapters/prometheus/metrics.ts');
  const { logObserver } = await import('../adapters/http/log.ts');
  return new ContainerModule(({ bind, onActivation }) => {
    const metrics = new Metrics();
    bind(tokens.metrics)
      .toResolvedValue(
        (database: DatabaseState | undefined, sharedCount: RateLimiterState | undefined) => {
          if (database) metrics.database(database);
          if (sharedCount) metrics.sharedCount(sharedCount);
          return metrics;
        },
        [
          { serviceIdentifier: tokens.databaseState, optional: true },
          { serviceIdentifier: tokens.sharedCountState, optional: true },
        ],
      )
      .inSingletonScope();
    bind(tokens.observers)
      .toResolvedValue((log) => [logObserver(log), metrics], [tokens.log])
      .inSingletonScope();
    onActivation(tokens.storage, (_, storage) => metrics.storage(storage));
    onActivation(tokens.requestLimiter, (_, limiter) => metrics.limiter('requests', limiter));
    onActivation(tokens.refusalLimiter, (_, limiter) => metrics.limiter('refusals', limiter));
  });
}

/** Loads what keeps the records, only where the settings name it. */
async function memoryStorageModule(): Promise<ContainerModule> {
  const { memoryStorage } = await import('../adapters/memory/storage.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.storage)
      .toResolvedValue((system) => memoryStorage(system.now), [tokens.system])
      .inSingletonScope();
  });
}

/** Loads what keeps the records, only where the settings name it. */
async function mongodbStorageModule({ MONGODB_URI }: Settings, log: Logger): Promise<ContainerModule> {
  const { mongodbStorage, UnusableDatabase } = await import('../adapters/mongodb/storage.ts');
  const { connection, storage } = mongodbStorage(MONGODB_URI, (line) => log.warn(line));
  return new ContainerModule(({ bind }) => {
    bind(tokens.storage).toConstantValue(storage);
    bind(tokens.databaseState).toConstantValue(connection);
    bind(tokens.connection).toConstantValue({
      open: async () => {
        try {
          await connection.firstAttempt();
        } catch (error) {
          if (error instanceof UnusableDatabase) throw new SettingsError([`MONGODB_URI: ${error.message}`]);
          throw error;
        }
      },
      close: () => connection.close(),
    });
  });
}

type NewRateLimiter = (name: string, limit: number, windowSeconds: number) => RateLimiter;

/** Loads what counts requests, only where the settings name it. */
async function memoryRateLimiterModule(): Promise<ContainerModule> {
  const { memoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
  return rateLimiterModule((_, limit, windowSeconds) => memoryRateLimiter(limit, windowSeconds));
}

/** Loads what counts requests, only where the settings name it. */
async function redisRateLimiterModule({ REDIS_URL }: Settings, log: Logger): Promise<ContainerModule> {
  const { RedisRateLimiters } = await import('../adapters/redis/rate-limiter.ts');
  const { memoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
  const counter = new RedisRateLimiters(REDIS_URL, (line) => log.warn(line));
  return rateLimiterModule(
    (name, limit, windowSeconds) =>
      counter.rateLimiter(name, limit, windowSeconds, memoryRateLimiter(limit, windowSeconds)),
    counter,
  );
}

function rateLimiterModule(
  newRateLimiter: NewRateLimiter,
  counter?: ExternalConnection & RateLimiterState,
): ContainerModule {
  return new ContainerModule(({ bind }) => {
    if (counter) {
      bind(tokens.connection).toConstantValue(counter);
      bind(tokens.sharedCountState).toConstantValue(counter);
    }
    bind(tokens.requestLimiter)
      .toResolvedValue(
        ({ RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS }) =>
          newRateLimiter('requests', RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS),
        [tokens.settings],
      )
      .inSingletonScope();
    bind(tokens.refusalLimiter)
      .toResolvedValue(
        ({ REFUSED_CREDENTIALS_PER_MINUTE }) => newRateLimiter('refusals', REFUSED_CREDENTIALS_PER_MINUTE, 60),
        [tokens.settings],
      )
      .inSingletonScope();
  });
}

/** Wires the use cases over the storage that the settings ask for. */
export async function wireCore(settings: Settings, system: System, log: Logger): Promise<Container> {
  const container = new Container();
  container.bind(tokens.settings).toConstantValue(settings);
  container.bind(tokens.system).toConstantValue(system);
  container.bind(tokens.log).toConstantValue(log);
  const storage = await (settings.STORAGE === 'mongodb' ? mongodbStorageModule(settings, log) : memoryStorageModule());
  await container.load(core, storage);
  return container;
}

/** Wires the service that the settings ask for. */
export async function wire(settings: Settings, system: System, log: Logger): Promise<Container> {
  const [container, ...modules] = await Promise.all([
    wireCore(settings, system, log),
    settings.METRICS_PORT === undefined ? logModule() : metricsModule(),
    settings.RATE_LIMITER === 'redis' ? redisRateLimiterModule(settings, log) : memoryRateLimiterModule(),
    httpModule(),
  ]);
  await container.load(...modules);
  return container;
}
