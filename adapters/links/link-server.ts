import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import proxyAddr from 'proxy-addr';
import type { RateLimiter } from '../../core/access/rate-limiter.ts';
import type { Link, LinkTarget } from '../../core/link/link.ts';
import type { LinkService } from '../../core/link/link-service.ts';
import type { ShareService } from '../../core/share/share-service.ts';
import { getClientAddress } from '../http/client-address.ts';
import { createProtectedServer, limitReadingTime } from '../http/protection/protection.ts';
import { createProxyCheck, type TrustProxy } from '../http/trust-proxy.ts';
import { ClickBatcher } from './click-batcher.ts';
import { type AddSharedVisit, ClickDeduplication } from './click-deduplication.ts';
import { ClickRecorder, type ClickResult } from './click-recorder.ts';
import { createParsers, parseLinkHost, parseLinkRequest } from './link-request.ts';
import { createCachedLookups } from './lookup-cache.ts';
import { type LinkOutcome, responses } from './responses.ts';
import { VisitorHash } from './visitor-hash.ts';

/** The maximum number of requests for unknown links that an address can send in a time window. */
export const UNKNOWN_LINK_LIMIT = { count: 60, windowSeconds: 60 };
/** The interval at which clicks are stored. They must be stored within two seconds, and storing takes a while, too. */
const STORE_INTERVAL_MS = 1_500;
/** The maximum number of addresses that are rejected without counting their requests. */
const MAX_LIMITED_ADDRESS_COUNT = 10_000;

/** The use cases and limiters of the server of short links. */
export interface LinkServerDependencies {
  readonly links: LinkService;
  readonly shares: ShareService;
  readonly unknownLinkLimiter: RateLimiter;
  readonly addSharedVisit: AddSharedVisit | undefined;
}

export interface LinkSettings {
  /** The origin of the links of campaigns that have no verified domain, or whose domain is archived. */
  readonly baseUrl: string | undefined;
  readonly trustProxy: TrustProxy;
}

/** Observes the responses of the server, clicks, and errors of the storage. */
export interface LinkObserver {
  onResponse?(outcome: LinkOutcome, milliseconds: number): void;
  onClick?(result: ClickResult): void;
  /** Observes that a link could not be looked up, or that clicks could not be stored. */
  onError?(error: unknown): void;
}

/** The server of short links. It does not listen yet. */
export interface LinkServer {
  readonly server: Server;
  readonly clicks: ClickBatcher;
  /** Closes the server after the open requests, and then stores all clicks, if the storage is available. */
  stop(): Promise<void>;
  /** Closes all connections at once. */
  closeAll(): void;
}

/** The outcome of a request by the type of its target: if the target has a URI (`redirect`), and if not (`page`). */
const OUTCOMES: Record<LinkTarget['type'], { readonly redirect: LinkOutcome; readonly page: LinkOutcome }> = {
  destination: { redirect: 'destination', page: 'not_found' },
  expired: { redirect: 'expired_url', page: 'gone' },
  unknown: { redirect: 'not_found_url', page: 'not_found' },
};

/** The response to a request. */
interface LinkResponse {
  readonly outcome: LinkOutcome;
  /** The header `Location` or `Retry-After`, with its value. */
  readonly header?: readonly [name: string, value: string];
  /** The link, if the request is redirected to its destination. */
  readonly link?: Link | undefined;
}

/**
 * Creates the server that redirects short links and counts clicks. From adapters/http, it uses only the protection of
 * connections, and the functions that find the addresses of clients and trusted proxies.
 */
export function createLinkServer(
  { links, shares, unknownLinkLimiter, addSharedVisit }: LinkServerDependencies,
  { baseUrl, trustProxy }: LinkSettings,
  observers: readonly LinkObserver[],
): LinkServer {
  const baseHost = baseUrl === undefined ? undefined : parseLinkHost(new URL(baseUrl).host, undefined).name;
  const lookups = createCachedLookups(links);
  const { parseHost, parseUrl } = createParsers(baseHost);
  const isTrusted = createProxyCheck(trustProxy);
  /** The addresses that have requested too many unknown links, until their windows end. */
  const limitedAddresses = new LRUCache<string, true>({ max: MAX_LIMITED_ADDRESS_COUNT });
  const visitors = new VisitorHash(links);
  const clicks = new ClickBatcher(shares);
  const recorder = new ClickRecorder(clicks, visitors, new ClickDeduplication(addSharedVisit), (result) => {
    for (const observer of observers) observer.onClick?.(result);
  });
  const report = (error: unknown) => {
    for (const observer of observers) observer.onError?.(error);
  };
  let isStopping = false;

  const getAddress = (request: IncomingMessage): string =>
    getClientAddress({ ip: proxyAddr(request, isTrusted), socket: request.socket });

  /** Counts a request for an unknown link. Returns a response if the address has sent too many of these requests. */
  const limitUnknown = async (address: string): Promise<LinkResponse | undefined> => {
    // If the limiter fails, the request is served.
    const usage = await unknownLinkLimiter.consume(await visitors.hash(address)).catch(() => undefined);
    if (usage === undefined || usage.allowed) return undefined;
    limitedAddresses.set(address, true, { ttl: Math.max(1, Math.ceil(usage.resetsInMs)) });
    return createLimitedResponse(usage.resetsInMs);
  };

  const createResponse = async (request: IncomingMessage): Promise<LinkResponse> => {
    const address = limitedAddresses.size > 0 ? getAddress(request) : '';
    if (limitedAddresses.has(address)) return createLimitedResponse(limitedAddresses.getRemainingTTL(address));
    if (request.method !== 'GET' && request.method !== 'HEAD') return { outcome: 'method_not_allowed' };
    const { host, key, looksLikeLink } = parseLinkRequest(request, parseHost);
    try {
      const { type, uri, link } = await links.resolve(host, key, parseUrl, lookups);
      const limitedResponse = type === 'unknown' && looksLikeLink ? await limitUnknown(getAddress(request)) : undefined;
      if (limitedResponse) return limitedResponse;
      const { redirect, page } = OUTCOMES[type];
      return uri === undefined ? { outcome: page } : { outcome: redirect, header: ['Location', uri], link };
    } catch (error) {
      report(error);
      return { outcome: 'unavailable' };
    }
  };

  const respond = (response: ServerResponse, { outcome, header }: LinkResponse, startedAt: number): void => {
    if (response.headersSent) return;
    const { status, headers, body } = responses[outcome];
    if (isStopping) response.shouldKeepAlive = false;
    response.writeHead(status, [...headers, ...(header ?? [])]);
    response.end(body);
    limitReadingTime(response);
    for (const observer of observers) observer.onResponse?.(outcome, performance.now() - startedAt);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const startedAt = performance.now();
    const linkResponse = await createResponse(request);
    respond(response, linkResponse, startedAt);
    if (linkResponse.link && request.method === 'GET')
      recorder.record(request, linkResponse.link, () => getAddress(request));
  };

  const fail = (response: ServerResponse): void => {
    const outcome = response.req.method === 'CONNECT' ? 'method_not_allowed' : 'bad_request';
    respond(response, { outcome }, performance.now());
  };
  // Bodies are not read, so a request with a body is the last one of its connection.
  const { server, connections } = createProtectedServer(serve, fail, { bodyLimit: 0 });
  const timer = setInterval(() => clicks.flush().catch(report), STORE_INTERVAL_MS).unref();

  return {
    server,
    clicks,
    async stop() {
      isStopping = true;
      await connections.close();
      clearInterval(timer);
      await recorder.settle();
      await clicks.flush().catch(report);
    },
    closeAll: () => connections.closeAll(),
  };
}

function createLimitedResponse(resetsInMs: number): LinkResponse {
  return { outcome: 'limited', header: ['Retry-After', String(Math.max(1, Math.ceil(resetsInMs / 1_000)))] };
}
