import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { each } from '../support/each.ts';
import { send, startLoad } from '../support/load.ts';
import { quickOrLong } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Fleet, withFleet } from './fleet.ts';

const CLIENT_COUNT = quickOrLong(6, 30);
const REQUEST_INTERVAL_MS = 10;
const POLL_INTERVAL_MS = 100;
const BASELINE_DURATION_MS = quickOrLong(500, 5_000);
const FAULT_DURATION_MS = quickOrLong(500, 5_000);
/** The quick run may share the machine with other programs, so its limit is higher. */
const MAX_EXTRA_MS = quickOrLong(5_000, 150);
/**
 * How many times longer the slowest response may take with a fault than without one. On a slow machine, it varies more.
 */
const MAX_VARIATION_FACTOR = 1.5;
const MAX_RECOVERY_MS = quickOrLong(30_000, 10_000);

/** Returns how many requests a key has left in the window, according to a service. */
async function getRemaining(url: string, key: string): Promise<number> {
  const { status, headers, text } = await send(url, { path: '/tags', method: 'POST', key, body: {} });
  assert.equal(status, 422, text);
  return Number(headers['x-ratelimit-remaining']);
}

/**
 * Returns `true` if the services share the count of a key, and `false` if each counts separately. Fails if neither is
 * the case.
 */
async function isShared({ services, createKey }: Fleet): Promise<boolean> {
  await delay(POLL_INTERVAL_MS);
  const key = await createKey();
  const remaining: number[] = [];
  for (const { url } of services) remaining.push(await getRemaining(url, key));
  const [first = 0] = remaining;
  if (remaining.every((value, i) => value === first - i)) return true;
  assert.deepEqual(new Set(remaining), new Set([first]), 'each service counts separately');
  return false;
}

/** Faults of Redis, and their recoveries. */
const faults: Readonly<Record<string, (redis: ServerProcess, meanwhile: () => Promise<void>) => Promise<void>>> = {
  'is killed and starts again after a while': async (redis, meanwhile) => {
    await redis.kill();
    await meanwhile();
    await redis.start();
  },
  'is frozen and resumes after a while': async (redis, meanwhile) => {
    redis.freeze();
    await meanwhile();
    redis.thaw();
  },
  'is restarted': async (redis) => {
    await redis.kill();
    await redis.start();
  },
};

const getLongest = (all: readonly { readonly milliseconds: number }[]) =>
  Math.max(...all.map(({ milliseconds }) => milliseconds));

suite('services whose Redis is killed, frozen or restarted', {
  'neither fail nor delay requests, and share their count of requests except during the fault': () =>
    withFleet(2, { RATE_LIMIT_POINTS: '1000000' }, (fleet) =>
      each(faults, async (causeFault) => {
        const urls = fleet.services.map(({ url }) => url);
        const load = startLoad(CLIENT_COUNT, async (client) => {
          await delay(REQUEST_INTERVAL_MS);
          return send(urls[client % urls.length] as string, { path: '/campaigns', key: fleet.key });
        });
        const referenceLoad = startLoad(CLIENT_COUNT / 2, async () => {
          await delay(REQUEST_INTERVAL_MS);
          return send(fleet.serviceWithoutRedis.url, { path: '/campaigns', key: fleet.key });
        });
        assert.equal(await isShared(fleet), true);
        await delay(BASELINE_DURATION_MS);
        const before = load.responses.length;
        await causeFault(fleet.redis, async () => {
          await waitUntil(async () => !(await isShared(fleet)));
          await delay(FAULT_DURATION_MS);
          assert.equal(await isShared(fleet), false);
        });
        const recoveredAt = performance.now();
        await waitUntil(() => isShared(fleet));
        const recoveryMs = performance.now() - recoveredAt;
        await Promise.all([load.stop(), referenceLoad.stop()]);

        const failures = load.responses.filter(({ status }) => status !== 200);
        assert.deepEqual(failures.slice(0, 5), []);
        const longestReference = getLongest([...load.responses.slice(0, before), ...referenceLoad.responses]);
        const longest = getLongest(load.responses.slice(before));
        assert.ok(
          longest <= longestReference * MAX_VARIATION_FACTOR + MAX_EXTRA_MS,
          `${longest} ms, and ${longestReference} ms without Redis or before`,
        );
        assert.ok(recoveryMs <= MAX_RECOVERY_MS, `the services shared the count again after ${recoveryMs} ms`);
      }),
    ),
});
