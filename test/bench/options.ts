import { parseArgs } from 'node:util';
import { type StorageName, storages } from './servers.ts';

const ROWS = ['list', 'get', 'create', 'search', 'page 400'];
const SERVERS: string[] = [...new Set(Object.values(storages).flat())];
const SIZES = [1_000, 12_500, 100_000];

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
  /** Whether all is measured, so that it can be written down. */
  readonly isWhole: boolean;
}

/** Reads the options of the command line; what is not chosen is all. */
export function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      storage: { type: 'string', default: Object.keys(storages).join() },
      servers: { type: 'string', default: SERVERS.join() },
      rows: { type: 'string', default: ROWS.join() },
      flat: { type: 'boolean', default: false },
      sizes: { type: 'string', default: SIZES.join() },
      rounds: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '0.5' },
    },
  });
  const chosen = (given: string, known: readonly string[]) => {
    const names = given.split(',');
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) throw new Error(`There is no ${unknown}: choose of ${known.join(', ')}.`);
    return names;
  };
  const options = {
    storages: chosen(values.storage, Object.keys(storages)) as StorageName[],
    servers: chosen(values.servers, SERVERS),
    rows: chosen(values.rows, ROWS),
  };
  const sizes = values.sizes.split(',').map(Number);
  return {
    ...options,
    isFlat: values.flat,
    sizes,
    rounds: Number(values.rounds),
    milliseconds: Number(values.seconds) * 1000,
    isWhole:
      options.storages.length === Object.keys(storages).length &&
      options.servers.length === SERVERS.length &&
      options.rows.length === ROWS.length &&
      sizes.length >= SIZES.length,
  };
}
