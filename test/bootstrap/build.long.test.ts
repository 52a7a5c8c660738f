import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withCheckout } from '../support/checkout.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import type { ServiceProcess } from '../support/process.ts';
import { getRedis } from '../support/redis.ts';
import { findFreePort } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const WORKER_COUNT = 2;
const BUILD_COUNT = 2;
const MIN_COMMAND_COUNT = 20;
const KILL_INTERVAL_MS = 700;

suite('a build', {
  'does not disturb npx commands, or a server that replaces killed workers': async () => {
    const [database, redis] = await Promise.all([createDatabase(), getRedis()]);
    const shared = {
      RATE_LIMITER: 'redis',
      REDIS_URL: redis.url,
      WORKERS: String(WORKER_COUNT),
      PORT: String(await findFreePort()),
    };
    try {
      await withCheckout({ isBuilt: true }, async (checkout) => {
        const service = await checkout.start('npm start', { ...createMongodbSettings(database.uri), ...shared });
        let isBuilding = true;
        let killCount = 0;
        const build = async () => {
          for (let i = 0; i < BUILD_COUNT; i++) assert.equal((await checkout.run('npm run build')).code, 0);
          isBuilding = false;
        };
        const killWorkers = async () => {
          for (; isBuilding; await delay(KILL_INTERVAL_MS)) {
            const [worker] = await findWorkers(service);
            if (worker === undefined) continue;
            process.kill(worker, 'SIGKILL');
            killCount++;
          }
        };
        const runCommands = async () => {
          for (let i = 0; i < MIN_COMMAND_COUNT || isBuilding; i++) {
            const { code, stdout, stderr } = await checkout.run('npx advocacy --help');
            assert.equal(code, 0, stderr);
            assert.match(stdout, /^Usage: advocacy /);
          }
        };
        await Promise.all([build(), killWorkers(), runCommands()]);
        await waitUntil(async () => (await findWorkers(service)).length === WORKER_COUNT && (await isReady(service)));
        assert.ok(killCount > 1);
        // If a replacement could not start, there would be more lines `worker exited` than kills.
        assert.equal(service.output.stderr.split('worker exited').length - 1, killCount, service.output.stderr);
      });
    } finally {
      await Promise.all([database.stop(), redis.stop()]);
    }
  },
});

/** Returns the process IDs of the running workers. */
async function findWorkers({ child }: ServiceProcess): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const findChildren = (parent: number | undefined) =>
    rows.filter(([, ppid]) => ppid === parent).map(([pid = 0]) => pid);
  // The child is npm. It has started a shell, which has replaced itself with the server (`exec`).
  return findChildren(findChildren(child.pid)[0]);
}

const isReady = ({ url }: ServiceProcess): Promise<boolean> =>
  fetch(`${url}/readyz`, { headers: { Connection: 'close' } }).then(
    ({ status }) => status === 200,
    () => false,
  );
