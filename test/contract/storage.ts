import type { Storage } from '../../core/storage.ts';
import { queries } from './queries.ts';
import { records } from './records.ts';
import { registry } from './registry.ts';
import { transactions } from './transactions.ts';

export type OpenStorage = () => Promise<{ readonly storage: Storage; close(): Promise<void> }>;
export type Tests = Readonly<Record<string, () => Promise<void>>>;

/** Makes a test of what it does with a storage, which is open for that long. */
export type OnStorage = (work: (storage: Storage) => Promise<void>) => () => Promise<void>;

/**
 * What every storage does, as tests. What is open may be shared by other tests: each of these works with ids and in
 * workspaces of its own.
 */
export function storageContract(open: OpenStorage): Tests {
  const test = onStorage(open);
  return {
    'is ready when it is open': test((storage) => storage.ready()),
    ...records(test),
    ...registry(test),
    ...queries(test),
    ...transactions(test),
  };
}

export function onStorage(open: OpenStorage): OnStorage {
  return (work) => async () => {
    const { storage, close } = await open();
    try {
      await work(storage);
    } finally {
      await close();
    }
  };
}
