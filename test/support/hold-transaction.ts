import type { Application } from '../../core/application.ts';
import type { Storage } from '../../core/storage.ts';

/**
 * Delays the next transaction of an application until `release` is called. `held` resolves when the transaction waits
 * to begin.
 */
export function holdNextTransaction(app: Application): { readonly held: Promise<void>; readonly release: () => void } {
  const { storage } = app as unknown as { readonly storage: { runInTransaction: Storage['runInTransaction'] } };
  const { runInTransaction } = storage;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = new Promise<void>((resolve) => {
    storage.runInTransaction = async (work) => {
      storage.runInTransaction = runInTransaction;
      resolve();
      await released;
      return runInTransaction(work);
    };
  });
  return { held, release };
}
