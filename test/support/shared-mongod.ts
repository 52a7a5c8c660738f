import { Missing } from './missing.ts';
import { startReplicaSet } from './replica-set.ts';

/** What a file of tests sends to its runner to be told of the server that all files share. */
export const WHICH_MONGOD = 'which mongod?';

/** The server that all files share, or why there is none. */
export type SharedMongod = { readonly uri: string } | { readonly error: string; readonly isMissing: boolean };

let starting: Promise<SharedMongod & { stop?(): Promise<void> }> | undefined;

/** The server of `MONGODB_URI`, or one that is started when it is first asked for. */
export async function sharedMongod(): Promise<SharedMongod> {
  if (process.env.MONGODB_URI) return { uri: process.env.MONGODB_URI };
  starting ??= startReplicaSet().catch((error) => ({ error: error.message, isMissing: error instanceof Missing }));
  const { stop: _, ...server } = await starting;
  return server;
}

/** Stops the server, if one was started. */
export async function stopSharedMongod(): Promise<void> {
  await (await starting)?.stop?.();
}
