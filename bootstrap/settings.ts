import { isIP } from 'node:net';
import { z } from 'zod';
import { isUrl } from '../adapters/api/url.ts';

/** Settings that stop the start: a line for each problem, with no value in it. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

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
    .refine(hasScheme, `must be a URL that begins with ${schemes.join(' or ')}`)
    .refine(
      hasHosts,
      'must be a URL with a host or host:port, and without spaces or an unencoded / ? # @ in a password',
    )
    .refine(isDecodable, 'must be a URL that can be decoded: write a "%" of a password as %25');
};
function isDecodable(value: string): boolean {
  try {
    decodeURIComponent(value);
    return true;
  } catch {
    return false;
  }
}

/** Every setting: an environment variable with its default; the README's table is made of this. */
export const settings = {
  HOST: host.default('127.0.0.1').describe('the address to listen at'),
  PORT: integer(0, 65_535).default(3000).describe('the port to listen at; `0` takes a free one'),
  STORAGE: oneOf('memory', 'mongodb').default('memory').describe('where the records are kept: `memory` or `mongodb`'),
  MONGODB_URI: url(['mongodb://', 'mongodb+srv://'])
    .default('mongodb://127.0.0.1:27017/advocacy')
    .describe('the database of `STORAGE=mongodb`, named `advocacy` if the URI has no name'),
  RATE_LIMITER: oneOf('memory', 'redis')
    .default('memory')
    .describe('who counts requests: `memory` (each process) or `redis`'),
  REDIS_URL: url(['redis://', 'rediss://'])
    .default('redis://127.0.0.1:6379')
    .describe('the server of `RATE_LIMITER=redis`'),
  RATE_LIMIT_POINTS: integer(1).default(600).describe('requests that a key may make in a window'),
  RATE_LIMIT_WINDOW_SECONDS: integer(1, MAX_TIMER_SECONDS).default(60).describe('the length of that window'),
  REFUSED_CREDENTIALS_PER_MINUTE: integer(1).default(60).describe('refused credentials that an address may send'),
  DEMO_API_KEY: z
    .string()
    .regex(/^[A-Za-z0-9\-._~+/]{20,}$/, 'must be 20 characters or more of A-Za-z0-9-._~+/')
    .optional()
    .describe('the key of the demo workspace (memory only); without it one is made at each start and printed'),
  BODY_LIMIT_BYTES: integer(1, 2 ** 30)
    .default(2 ** 20)
    .describe('the largest body of a request'),
  METRICS_PORT: integer(0, 65_535).optional().describe('the port of Prometheus metrics; off where it is left out'),
  METRICS_HOST: host.default('127.0.0.1').describe('the address of Prometheus metrics'),
  DOCS_URL: z
    .string()
    .refine((value) => /^[\x21-\x7e]+$/.test(value) && isUrl(value, 'http://localhost'), 'must be a URL or a path')
    .default('/docs')
    .transform((value) => value.replace(/\/+$/, ''))
    .describe('where `doc_url` of an error leads: a URL or a path'),
  TRUST_PROXY: z
    .string()
    .transform(trustProxy)
    .refine(
      (value) => value !== undefined,
      'must be true, false, a number of proxies, or a list of addresses and subnets',
    )
    .transform((value) => value as boolean | number | string)
    .default(false)
    .describe(
      'which proxies are believed in `X-Forwarded-For`: as `trust proxy` of Express; `true` believes every caller, and gives the limit of refused credentials away',
    ),
  LOG_LEVEL: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .describe('the least level that is logged, by its name in pino'),
  WORKERS: integer(1, 1024).default(1).describe('processes that serve; above 1 needs MongoDB and Redis'),
};

const schema = z.object(settings).superRefine(
  (values, context) => {
    const refuse = (name: keyof typeof settings, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (values.DEMO_API_KEY !== undefined && values.STORAGE === 'mongodb') {
      refuse('DEMO_API_KEY', 'works with STORAGE=memory only: leave it out');
    }
    if (values.WORKERS > 1 && (values.STORAGE === 'memory' || values.RATE_LIMITER === 'memory')) {
      refuse('WORKERS', 'above 1 needs STORAGE=mongodb and RATE_LIMITER=redis');
    }
    const { HOST, PORT, METRICS_HOST, METRICS_PORT } = values;
    if (PORT !== 0 && PORT === METRICS_PORT && canOverlap(HOST, METRICS_HOST)) {
      refuse('METRICS_PORT', 'must differ from PORT, because the service and its metrics need two ports');
    }
  },
  { when: () => true },
);

export type Settings = z.output<typeof schema>;

/** Reads the settings from an environment; throws a `SettingsError` that names every problem. */
export function readSettings(environment: Environment): Settings {
  const missed = Object.keys(environment).flatMap((name) => {
    const meant = nearMiss(name);
    return meant ? [`${name}: is no setting, did you mean ${meant}?`] : [];
  });
  const result = schema.safeParse(environment);
  const issues = result.error?.issues ?? [];
  const malformed = issues
    .filter(({ path }, i) => issues.findIndex((issue) => issue.path[0] === path[0]) === i)
    .map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (!result.success || missed.length > 0) throw new SettingsError([...malformed, ...missed]);
  return result.data;
}

const MIN_WARNED_LENGTH = 4;
const MIN_NEAR_MISS_LENGTH = 8;
const MAX_EDIT_COUNT = 2;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns a warning for each variable whose short name differs from a setting's by one edit or one swap of neighbors. */
export function misspelledSettings(environment: Environment): string[] {
  const names = Object.keys(settings);
  return Object.keys(environment).flatMap((name) => {
    if (name.length < MIN_WARNED_LENGTH || name.length >= MIN_NEAR_MISS_LENGTH || names.includes(name)) return [];
    const meant = names.find((setting) => editsBetween(name, setting) === 1 || isSwapOf(name, setting));
    return meant ? [`${name}: not a setting, did you mean ${meant}?`] : [];
  });
}

/** Returns whether swapping two neighboring letters turns one text into the other. */
function isSwapOf(a: string, b: string): boolean {
  return [...a].some((letter, i) => a.slice(0, i) + a.charAt(i + 1) + letter + a.slice(i + 2) === b);
}

/** Settings that have an effect only together with another one, or with a value of it. */
const effectiveWith: readonly (readonly [name: keyof typeof settings, other: keyof typeof settings, value?: string])[] =
  [
    ['MONGODB_URI', 'STORAGE', 'mongodb'],
    ['REDIS_URL', 'RATE_LIMITER', 'redis'],
    ['METRICS_HOST', 'METRICS_PORT'],
  ];

/** Returns a warning for each setting that is set but has no effect. */
function ineffectiveSettings(environment: Environment): string[] {
  return effectiveWith
    .filter(([name, other, value]) => {
      const isEffective = value === undefined ? environment[other] !== undefined : environment[other] === value;
      return environment[name] !== undefined && !isEffective;
    })
    .map(([name, other, value]) => `${name}: has no effect without ${other}${value === undefined ? '' : `=${value}`}`);
}

/** The setting that a name was likely meant to be, where it is none but nearly one. */
function nearMiss(name: string): string | undefined {
  const names = Object.keys(settings);
  if (name.length < MIN_NEAR_MISS_LENGTH || names.includes(name)) return undefined;
  const byEdits = names
    .map((setting) => ({ setting, edits: editsBetween(name, setting) }))
    .sort((a, b) => a.edits - b.edits);
  const nearest = byEdits[0];
  if (nearest && nearest.edits <= MAX_EDIT_COUNT) return nearest.setting;
  return names.find((setting) => setting.startsWith(`${name}_`));
}

/** Levenshtein's distance. */
function editsBetween(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (previous[j] as number) + (a[i] === b[j] ? 0 : 1);
      row.push(Math.min(replaced, (previous[j + 1] as number) + 1, (row[j] as number) + 1));
    }
    previous = row;
  }
  return previous[b.length] as number;
}

/** Returns a warning for each probable mistake in an environment that does not prevent the start. */
export function settingWarnings(environment: Environment): string[] {
  return [...misspelledSettings(environment), ...ineffectiveSettings(environment)];
}

/** Returns whether listeners on the same port of these two hosts are known to conflict. */
function canOverlap(host: string, other: string): boolean {
  const [one, two] = [host, other].map((name) => name.toLowerCase().replace(/^localhost$/, '127.0.0.1')) as [
    string,
    string,
  ];
  const includes = (wildcard: string, address: string) =>
    wildcard === '::' || (wildcard === '0.0.0.0' && isIP(address) !== 6);
  return one === two || includes(one, two) || includes(two, one);
}

/** What Express does not read of the addresses that Node knows: IPv4 right after `::`, and zones with punctuation. */
const NOT_FOR_EXPRESS = /::\d+\.|%.*[^0-9a-z]/i;

/** Express' `trust proxy` from its text form; `undefined` for what Express would not take. */
function trustProxy(value: string): boolean | number | string | undefined {
  if (value === 'true' || value === 'false') return value === 'true';
  if (/^\d{1,3}$/.test(value)) return Number(value);
  const isTrustable = (entry: string): boolean => {
    const [address = '', bits, ...rest] = entry.trim().split('/');
    if (bits === undefined && ['loopback', 'linklocal', 'uniquelocal'].includes(address)) return true;
    const version = NOT_FOR_EXPRESS.test(address) ? 0 : isIP(address);
    return (
      version !== 0 &&
      rest.length === 0 &&
      (bits === undefined ||
        (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128)) ||
        (version === 4 && isNetmask(bits)))
    );
  };
  return value.split(',').every(isTrustable) ? value : undefined;
}

/** Whether it is as `255.255.0.0`: ones, and then zeros. */
function isNetmask(text: string): boolean {
  const bits = text.split('.').map((byte) => Number(byte).toString(2).padStart(8, '0'));
  return isIP(text) === 4 && /^1+0*$/.test(bits.join(''));
}
