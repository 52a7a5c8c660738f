import { MissingDependencyError } from './missing-dependency-error.ts';
import { startReplicaSet } from './replica-set.ts';
import { findFastFolder } from './temporary-folder.ts';

/** The message with which a test file requests the shared server from its runner. */
export const SHARED_MONGOD_REQUEST = 'shared mongod';

/** The server that all test files share, or the reason why there is none. */
export type SharedMongod = { readonly uri: string } | { readonly error: string; readonly isProgramMissing: boolean };

let starting: Promise<SharedMongod & { stop?(): Promise<void> }> | undefined;

/** Returns the server of `MONGODB_URI`, or starts one at the first call. */
export async function getSharedMongod(): Promise<SharedMongod> {
  if (process.env.MONGODB_URI) return { uri: process.env.MONGODB_URI };
  starting ??= startInFastFolder().catch((error) => ({
    error: error.message,
    isProgramMissing: error instanceof MissingDependencyError,
  }));
  const { stop: _, ...server } = await starting;
  return server;
}

const startInFastFolder = async () => startReplicaSet(1, undefined, await findFastFolder());

/** Stops the server if it was started here. */
export async function stopSharedMongod(): Promise<void> {
  await (await starting)?.stop?.();
}
