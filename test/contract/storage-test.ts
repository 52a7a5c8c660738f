import type { Storage } from '../../core/storage.ts';

export type OpenStorage = () => Promise<{ readonly storage: Storage; close(): Promise<void> }>;

/** Creates a test that opens a storage, runs `work` with it, and closes it. */
export type CreateStorageTest = (work: (storage: Storage) => Promise<void>) => () => Promise<void>;

export function createStorageTest(open: OpenStorage): CreateStorageTest {
  return (work) => async () => {
    const { storage, close } = await open();
    try {
      await work(storage);
    } finally {
      await close();
    }
  };
}
