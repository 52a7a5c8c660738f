import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type Fleet, withFleet } from '../support/fleet.ts';
import { send, startLoad } from '../support/load.ts';
import { scale } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const CLIENTS = scale(6, 30);
const PAUSE_MS = 10;
const LOOK_EVERY_MS = 100;
const BEFORE_MS = scale(500, 5_000);
const FAULT_MS = scale(500, 5_000);
/** A quick run may be one of many things that the machine does. */
const MOST_MORE_MS = scale(5_000, 150);
/** The slower the machine itself is, the less its slowest moments tell of each other. */
const UNSTEADY = 1.5;
const BACK_WITHIN_MS = scale(30_000, 10_000);

/** What a service says is left of the limit of a key. */
async function remaining(url: string, key: string): Promise<number> {
  const { status, headers, text } = await send(url, { path: '/tags', method: 'POST', key, body: {} });
  assert.equal(status, 422, text);
  return Number(headers['x-ratelimit-remaining']);
}

/** Whether each service goes on counting where the one before it was, or begins by itself. */
async function isShared({ services, newKey }: Fleet): Promise<boolean> {
  await delay(LOOK_EVERY_MS);
  const key = await newKey();
  const left: number[] = [];
  for (const { url } of services) left.push(await remaining(url, key));
  const [first = 0] = left;
  if (left.every((value, i) => value === first - i)) return true;
  assert.deepEqual(new Set(left), new Set([first]), 'each begins by itself');
  return false;
}

/** What happens to a Redis, and what ends it. */
const faults: Readonly<Record<string, (redis: ServerProcess, meanwhile: () => Promise<void>) => Promise<void>>> = {
  'is killed, and is there again after a while': async (redis, meanwhile) => {
    await redis.kill();
    await meanwhile();
    await redis.start();
  },
  'is frozen, and goes on after a while': async (redis, meanwhile) => {
    redis.freeze();
    await meanwhile();
    redis.thaw();
  },
  'is started anew': async (redis) => {
    await redis.kill();
    await redis.start();
  },
};

const longest = (all: readonly { readonly milliseconds: number }[]) =>
  Math.max(...all.map(({ milliseconds }) => milliseconds));

suite(
  'services whose Redis',
  Object.fromEntries(
    Object.entries(faults).map(([title, suffer]) => [
      `${title}, fail no request and keep none waiting, count by themselves and then together again`,
      () =>
        withFleet(2, { RATE_LIMIT_POINTS: '1000000' }, async (fleet) => {
          const urls = fleet.services.map(({ url }) => url);
          const load = startLoad(CLIENTS, async (client) => {
            await delay(PAUSE_MS);
            return send(urls[client % urls.length] as string, { path: '/campaigns', key: fleet.key });
          });
          const loadBeside = startLoad(CLIENTS / 2, async () => {
            await delay(PAUSE_MS);
            return send(fleet.beside.url, { path: '/campaigns', key: fleet.key });
          });
          assert.equal(await isShared(fleet), true);
          await delay(BEFORE_MS);
          const before = load.sent.length;
          await suffer(fleet.redis, async () => {
            await until(async () => !(await isShared(fleet)));
            await delay(FAULT_MS);
            assert.equal(await isShared(fleet), false);
          });
          const mendedAt = performance.now();
          await until(() => isShared(fleet));
          const backIn = performance.now() - mendedAt;
          await Promise.all([load.end(), loadBeside.end()]);

          const failures = load.sent.filter(({ status }) => status !== 200);
          assert.deepEqual(failures.slice(0, 5), []);
          const usual = longest([...load.sent.slice(0, before), ...loadBeside.sent]);
          const worst = longest(load.sent.slice(before));
          assert.ok(worst <= usual * UNSTEADY + MOST_MORE_MS, `${worst} ms, and ${usual} ms without Redis or before`);
          assert.ok(backIn <= BACK_WITHIN_MS, `back after ${backIn} ms`);
        }),
    ]),
  ),
);
