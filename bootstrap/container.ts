import 'reflect-metadata';
import { Container, type ServiceIdentifier } from 'inversify';
import type { Logger } from 'pino';
import type { HttpService } from '../adapters/http/http-server.ts';
import type { LinkObserver, LinkServer } from '../adapters/links/link-server.ts';
import { createDnsDomainRecords } from '../adapters/node/dns-domain-records.ts';
import { createStorage } from '../adapters/persistence/storage-engine.ts';
import type { Metrics } from '../adapters/prometheus/metrics.ts';
import type { DeliveryLoop } from '../adapters/webhooks/delivery-loop.ts';
import { Application } from '../core/application.ts';
import { LOOKUP_LIMITS, MIN_CLICK_INTERVAL_MS } from '../core/limits.ts';
import type { System } from '../core/shared/system.ts';
import { getLinksUrl } from './listen.ts';
import { type CreatedRateLimiters, rateLimiters } from './rate-limiters.ts';
import type { Settings } from './settings.ts';
import { type Connection, type CreatedStorage, storages } from './storages.ts';

export const tokens = {
  storage: Symbol('CreatedStorage') as ServiceIdentifier<CreatedStorage>,
  app: Symbol('Application') as ServiceIdentifier<Application>,
  connection: Symbol('Connection') as ServiceIdentifier<Connection>,
  metrics: Symbol('Metrics') as ServiceIdentifier<Metrics>,
  http: Symbol('HttpService') as ServiceIdentifier<HttpService>,
  linkOptions: Symbol('LinkOptions') as ServiceIdentifier<{ baseUrl: string | undefined }>,
  links: Symbol('LinkServer') as ServiceIdentifier<LinkServer>,
  deliveryLoop: Symbol('DeliveryLoop') as ServiceIdentifier<DeliveryLoop>,
};

/** Wires the use cases, and the storage that the settings select. */
export async function wireCore(settings: Settings, system: System, log: Logger): Promise<Container> {
  const [storage, { createWebhookSender }] = await Promise.all([
    storages[settings.STORAGE].create(settings, system, log),
    import('../adapters/webhooks/sender.ts'),
  ]);
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(tokens.storage).toConstantValue(storage);
  if (storage.connection) container.bind(tokens.connection).toConstantValue(storage.connection);
  const linkOptions = { baseUrl: getLinksUrl(settings) };
  container.bind(tokens.linkOptions).toConstantValue(linkOptions);
  // Only a server has the loop. The events of a command are delivered by the servers.
  const findLoop = () => container.get(tokens.deliveryLoop, { optional: true });
  container.bind(tokens.app).toResolvedValue(
    ({ engine }) => {
      const coreStorage = createStorage(engine);
      coreStorage.onEventsCommitted((workspaceId) => findLoop()?.onEvents(workspaceId));
      return new Application(coreStorage, system, {
        links: settings.LINKS_PORT === undefined ? undefined : linkOptions,
        domainRecords: createDnsDomainRecords(settings.DNS_SERVERS, LOOKUP_LIMITS),
        webhooks: {
          sender: createWebhookSender(settings.WEBHOOK_NETWORKS),
          onChange: (workspaceId) => findLoop()?.onChange(workspaceId),
        },
      });
    },
    [tokens.storage],
  );
  return container;
}

/**
 * Wires the server: the use cases, the storage, the rate limiters, HTTP, the log and the deliveries to webhooks. Also
 * the metrics if `METRICS_PORT` is set, and the server of short links if `LINKS_PORT` is set.
 */
export async function wireServer(settings: Settings, system: System, log: Logger): Promise<Container> {
  const [
    container,
    limiters,
    { createHttpService },
    { createLogObserver },
    { DeliveryLoop },
    { createWebhookLogObserver },
  ] = await Promise.all([
    wireCore(settings, system, log),
    rateLimiters[settings.RATE_LIMITER].create(settings, log),
    import('../adapters/http/http-server.ts'),
    import('../adapters/http/log.ts'),
    import('../adapters/webhooks/delivery-loop.ts'),
    import('../adapters/webhooks/log.ts'),
  ]);
  if (limiters.connection) container.bind(tokens.connection).toConstantValue(limiters.connection);
  const metrics = settings.METRICS_PORT === undefined ? undefined : await wireMetrics(container, limiters);
  const webhookObservers = [createWebhookLogObserver(log), ...(metrics ? [metrics.createWebhookObserver()] : [])];
  const loop = new DeliveryLoop(container.get(tokens.app).webhooks, webhookObservers);
  container.bind(tokens.deliveryLoop).toConstantValue(loop);
  container.bind(tokens.http).toResolvedValue(
    (app) => {
      const { RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS, REJECTED_CREDENTIALS_PER_MINUTE } = settings;
      const services = {
        app,
        requestLimiter: limiters.createRateLimiter('requests', RATE_LIMIT_POINTS, RATE_LIMIT_WINDOW_SECONDS),
        rejectedCredentialLimiter: limiters.createRateLimiter(
          'rejectedCredentials',
          REJECTED_CREDENTIALS_PER_MINUTE,
          60,
        ),
      };
      const { BODY_LIMIT_BYTES: bodyLimit, DOCS_URL: docsUrl, TRUST_PROXY: trustProxy, MCP: mcp } = settings;
      const options = { bodyLimit, docsUrl, trustProxy, mcp, chosenSecret: settings.DEMO_API_KEY };
      return createHttpService(services, options, [createLogObserver(log), ...(metrics ? [metrics] : [])]);
    },
    [tokens.app],
  );
  if (settings.LINKS_PORT !== undefined) await wireLinks(container, settings, limiters, log);
  return container;
}

async function wireMetrics(container: Container, limiters: CreatedRateLimiters): Promise<Metrics> {
  const { Metrics } = await import('../adapters/prometheus/metrics.ts');
  const metrics = new Metrics(container.get(tokens.storage).isUp, limiters.isUp);
  container.bind(tokens.metrics).toConstantValue(metrics);
  return metrics;
}

/** Wires the server of short links. */
async function wireLinks(
  container: Container,
  settings: Settings,
  limiters: CreatedRateLimiters,
  log: Logger,
): Promise<void> {
  const [{ createLinkServer, UNKNOWN_LINK_LIMIT }, { MAX_VISIT_COUNT }, { createLinkLogObserver }] = await Promise.all([
    import('../adapters/links/link-server.ts'),
    import('../adapters/links/click-deduplication.ts'),
    import('../adapters/links/log.ts'),
  ]);
  container.bind(tokens.links).toResolvedValue(
    ({ links, shares }) => {
      const observers: LinkObserver[] = [createLinkLogObserver(log)];
      const metrics = container.get(tokens.metrics, { optional: true });
      if (metrics) observers.push(metrics.createLinkObserver());
      const { count, windowSeconds } = UNKNOWN_LINK_LIMIT;
      const services = {
        links,
        shares,
        unknownLinkLimiter: limiters.createRateLimiter('unknownLinks', count, windowSeconds),
        addSharedVisit: limiters.createVisits?.(MIN_CLICK_INTERVAL_MS, MAX_VISIT_COUNT),
      };
      return createLinkServer(
        services,
        { baseUrl: getLinksUrl(settings), trustProxy: settings.TRUST_PROXY },
        observers,
      );
    },
    [tokens.app],
  );
}
