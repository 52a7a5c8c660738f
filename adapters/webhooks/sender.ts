import { createHmac, randomBytes } from 'node:crypto';
import { lookup, Resolver } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { WEBHOOK_TIMEOUT_MS } from '../../core/limits.ts';
import type { WebhookProblem, WebhookSender } from '../../core/webhook/webhook-sender.ts';
import { withTimeout } from '../node/with-timeout.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
/** The timeout of the first of two tries of a name server. The second one waits longer. */
const DNS_TRY_TIMEOUT_MS = 2_000;
/** How long a connection to one of several addresses may take until the next address is tried, too. */
const ADDRESS_TIMEOUT_MS = 2_500;

/** The global unicast addresses of IPv6. `ipaddr.js` also calls other addresses `unicast`, such as `::127.0.0.1`. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3');

/** The problems of errors by their codes. The errors of the agent have no code. All other errors are errors of TLS. */
const PROBLEMS: readonly (readonly [code: RegExp, problem: WebhookProblem])[] = [
  [/^(ADDRESS_NOT_ALLOWED|)$/, 'address not allowed'],
  [/^(ECONNREFUSED|E(HOST|NET)UNREACH|EADDRNOTAVAIL)$/, 'connection refused'],
  [/^(ECONNRESET|EPIPE|HPE_.*)$/, 'connection reset'],
  [/^NAME_NOT_FOUND$/, 'name not found'],
  [/^ETIMEDOUT$/, 'timeout'],
];

const createError = (code: string) => Object.assign(new Error(code), { code });

/** Returns the addresses of a name. Rejects if it has none. */
export type FindAddresses = (name: string) => Promise<readonly string[]>;

/**
 * Creates the sender of webhooks. `networks` are addresses and networks, such as `10.0.0.0/8`, that messages may be
 * sent to although they are not public, also without TLS.
 */
export function createWebhookSender(
  networks: readonly string[] = [],
  findAddresses: FindAddresses = resolveName,
  timeoutMs = WEBHOOK_TIMEOUT_MS,
): WebhookSender {
  const allowed = networks.map((network) => {
    const [address = '', prefix] = network.split('/');
    return ipaddr.parseCIDR(`${address}/${prefix ?? (address.includes(':') ? 128 : 32)}`);
  });
  const isInNetworks = (address: string) =>
    ipaddr.subnetMatch(ipaddr.process(address), { allowed }, 'other') === 'allowed';
  const isAllowed = (address: string, isSecure: boolean) => isInNetworks(address) || (isSecure && isPublic(address));

  const post = async (url: URL, headers: Record<string, string>, body: string, signal: AbortSignal) => {
    const host = getHost(url);
    const addresses = isIP(host) ? [host] : await findAddresses(host);
    const isSecure = url.protocol === 'https:';
    if (!addresses.every((address) => isAllowed(address, isSecure))) throw createError('ADDRESS_NOT_ALLOWED');
    // Node.js connects to exactly these addresses, and the agent checks them again.
    const { useAgent } = await import('request-filtering-agent');
    const found = addresses.map((address) => ({ address, family: isIP(address) }));
    const useFound: LookupFunction = (_name, _options, callback) => callback(null, found);
    const agent = useAgent(url.href, {
      allowIPAddressList: addresses.filter(isInNetworks),
      lookup: useFound,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    });
    return new Promise<http.IncomingMessage>((resolve, reject) => {
      const { request } = isSecure ? https : http;
      request(url, { method: 'POST', headers, agent, signal }, (response) => {
        resolve(response);
        // The body is not read.
        response.destroy();
      })
        .on('error', reject)
        // A response can switch protocols, which has no error.
        .on('close', () => reject(createError('ECONNRESET')))
        .end(body);
    });
  };

  return {
    createSecret: () => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'),

    findUrlProblem(text) {
      const url = new URL(text);
      const [host, isSecure] = [getHost(url), url.protocol === 'https:'];
      const canBeAllowed = isIP(host) ? isAllowed(host, isSecure) : isSecure || allowed.length > 0;
      return canBeAllowed ? undefined : 'must be a URL that begins with https://, with a name or a public address';
    },

    async send({ url: text, secret }, { id, sequence, type, createdAt, data }) {
      const [url, startedAt, controller] = [new URL(text), performance.now(), new AbortController()];
      const body = JSON.stringify({ id, sequence, type, createdAt, data });
      const timestamp = String(Math.floor(Date.now() / 1000));
      // The signature of Standard Webhooks 1.0.
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
      const headers = {
        ...{ 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) },
        ...{ 'User-Agent': 'Workspace-Advocacy-Webhooks', 'webhook-id': id },
        ...{ 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` },
      };
      const sent = post(url, headers, body, controller.signal).then(readOutcome);
      const outcome = await withTimeout(sent, timeoutMs, () => createError('ETIMEDOUT')).catch(toOutcome);
      controller.abort();
      return { ...outcome, durationMs: Math.round(performance.now() - startedAt) };
    },
  };
}

/** Returns the host of a URL: a name, or an address without brackets. */
function getHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function isPublic(address: string): boolean {
  const parsed = ipaddr.parse(address);
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(PUBLIC_IPV6));
}

/**
 * Returns the addresses of a name. A name without a dot is looked up as the operating system does, which knows the
 * local names. Other names are asked from name servers first: `lookup` has few threads, which dead name servers block.
 */
async function resolveName(name: string): Promise<readonly string[]> {
  const resolver = new Resolver({ timeout: DNS_TRY_TIMEOUT_MS, tries: 2 });
  const lookUp = async () => (await lookup(name, { all: true })).map(({ address }) => address);
  const ask = async () => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    return found.length > 0 || answers.some((answer) => 'reason' in answer && answer.reason.code === 'ETIMEOUT')
      ? found
      : lookUp();
  };
  const addresses = await (name.includes('.') ? ask() : lookUp()).catch(() => []);
  if (addresses.length === 0) throw createError('NAME_NOT_FOUND');
  return addresses;
}

function readOutcome({ statusCode: status = 0, headers }: http.IncomingMessage) {
  // Node's parser accepts the status 000.
  if (status < 100) throw createError('ECONNRESET');
  const { 'retry-after': text = '' } = headers;
  const retryAfterMs = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  const problem: WebhookProblem = status >= 200 && status < 300 ? '' : 'status';
  return { status, problem, retryAfterMs: retryAfterMs > 0 ? retryAfterMs : undefined };
}

function toOutcome({ code = '' }: NodeJS.ErrnoException) {
  return { status: null, problem: PROBLEMS.find(([pattern]) => pattern.test(code))?.[1] ?? 'tls' };
}
