import { availableParallelism } from 'node:os';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type StorageName, serverNames } from './servers.ts';

const ROWS = ['list', 'get', 'create', 'search', 'page 400'];
const SERVERS: string[] = [...new Set(Object.values(serverNames).flat())];

/**
 * The minimum number of cores at which `ours-workers` is measured by default. With fewer cores, its processes compete with each
 * other, the database and the client.
 */
const CORES_FOR_WORKERS = 4;

const DEFAULTS = {
  storage: Object.keys(serverNames).join(),
  servers: SERVERS.filter((name) => name !== 'ours-workers' || availableParallelism() >= CORES_FOR_WORKERS).join(),
  rows: ROWS.join(),
  sizes: '1000,12500,100000,1000000',
  rounds: '9',
  seconds: '0.5',
};

/** The options of `npm run bench`. */
export interface Options {
  readonly storages: readonly StorageName[];
  readonly servers: readonly string[];
  readonly rows: readonly string[];
  /** Whether to measure this service with growing numbers of campaigns, instead of comparing it with other servers. */
  readonly measuresGrowth: boolean;
  /** The numbers of campaigns, if `measuresGrowth` is set. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly milliseconds: number;
  /** Whether the results are written to the documents, because all options but `--flat` have their defaults. */
  readonly writesDocuments: boolean;
}

/** Reads the options of the command line. The default is to measure everything. */
export function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      flat: { type: 'boolean', default: false },
      ...{ storage: text, servers: text, rows: text, sizes: text, rounds: text, seconds: text },
    },
  });
  const { flat, ...chosen } = { ...DEFAULTS, ...values };
  return {
    storages: parseNames(chosen.storage, Object.keys(serverNames)) as StorageName[],
    servers: parseNames(chosen.servers, SERVERS),
    rows: parseNames(chosen.rows, ROWS),
    measuresGrowth: flat,
    sizes: chosen.sizes.split(',').map(Number),
    rounds: Number(chosen.rounds),
    milliseconds: Number(chosen.seconds) * 1000,
    writesDocuments: isDeepStrictEqual(chosen, DEFAULTS),
  };
}

/** Parses a comma-separated list of names. Throws if one is unknown. */
function parseNames(list: string, all: readonly string[]): string[] {
  const names = list.split(',');
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`${unknown}: unknown name, allowed names: ${all.join(', ')}`);
  return names;
}
