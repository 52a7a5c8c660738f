import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Delivery } from '../../core/webhook/webhook-service.ts';
import { type RejectionReason, rejectionReasons } from '../http/observer.ts';
import { createProtectedServer, limitReadingTime } from '../http/protection/protection.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE']);
/** The upper bounds of the buckets of histograms, in seconds. */
const BUCKETS = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The upper bounds of the delays of webhooks: up to 5 days, after which a webhook that fails is disabled. */
const LAG_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 18_000, 86_400, 432_000];

/** Returns whether a database or Redis responds. It is a promise if the database must be read to find out. */
export type IsUp = () => boolean | Promise<boolean>;

/** The metrics of this process, in the Prometheus text format. */
export class Metrics {
  private readonly registry = new Registry();

  private readonly requests = this.addHistogram(
    'http_request_duration_seconds',
    'Time from a request to its response, by route (the path of the operation or health probe, or unmatched), method and status.',
    ['route', 'method', 'status'],
  );

  private readonly rejectedRequests = this.addCounter(
    'http_requests_rejected_total',
    `Requests rejected because of overload, by reason: ${Object.entries(rejectionReasons)
      .map(([reason, meaning]) => `${reason} (${meaning})`)
      .join(', ')}.`,
    ['reason'],
  );

  /** Each scrape calls the functions. If a function is not passed, its metric is missing. */
  constructor(isStorageUp?: IsUp, isRateLimiterUp?: IsUp) {
    collectDefaultMetrics({ register: this.registry });
    for (const reason of Object.keys(rejectionReasons)) this.rejectedRequests.inc({ reason }, 0);
    this.addGauge(
      'storage_up',
      'Whether the database responds (1) or not (0). With MongoDB, the value is 0 from a failure until the next success, and after ten seconds of 0, requests fail immediately.',
      isStorageUp,
    );
    this.addGauge(
      'rate_limit_shared',
      'Whether all processes share their rate limit counts (1), or each process counts separately (0).',
      isRateLimiterUp,
    );
  }

  /** Records the response to a request. */
  onResponse(
    { route = 'unmatched', method }: { route?: string | undefined; method: string },
    status: number,
    milliseconds: number,
  ): void {
    this.requests.observe({ route, method: METHODS.has(method) ? method : 'other', status }, milliseconds / 1000);
  }

  /** Records a request that was rejected because of overload. */
  onRejected(reason: RejectionReason): void {
    this.rejectedRequests.inc({ reason });
  }

  /** Adds the metrics of short links. Returns the observer that records them. */
  createLinkObserver() {
    const requests = this.addHistogram(
      'link_request_duration_seconds',
      'Time from a request for a short link to its response, by outcome: destination, expired_url and not_found_url (redirects), gone, not_found, method_not_allowed, limited (too many unknown links), unavailable (the storage did not respond), and bad_request.',
      ['outcome'],
    );
    const clicks = this.addCounter(
      'link_clicks_total',
      'Redirects to a destination, by result: counted, or not counted because of: bot, prefetch, repeated (the same visitor within an hour), full (too many clicks wait to be counted or stored).',
      ['result'],
    );
    return {
      onResponse: (outcome: string, milliseconds: number) => requests.observe({ outcome }, milliseconds / 1000),
      onClick: (result: string) => clicks.inc({ result }),
    };
  }

  /** Adds the metrics of webhooks. Returns the observer that records them. */
  createWebhookObserver() {
    const delivered = this.addCounter('webhook_deliveries_total', 'Events delivered to webhooks.', []);
    const failed = this.addCounter('webhook_failures_total', 'Failed attempts to deliver an event.', ['problem']);
    const disabled = this.addCounter('webhook_disabled_total', 'Webhooks disabled because their attempts failed.', []);
    const lag = this.addHistogram('webhook_lag_seconds', 'Time from an event to its delivery.', [], LAG_BUCKETS);
    return {
      onAttempt({ event, outcome: { problem }, isDisabled }: Delivery) {
        if (isDisabled) disabled.inc();
        if (problem !== '') return failed.inc({ problem });
        delivered.inc();
        lag.observe(Math.max(0, Date.now() - Date.parse(event.createdAt)) / 1000);
      },
    };
  }

  /** Returns a server of `GET /metrics` (and `HEAD`), which is not listening yet. All other requests get 404. */
  createServer(): Server {
    const serve = async ({ method = '', url = '' }: IncomingMessage, response: ServerResponse) => {
      if (!['GET', 'HEAD'].includes(method) || url.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      try {
        const text = await this.registry.metrics();
        response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
      } catch (error) {
        response.writeHead(500).end((error as Error).message);
      }
      limitReadingTime(response);
    };
    const fail = (response: ServerResponse) => response.writeHead(400).end();
    return createProtectedServer(serve, fail, { bodyLimit: 0 }).server;
  }

  private addHistogram<L extends string>(name: string, help: string, labelNames: L[], buckets = BUCKETS): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }

  private addCounter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  private addGauge(name: string, help: string, isUp: IsUp | undefined): void {
    if (!isUp) return;
    const collect = async function (this: Gauge) {
      this.set(Number(await isUp()));
    };
    new Gauge({ name, help, registers: [this.registry], collect });
  }
}
