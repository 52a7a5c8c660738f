import 'reflect-metadata';
import type { Server } from 'node:http';
import { Container, ContainerModule, type ServiceIdentifier } from 'inversify';
import pino, { type Logger } from 'pino';
import { httpServer } from '../adapters/http/server.ts';
import type { RateLimiter } from '../core/access/rate-limiter.ts';
import { Application } from '../core/application.ts';
import type { System } from '../core/shared/system.ts';
import type { Storage } from '../core/storage.ts';
import type { Settings } from './settings.ts';

export const tokens = {
  application: Symbol('Application') as ServiceIdentifier<Application>,
  log: Symbol('Logger') as ServiceIdentifier<Logger>,
  refusals: Symbol('RateLimiter of refused credentials') as ServiceIdentifier<RateLimiter>,
  requests: Symbol('RateLimiter of requests') as ServiceIdentifier<RateLimiter>,
  server: Symbol('Server') as ServiceIdentifier<Server>,
  settings: Symbol('Settings') as ServiceIdentifier<Settings>,
  storage: Symbol('Storage') as ServiceIdentifier<Storage>,
  system: Symbol('System') as ServiceIdentifier<System>,
};

const core = new ContainerModule(({ bind }) => {
  bind(tokens.application)
    .toResolvedValue((storage, system) => new Application(storage, system), [tokens.storage, tokens.system])
    .inSingletonScope();
});

const log = new ContainerModule(({ bind }) => {
  bind(tokens.log)
    .toResolvedValue(({ LOG_LEVEL }) => pino({ level: LOG_LEVEL }), [tokens.settings])
    .inSingletonScope();
});

const http = new ContainerModule(({ bind }) => {
  bind(tokens.server)
    .toResolvedValue(
      (application, requests, refusals, settings, log) => {
        const { BODY_LIMIT_BYTES: bodyLimit, DOCS_URL: docsUrl, TRUST_PROXY: trustProxy } = settings;
        return httpServer({ application, requests, refusals }, { bodyLimit, docsUrl, trustProxy }, log);
      },
      [tokens.application, tokens.requests, tokens.refusals, tokens.settings, tokens.log],
    )
    .inSingletonScope();
});

/** Loads what keeps the records, only where the settings name it. */
async function memoryStorageModule(): Promise<ContainerModule> {
  const { memoryStorage } = await import('../adapters/memory/storage.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.storage)
      .toResolvedValue((system) => memoryStorage(system.now), [tokens.system])
      .inSingletonScope();
  });
}

/** Loads what counts requests, only where the settings name it. */
async function memoryRateLimiterModule(): Promise<ContainerModule> {
  const { memoryRateLimiter } = await import('../adapters/memory/rate-limiter.ts');
  return new ContainerModule(({ bind }) => {
    bind(tokens.requests)
      .toResolvedValue(
        ({ RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS }) =>
          memoryRateLimiter(RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS),
        [tokens.settings],
      )
      .inSingletonScope();
    bind(tokens.refusals)
      .toResolvedValue(
        ({ REFUSED_CREDENTIALS_PER_MINUTE }) => memoryRateLimiter(REFUSED_CREDENTIALS_PER_MINUTE, 60),
        [tokens.settings],
      )
      .inSingletonScope();
  });
}

/** Wires the service that the settings ask for. */
export async function wire(settings: Settings, system: System): Promise<Container> {
  const container = new Container();
  container.bind(tokens.settings).toConstantValue(settings);
  container.bind(tokens.system).toConstantValue(system);
  await container.load(core, log, http, await memoryStorageModule(), await memoryRateLimiterModule());
  return container;
}
