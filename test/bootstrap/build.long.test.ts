import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { withCheckout } from '../support/checkout.ts';
import { mongod } from '../support/mongod.ts';
import { onMongodb } from '../support/mongodb-service.ts';
import type { ServiceProcess } from '../support/process.ts';
import { redis } from '../support/redis.ts';
import { freePort } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const WORKERS = 2;
const BUILDS = 2;
const COMMANDS = 20;
const KILL_INTERVAL_MS = 700;

suite('a build', {
  'does not disturb commands of npx, or servers whose workers are replaced': async () => {
    const [database, counter] = await Promise.all([mongod(), redis()]);
    const shared = {
      RATE_LIMITER: 'redis',
      REDIS_URL: counter.url,
      WORKERS: String(WORKERS),
      PORT: String(await freePort()),
    };
    try {
      await withCheckout({ isBuilt: true }, async (checkout) => {
        const service = await checkout.start('npm start', { ...onMongodb(database.uri), ...shared });
        let isBuilding = true;
        let kills = 0;
        const build = async () => {
          for (let i = 0; i < BUILDS; i++) assert.equal((await checkout.run('npm run build')).code, 0);
          isBuilding = false;
        };
        const killWorkers = async () => {
          for (; isBuilding; await delay(KILL_INTERVAL_MS)) {
            const [worker] = await workersOf(service);
            if (worker === undefined) continue;
            process.kill(worker, 'SIGKILL');
            kills++;
          }
        };
        const runCommands = async () => {
          for (let i = 0; i < COMMANDS || isBuilding; i++) {
            const { code, stdout, stderr } = await checkout.run('npx advocacy --help');
            assert.equal(code, 0, stderr);
            assert.match(stdout, /^Usage: advocacy /);
          }
        };
        await Promise.all([build(), killWorkers(), runCommands()]);
        await until(async () => (await workersOf(service)).length === WORKERS && (await isReady(service)));
        assert.ok(kills > 1);
        // Also counts workers that could not start.
        assert.equal(service.printed.stderr.split('a worker ended').length - 1, kills, service.printed.stderr);
      });
    } finally {
      await Promise.all([database.stop(), counter.stop()]);
    }
  },
});

/** Returns the ids of the workers that run. */
async function workersOf({ child }: ServiceProcess): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (parent: number | undefined) => rows.filter(([, ppid]) => ppid === parent).map(([pid = 0]) => pid);
  // npm starts the server, which has taken the place of a shell.
  return childrenOf(childrenOf(child.pid)[0]);
}

const isReady = ({ url }: ServiceProcess): Promise<boolean> =>
  fetch(`${url}/readyz`, { headers: { Connection: 'close' } }).then(
    ({ status }) => status === 200,
    () => false,
  );
