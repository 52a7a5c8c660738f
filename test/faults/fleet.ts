import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { createWorkspace } from '../support/tenants.ts';

/** Several processes of the service with one database and one Redis. */
export interface Fleet {
  readonly services: readonly ServiceProcess[];
  readonly redis: ServerProcess;
  /** A process on the same database whose rate limiter counts requests in memory, not in Redis. */
  readonly serviceWithoutRedis: ServiceProcess;
  /** An API key of the workspace in the database. */
  readonly key: string;
  /** Creates another API key of that workspace. */
  createKey(): Promise<string>;
}

/** Runs `size` processes with Redis, and `serviceWithoutRedis`, during a test. The test may kill Redis. */
export async function withFleet(
  size: number,
  settings: Readonly<Record<string, string>>,
  test: (fleet: Fleet) => Promise<void>,
): Promise<void> {
  const [database, redis] = await Promise.all([createDatabase(), startRedis()]);
  const processes: ServiceProcess[] = [];
  try {
    await withApplication(database.uri, async (app) => {
      const { workspaceId, key } = await createWorkspace(app);
      const unshared = { ...createMongodbSettings(database.uri), ...settings };
      const shared = { ...unshared, RATE_LIMITER: 'redis', REDIS_URL: redis.url };
      for (const env of [unshared, ...Array(size).fill(shared)]) processes.push(await startProcess(env));
      const [serviceWithoutRedis, ...services] = processes as [ServiceProcess, ...ServiceProcess[]];
      const createKey = async () => (await app.apiKeys.create(workspaceId, {})).secret;
      await test({ services, serviceWithoutRedis, redis, key, createKey });
    });
  } finally {
    await Promise.all(processes.map((service) => service.kill()));
    await Promise.all([redis.stop(), database.stop()]);
  }
}
