import type { Application, Storage } from '../../core/application.ts';

/**
 * Delays the next transaction of an application until `release` is called. `held` resolves when the transaction waits
 * to begin.
 */
export function holdNextTransaction(app: Application): { readonly held: Promise<void>; readonly release: () => void } {
  const { unitOfWork } = (app as unknown as { readonly storage: Storage }).storage;
  const run = unitOfWork.run;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held = new Promise<void>((resolve) => {
    unitOfWork.run = async (work) => {
      unitOfWork.run = run;
      resolve();
      await released;
      return run(work);
    };
  });
  return { held, release };
}
