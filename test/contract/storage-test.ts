import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';

export type OpenStorage = () => Promise<{ readonly engine: StorageEngine; close(): Promise<void> }>;

/** Creates a test that opens a storage, runs `work` with it, and closes it. */
export type CreateStorageTest = (work: (engine: StorageEngine) => Promise<void>) => () => Promise<void>;

export function createStorageTest(open: OpenStorage): CreateStorageTest {
  return (work) => async () => {
    const { engine, close } = await open();
    try {
      await work(engine);
    } finally {
      await close();
    }
  };
}
