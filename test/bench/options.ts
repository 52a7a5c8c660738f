import { availableParallelism } from 'node:os';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { type StorageName, storages } from './servers.ts';

const ROWS = ['list', 'get', 'create', 'search', 'page 400'];
const SERVERS: string[] = [...new Set(Object.values(storages).flat())];

/** With fewer, several processes of the service only take them from each other, and from the database and the client. */
const CORES_FOR_WORKERS = 4;

const DEFAULTS = {
  storage: Object.keys(storages).join(),
  servers: SERVERS.filter((name) => name !== 'ours-workers' || availableParallelism() >= CORES_FOR_WORKERS).join(),
  rows: ROWS.join(),
  sizes: '1000,12500,100000,1000000',
  rounds: '9',
  seconds: '0.5',
};

/** What is measured, and how long. */
export interface Options {
  readonly storages: readonly StorageName[];
  readonly servers: readonly string[];
  readonly rows: readonly string[];
  /** Whether this service is measured with more and more campaigns, instead of beside other servers. */
  readonly isFlat: boolean;
  /** How many campaigns there are then. */
  readonly sizes: readonly number[];
  readonly rounds: number;
  readonly milliseconds: number;
  /** Whether nothing was chosen, so that what is measured can be written down. */
  readonly isWhole: boolean;
}

/** Reads the options of the command line; what is not chosen is all. */
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
    storages: known(chosen.storage, Object.keys(storages)) as StorageName[],
    servers: known(chosen.servers, SERVERS),
    rows: known(chosen.rows, ROWS),
    isFlat: flat,
    sizes: chosen.sizes.split(',').map(Number),
    rounds: Number(chosen.rounds),
    milliseconds: Number(chosen.seconds) * 1000,
    isWhole: isDeepStrictEqual(chosen, DEFAULTS),
  };
}

/** The names of a list; throws where one of them is unknown. */
function known(given: string, all: readonly string[]): string[] {
  const names = given.split(',');
  const unknown = names.find((name) => !all.includes(name));
  if (unknown !== undefined) throw new Error(`There is no ${unknown}: choose of ${all.join(', ')}.`);
  return names;
}
