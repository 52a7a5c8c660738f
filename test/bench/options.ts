import { isDeepStrictEqual, parseArgs } from 'node:util';
import { databases, type StorageName } from './database.ts';
import { serverNames } from './servers.ts';

/** The types of requests that are measured on each storage. */
const TYPE_NAMES: Readonly<Record<StorageName, readonly string[]>> = {
  sqlite: ['list', 'get', 'create', 'idempotent create', 'search', 'deep page'],
  mongodb: ['list', 'get', 'create', 'search', 'deep page'],
};

const getDefaults = (storage: StorageName) => ({
  servers: serverNames[storage].join(),
  types: TYPE_NAMES[storage].join(),
  sizes: '1000,12500,100000,1000000',
  rounds: '9',
  seconds: '0.5',
});

/** The options of `npm run bench`. */
export interface Options {
  readonly storage: StorageName;
  readonly servers: readonly string[];
  readonly types: readonly string[];
  /** Whether to measure this service with growing numbers of campaigns, instead of comparing it with other servers. */
  readonly measuresGrowth: boolean;
  /** Whether to measure redirects of short links, and nothing else. */
  readonly measuresLinks: boolean;
  /** Whether to measure analytics over a year, and other requests meanwhile. */
  readonly measuresAnalytics: boolean;
  /** The numbers of campaigns, if `measuresGrowth` is set. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly milliseconds: number;
  /**
   * Whether to write the results to the documents: only if `--servers`, `--types`, `--sizes`, `--rounds` and
   * `--seconds` have their defaults.
   */
  readonly writesDocuments: boolean;
}

/** Reads the options of the command line. The default is to compare all servers on SQLite. */
export function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      flat: { type: 'boolean', default: false },
      links: { type: 'boolean', default: false },
      analytics: { type: 'boolean', default: false },
      storage: { ...text, default: 'sqlite' },
      ...{ servers: text, types: text, sizes: text, rounds: text, seconds: text },
    },
  });
  const [storage] = parseNames(values.storage, Object.keys(databases)) as [StorageName];
  const defaults = getDefaults(storage);
  const { flat, links, analytics, storage: _, ...chosen } = { ...defaults, ...values };
  return {
    storage,
    servers: parseNames(chosen.servers, serverNames[storage]),
    types: parseNames(chosen.types, TYPE_NAMES[storage]),
    measuresGrowth: flat,
    measuresLinks: links,
    measuresAnalytics: analytics,
    sizes: chosen.sizes.split(',').map(Number),
    rounds: Number(chosen.rounds),
    milliseconds: Number(chosen.seconds) * 1000,
    writesDocuments: isDeepStrictEqual(chosen, defaults),
  };
}

/** Parses a comma-separated list of names. Throws if a name is unknown. */
function parseNames(list: string, all: readonly string[]): string[] {
  const names = list.split(',');
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`${unknown}: unknown name, allowed names: ${all.join(', ')}`);
  return names;
}
