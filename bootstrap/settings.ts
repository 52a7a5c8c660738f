import { isIP } from 'node:net';
import { z } from 'zod';
import { isUrl } from '../adapters/api/url.ts';

/** The error of invalid settings. `lines` has a line for each problem, without the value, because the value may be a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

/** The longest delay of a timer in Node.js. */
const MAX_TIMER_SECONDS = 2_147_483;

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
const host = z.string().regex(/^[^\s/]+$/, 'must be a host name or an IP address');
const url = (schemes: readonly string[]) => {
  const hasScheme = (value: string) => schemes.some((scheme) => value.startsWith(scheme));
  const hasHosts = (value: string) => {
    const hosts = /^[^:]+:\/\/(?:[^\s/?#]*@)?([^\s/?#@]+)(?:[/?#]\S*)?$/.exec(value)?.[1];
    return hosts?.split(',').every((host) => host !== '' && isUrl(`host://${host}`)) ?? false;
  };
  return z
    .string()
    .refine(hasScheme, `must be a URL that starts with ${schemes.join(' or ')}`)
    .refine(
      hasHosts,
      'must be a URL with a host or host:port, without spaces, and with / ? # @ in the password percent-encoded',
    )
    .refine(isDecodable, 'must be a URL with valid percent-encoding: write "%" in the password as %25');
};
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

/** The settings: environment variables with their defaults and descriptions. The README has a table of them. */
export const settings = {
  HOST: host.default('127.0.0.1').describe('The address to listen on.'),
  PORT: integer(0, 65_535).default(3000).describe('The port to listen on. `0` picks a free port.'),
  STORAGE: oneOf('memory', 'mongodb').default('memory').describe('The storage of the records: `memory` or `mongodb`.'),
  MONGODB_URI: url(['mongodb://', 'mongodb+srv://'])
    .default('mongodb://127.0.0.1:27017/advocacy')
    .describe('The connection string for `STORAGE=mongodb`. The default database name is `advocacy`.'),
  RATE_LIMITER: oneOf('memory', 'redis')
    .default('memory')
    .describe('The rate limiter: `memory` limits each process separately, `redis` limits all processes together.'),
  REDIS_URL: url(['redis://', 'rediss://'])
    .default('redis://127.0.0.1:6379')
    .describe('The Redis server for `RATE_LIMITER=redis`.'),
  RATE_LIMIT_POINTS: integer(1)
    .default(600)
    .describe('The maximum number of requests per API key within `RATE_LIMIT_WINDOW_SECONDS`.'),
  RATE_LIMIT_WINDOW_SECONDS: integer(1, MAX_TIMER_SECONDS)
    .default(60)
    .describe('The length of the time window of `RATE_LIMIT_POINTS` in seconds.'),
  REFUSED_CREDENTIALS_PER_MINUTE: integer(1)
    .default(60)
    .describe('The maximum number of rejected credentials per client address and minute.'),
  DEMO_API_KEY: z
    .string()
    .regex(/^[A-Za-z0-9\-._~+/]{20,}$/, 'must be at least 20 characters of A-Za-z0-9-._~+/')
    .optional()
    .describe(
      'The API key of the demo workspace, for `STORAGE=memory` only. By default, each start creates a new key and prints it.',
    ),
  BODY_LIMIT_BYTES: integer(1, 2 ** 30)
    .default(2 ** 20)
    .describe('The maximum size of a request body in bytes.'),
  METRICS_PORT: integer(0, 65_535)
    .optional()
    .describe('The port to serve Prometheus metrics on. `0` picks a free port. Metrics are off by default.'),
  METRICS_HOST: host.default('127.0.0.1').describe('The address to serve Prometheus metrics on.'),
  DOCS_URL: z
    .string()
    .refine(
      (value) => /^[\x21-\x7e]+$/.test(value) && isUrl(value, 'http://localhost'),
      'must be a URL or a path, in ASCII and without spaces',
    )
    .default('/docs')
    .transform((value) => value.replace(/\/+$/, ''))
    .describe('The base of the documentation links (`doc_url`) in errors: a URL or a path.'),
  TRUST_PROXY: z
    .string()
    .transform(parseTrustProxy)
    .refine(
      (value) => value !== undefined,
      'must be true, false, a number of proxies, or a comma-separated list of IP addresses, subnets and names such as loopback',
    )
    .transform((value) => value as boolean | number | string)
    .default(false)
    .describe(
      'The proxies whose `X-Forwarded-For` header is trusted: `true`, `false`, the number of proxies, or a list of addresses, as in `trust proxy` of Express. `true` trusts every client, so clients can evade the limit of rejected credentials.',
    ),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .describe('The minimum log level: `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`.'),
  WORKERS: integer(1, 1024)
    .default(1)
    .describe(
      'The number of processes that serve requests. More than 1 requires `STORAGE=mongodb` and `RATE_LIMITER=redis`.',
    ),
};

const schema = z.object(settings).superRefine(
  (values, context) => {
    const addProblem = (name: keyof typeof settings, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (values.DEMO_API_KEY !== undefined && values.STORAGE === 'mongodb') {
      addProblem('DEMO_API_KEY', 'not allowed with STORAGE=mongodb, remove it or set STORAGE=memory');
    }
    if (values.WORKERS > 1 && (values.STORAGE === 'memory' || values.RATE_LIMITER === 'memory')) {
      addProblem('WORKERS', 'more than 1 requires STORAGE=mongodb and RATE_LIMITER=redis, set both or set WORKERS=1');
    }
    const { HOST, PORT, METRICS_HOST, METRICS_PORT } = values;
    if (PORT !== 0 && PORT === METRICS_PORT && overlaps(HOST, METRICS_HOST)) {
      addProblem('METRICS_PORT', 'must differ from PORT, set another port');
    }
  },
  // Checks the combinations even if single values are invalid, so that one error has a line for every problem.
  { when: () => true },
);

export type Settings = z.output<typeof schema>;

/** Reads the settings from an environment. Throws a `SettingsError` that has a line for every problem. */
export function readSettings(environment: Environment): Settings {
  const misspelled = Object.keys(environment).flatMap((name) => {
    const nearest = findNearestSetting(name);
    return nearest ? [`${name}: not a setting, did you mean ${nearest}?`] : [];
  });
  const result = schema.safeParse(environment);
  const issues = result.error?.issues ?? [];
  const invalid = issues
    .filter(({ path }, i) => issues.findIndex((issue) => issue.path[0] === path[0]) === i)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (!result.success || misspelled.length > 0) throw new SettingsError([...invalid, ...misspelled]);
  return result.data;
}

/** A misspelled name of at least this length causes a warning. Shorter names often belong to other programs. */
const MIN_WARNING_NAME_LENGTH = 4;
/** A misspelled name of at least this length prevents the start. */
const MIN_ERROR_NAME_LENGTH = 8;
const MAX_EDIT_COUNT = 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a warning for each short name that differs from the name of a setting by one edit or one swap of neighbors. */
export function findShortMisspellings(environment: Environment): string[] {
  const names = Object.keys(settings);
  return Object.keys(environment).flatMap((name) => {
    if (name.length < MIN_WARNING_NAME_LENGTH || name.length >= MIN_ERROR_NAME_LENGTH || names.includes(name))
      return [];
    const nearest = names.find((setting) => countEdits(name, setting) === 1 || isSwapOf(name, setting));
    return nearest ? [`${name}: not a setting, did you mean ${nearest}?`] : [];
  });
}

/** Returns whether swapping two neighboring letters turns one text into the other. */
function isSwapOf(a: string, b: string): boolean {
  return [...a].some((letter, i) => a.slice(0, i) + a.charAt(i + 1) + letter + a.slice(i + 2) === b);
}

/** Settings that have an effect only if another setting is given, or has a certain value. */
const settingDependencies: readonly (readonly [
  name: keyof typeof settings,
  other: keyof typeof settings,
  value?: string,
])[] = [
  ['MONGODB_URI', 'STORAGE', 'mongodb'],
  ['REDIS_URL', 'RATE_LIMITER', 'redis'],
  ['METRICS_HOST', 'METRICS_PORT'],
];

/** Returns a warning for each setting that is set but has no effect. */
function findIneffectiveSettings(environment: Environment): string[] {
  return settingDependencies
    .filter(([name, other, value]) => {
      const isEffective = value === undefined ? environment[other] !== undefined : environment[other] === value;
      return environment[name] !== undefined && !isEffective;
    })
    .map(([name, other, value]) => `${name}: has no effect without ${other}${value === undefined ? '' : `=${value}`}`);
}

/** Returns the setting that a variable probably misspells, or `undefined`. */
function findNearestSetting(name: string): string | undefined {
  const names = Object.keys(settings);
  if (name.length < MIN_ERROR_NAME_LENGTH || names.includes(name)) return undefined;
  const byEdits = names
    .map((setting) => ({ setting, edits: countEdits(name, setting) }))
    .sort((a, b) => a.edits - b.edits);
  const nearest = byEdits[0];
  if (nearest && nearest.edits <= MAX_EDIT_COUNT) return nearest.setting;
  return names.find((setting) => setting.startsWith(`${name}_`));
}

/** Returns the Levenshtein distance of two texts. */
function countEdits(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replacement = (previous[j] as number) + (a[i] === b[j] ? 0 : 1);
      row.push(Math.min(replacement, (previous[j + 1] as number) + 1, (row[j] as number) + 1));
    }
    previous = row;
  }
  return previous[b.length] as number;
}

/** Returns a warning for each probable mistake in an environment, other than those that prevent the start. */
export function getSettingWarnings(environment: Environment): string[] {
  return [...findShortMisspellings(environment), ...findIneffectiveSettings(environment)];
}

/** Returns whether two servers that listen on these two hosts and on the same port certainly conflict. */
function overlaps(host: string, other: string): boolean {
  const [one, two] = [host, other].map((name) => name.toLowerCase().replace(/^localhost$/, '127.0.0.1')) as [
    string,
    string,
  ];
  const includes = (wildcard: string, address: string) =>
    wildcard === '::' || (wildcard === '0.0.0.0' && isIP(address) !== 6);
  return one === two || includes(one, two) || includes(two, one);
}

/** Valid IPv6 addresses that Express rejects: those with an IPv4 address directly after `::`, or with punctuation in the zone. */
const UNSUPPORTED_BY_EXPRESS = /::\d+\.|%.*[^0-9a-z]/i;

/** Parses a value of `trust proxy` of Express. Returns `undefined` if Express would reject it. */
function parseTrustProxy(value: string): boolean | number | string | undefined {
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const isValidEntry = (entry: string): boolean => {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    if (bits === undefined && ['loopback', 'linklocal', 'uniquelocal'].includes(address)) return true;
    const version = UNSUPPORTED_BY_EXPRESS.test(address) ? 0 : isIP(address);
    return (
      version !== 0 &&
      rest.length === 0 &&
      (bits === undefined ||
        (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)) ||
        (version === 4 && isNetmask(bits)))
    );
  };
  return value.split(',').every(isValidEntry) ? value : undefined;
}

/** Returns whether a text is a netmask such as `255.255.0.0`: ones, then zeros. */
function isNetmask(text: string): boolean {
  const bits = text.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  return isIP(text) === 4 && /^1+0*$/.test(bits.join(''));
}
