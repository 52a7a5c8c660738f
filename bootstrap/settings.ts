import { isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { isUrl } from '../adapters/api/url.ts';
import { parseTrustProxy, type TrustProxy } from '../adapters/http/trust-proxy.ts';
import {
  DEFAULT_BODY_LIMIT_BYTES,
  DEFAULT_REJECTED_CREDENTIAL_LIMIT,
  DEFAULT_REQUEST_LIMIT,
  DEFAULT_WINDOW_SECONDS,
} from '../core/limits.ts';

/** The longest delay of a timer in Node.js. */
const MAX_TIMER_SECONDS = 2_147_483;
/** Longer keys would leave too little space for the other headers of a request, which Node.js limits to 16 KiB. */
const MAX_API_KEY_LENGTH = 4_096;
const MAX_URL_LENGTH = 2_048;

const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => {
  const problem = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^(?:0|[1-9]\d*)$/, problem)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, problem);
};
const oneOf = <const V extends readonly string[]>(...values: V) =>
  z.enum(values, `must be one of ${values.join(', ')}`);
const flag = oneOf('true', 'false')
  .default('true')
  .transform((value) => value === 'true');
const list = (isItem: (text: string) => boolean, problem: string) =>
  z
    .string()
    .transform((value) => value.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isItem), problem)
    .optional();
const host = z.string().regex(/^[^\s/]{1,253}$/, 'must be a host name or an IP address');
const url = (schemes: readonly string[]) => {
  const hasScheme = (value: string) => schemes.some((scheme) => value.startsWith(scheme));
  return z
    .string()
    .refine(hasScheme, `must be a URL that starts with ${schemes.join(' or ')}`)
    .refine(
      hasHosts,
      'must be a URL with a host or host:port, without spaces, and with / ? # @ % in the password percent-encoded',
    );
};
function hasHosts(value: string): boolean {
  try {
    decodeURIComponent(value);
    const hosts = /^[^:]+:\/\/(?:[^\s/?#]*@)?([^\s/?#@]+)(?:[/?#]\S*)?$/.exec(value)?.[1];
    return hosts?.split(',').every((host) => host !== '' && isUrl(`host://${host}`)) ?? false;
  } catch {
    return false;
  }
}
/** Returns whether a text is an IP address, and perhaps a port. An IPv6 address with a port is in brackets. */
function isDnsServer(text: string): boolean {
  const [, inBrackets, address = text, port = '53'] = /^(?:\[(.*)\]|([\d.]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = inBrackets === undefined ? isIP(address) > 0 : isIPv6(inBrackets);
  return isAddress && !text.includes('%') && Number(port) >= 1 && Number(port) <= 65_535;
}

/**
 * Returns whether a text is an IP address or a network, such as `10.0.0.0/8`. IPv4 addresses in the form of IPv6 would
 * match nothing, because addresses are compared as IPv4.
 */
function isNetwork(text: string): boolean {
  const [, address = '', prefix = '0'] = /^(?!::ffff:)([^/%]*)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? [];
  return isIP(address) > 0 && Number(prefix) <= (isIPv6(address) ? 128 : 32);
}

/** The settings: environment variables with their defaults and descriptions. docs/settings.md has a table of them. */
export const settings = {
  HOST: host.default('127.0.0.1').describe('The address to listen on.'),
  PORT: integer(0, 65_535).default(3000).describe('The port to listen on. `0` picks a free port.'),
  STORAGE: oneOf('memory', 'sqlite', 'mongodb')
    .default('sqlite')
    .describe('The storage of the records: `sqlite`, `mongodb`, or `memory`, which keeps nothing after a restart.'),
  SQLITE_FILE: z
    .string()
    .regex(/^(?!~\/)\S(?:.*[^\s/])?$/s, 'must be the path of a file, without ~/ or white space around it')
    // A name with a time, such as `advocacy-2026-01-31T09:30.db`, is not a URL.
    .regex(/^(?![a-z+]{2,}\d?:|[^/]+:\/\/)/i, 'must be the path of a file, such as data/advocacy.db, not a URL')
    .default('data/advocacy.db')
    .describe(
      'The database file for `STORAGE=sqlite`. If the file or its folder is missing, the service creates it, readable by its owner only.',
    ),
  MONGODB_URI: url(['mongodb://', 'mongodb+srv://'])
    .default('mongodb://127.0.0.1:27017/advocacy')
    .describe('The connection string for `STORAGE=mongodb`. The default database name is `advocacy`.'),
  RATE_LIMITER: oneOf('memory', 'redis')
    .default('memory')
    .describe('The rate limiter: `memory` limits each process separately, `redis` limits all processes together.'),
  REDIS_URL: url(['redis://', 'rediss://'])
    .refine(
      (value) => /^\w+:\/\/[^/?]*(?:\/\d*)?(?:\?|$)/.test(value),
      'must be a URL with a number as the name of the database',
    )
    .default('redis://127.0.0.1:6379')
    .describe('The Redis server for `RATE_LIMITER=redis`.'),
  RATE_LIMIT_POINTS: integer(1)
    .default(DEFAULT_REQUEST_LIMIT)
    .describe('The maximum number of requests per API key within `RATE_LIMIT_WINDOW_SECONDS`.'),
  RATE_LIMIT_WINDOW_SECONDS: integer(1, MAX_TIMER_SECONDS)
    .default(DEFAULT_WINDOW_SECONDS)
    .describe('The length of the time window of `RATE_LIMIT_POINTS` in seconds.'),
  REJECTED_CREDENTIALS_PER_MINUTE: integer(1)
    .default(DEFAULT_REJECTED_CREDENTIAL_LIMIT)
    .describe('The maximum number of rejected credentials per client address and minute.'),
  DEMO_WORKSPACE: flag.describe(
    'Whether to create the demo workspace if the storage has no workspace yet: `true` or `false`. Not allowed with `STORAGE=mongodb`.',
  ),
  DEMO_API_KEY: z
    .string()
    .regex(/^[A-Za-z0-9\-._~+/]{20,}$/, 'must be at least 20 characters of A-Za-z0-9-._~+/')
    .max(MAX_API_KEY_LENGTH, `must be at most ${MAX_API_KEY_LENGTH} characters`)
    .optional()
    .describe(
      'An API key of the admin of the demo workspace. If set, each start creates the key if it does not exist. If not set, the demo workspace gets a random key, which is printed when the workspace is created. Not allowed with `STORAGE=mongodb` or `DEMO_WORKSPACE=false`.',
    ),
  BODY_LIMIT_BYTES: integer(1, 2 ** 30)
    .default(DEFAULT_BODY_LIMIT_BYTES)
    .describe('The maximum size of a request body in bytes.'),
  METRICS_PORT: integer(0, 65_535)
    .optional()
    .describe('The port to serve Prometheus metrics on. `0` picks a free port. Metrics are off by default.'),
  METRICS_HOST: host.default('127.0.0.1').describe('The address to serve Prometheus metrics on.'),
  LINKS_PORT: integer(0, 65_535)
    .optional()
    .describe('The port to redirect short links on. `0` picks a free port. Short links are off by default.'),
  LINKS_HOST: host.optional().describe('The address to redirect short links on. By default, the value of `HOST`.'),
  LINKS_URL: z
    .string()
    .refine(
      (value) =>
        value.length <= MAX_URL_LENGTH &&
        /^https?:\/\/[^\s/?#@\\]+\/?$/i.test(value) &&
        isUrl(value) &&
        /^(?:[\w-]+(?:\.[\w-]+)*|\[.*\])$/.test(new URL(value).hostname),
      'must be the start of a URL: http:// or https://, a host and perhaps a port, without a path',
    )
    .transform((value) => new URL(value).origin)
    .optional()
    .describe(
      'The base URL of short links, such as `https://go.example.com`, for campaigns that have no verified domain or whose domain is archived. Requires `LINKS_PORT`. By default, the address of the listener if `LINKS_HOST` is a loopback address.',
    ),
  DNS_SERVERS: list(
    isDnsServer,
    'must be IP addresses separated by commas, with ports if needed, such as 192.0.2.1 or [2001:db8::1]:5353',
  ).describe(
    'The DNS resolvers for the verification of domains: IP addresses separated by commas, such as `192.0.2.1,[2001:db8::1]:5353`. The default port is 53. By default, the resolvers of the operating system are used.',
  ),
  WEBHOOK_NETWORKS: list(
    isNetwork,
    'must be IP addresses and networks separated by commas, such as 10.0.0.0/8,192.0.2.1',
  ).describe(
    'Addresses to which webhooks can be sent although they are not public, also with http: IP addresses and networks separated by commas, such as `10.0.0.0/8,192.0.2.1`. By default, webhooks need https and public addresses.',
  ),
  DOCS_URL: z
    .string()
    .refine(
      (value) =>
        value.length <= MAX_URL_LENGTH &&
        /^(?:https?:\/\/|\/(?!\/))[\x21\x22\x24-\x3e\x40-\x7e]*$/.test(value) &&
        isUrl(value, 'http://localhost'),
      'must be an http or https URL, or a path that starts with /, in ASCII and without spaces, ? or #',
    )
    .default('/docs')
    .transform((value) => value.replace(/\/+$/, ''))
    .describe('The base of the documentation links (`doc_url`) in errors: a URL or a path.'),
  MCP: flag.describe(
    'Whether `POST /mcp` offers the operations to agents (Model Context Protocol): `true` or `false`.',
  ),
  TRUST_PROXY: z
    .string()
    .transform(parseTrustProxy)
    .refine(
      (value) => value !== undefined,
      'must be true, false, a number of proxies, or a comma-separated list of IP addresses, subnets and names such as loopback',
    )
    .transform((value) => value as TrustProxy)
    .default(false)
    .describe(
      'The proxies whose `X-Forwarded-For` header is trusted: `true`, `false`, the number of proxies, or a list of addresses, as in `trust proxy` of Express. `true` trusts every client, so clients can evade the limit of rejected credentials.',
    ),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .describe('The minimum log level: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.'),
};

export type Settings = z.output<z.ZodObject<typeof settings>>;
