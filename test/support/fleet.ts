import { mongod } from './mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from './mongodb-service.ts';
import { type ServiceProcess, startProcess } from './process.ts';
import { startRedis } from './redis.ts';
import type { ServerProcess } from './server-process.ts';

/** Services of one database and one Redis, each a process of its own. */
export interface Fleet {
  readonly services: readonly ServiceProcess[];
  readonly redis: ServerProcess;
  /** A service of the same database that counts requests in its memory. */
  readonly beside: ServiceProcess;
  /** A key to their one workspace. */
  readonly key: string;
  /** Makes another key to it. */
  newKey(): Promise<string>;
}

/** Runs so many services while a test works with them, on a Redis that may be killed. */
export async function withFleet(
  size: number,
  settings: Readonly<Record<string, string>>,
  test: (fleet: Fleet) => Promise<void>,
): Promise<void> {
  const [database, redis] = await Promise.all([mongod(), startRedis()]);
  const processes: ServiceProcess[] = [];
  try {
    await withUseCases(database.uri, async (app) => {
      const { workspaceId, key } = await newWorkspace(app);
      const alone = { ...onMongodb(database.uri), ...settings };
      const together = { ...alone, RATE_LIMITER: 'redis', REDIS_URL: redis.url };
      for (const all of [alone, ...Array(size).fill(together)]) processes.push(await startProcess(all));
      const [beside, ...services] = processes as [ServiceProcess, ...ServiceProcess[]];
      const newKey = async () => (await app.apiKeys.create(workspaceId, {})).secret;
      await test({ services, beside, redis, key, newKey });
    });
  } finally {
    for (const { child } of processes) child.kill('SIGKILL');
    await Promise.all(processes.map((service) => service.ended()));
    await Promise.all([redis.stop(), database.stop()]);
  }
}
