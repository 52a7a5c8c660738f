import type { Storage } from '../../core/storage.ts';

export type OpenStorage = () => Promise<{ readonly storage: Storage; close(): Promise<void> }>;
export type Tests = Readonly<Record<string, () => Promise<void>>>;

/** Makes a test of what it does with a storage, which is open for that long. */
export type OnStorage = (work: (storage: Storage) => Promise<void>) => () => Promise<void>;

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
