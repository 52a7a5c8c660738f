import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { type LoadRequest, send } from '../support/load.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { type Fleet, withFleet } from './fleet.ts';

const REQUEST_COUNT = quickOrLong(200, 2_000);
const ALLOWED_REQUEST_COUNT = quickOrLong(60, 600);
const UNKNOWN_KEY_COUNT = quickOrLong(50, 200);
const ALLOWED_UNKNOWN_KEY_COUNT = quickOrLong(15, 60);
const SERVICE_COUNT = quickOrLong(2, 4);
const MAX_BURST_COUNT = 5;

const UNKNOWN_KEY = createApiKeySecret('0'.repeat(32));

/** A request that is counted and then rejected for its body, so that the speed of a database does not matter. */
const invalidRequest = { method: 'POST', path: '/tags', body: {} };

/** Sends requests at the same time, distributed over the services. Returns the number of responses by status. */
async function sendBurst({ services }: Fleet, count: number, options: LoadRequest): Promise<Record<number, number>> {
  const urls = services.map(({ url }) => url);
  const responses = await Promise.all(
    Array.from({ length: count }, (_, i) => send(urls[i % urls.length] as string, options)),
  );
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Returns how many requests Redis has counted for a limit. */
async function readSharedCount({ redis }: Fleet, limit: string): Promise<number> {
  const client = new Redis(redis.port);
  try {
    const keys = await client.keys(`advocacy:${limit}:*`);
    const counts = await Promise.all(keys.map((key) => client.get(key)));
    return counts.reduce((sum, count) => sum + Number(count), 0);
  } finally {
    client.disconnect();
  }
}

/**
 * Sends bursts, each from another caller, until Redis has counted all requests of one burst. On a busy machine, the
 * services count some requests locally. A burst may exceed the limit by at most the number of these requests.
 */
async function checkBursts(
  fleet: Fleet,
  limit: string,
  size: number,
  max: number,
  sendNextBurst: (i: number) => Promise<number>,
): Promise<void> {
  for (let i = 0; i < MAX_BURST_COUNT; i++) {
    const before = await readSharedCount(fleet, limit);
    const allowed = await sendNextBurst(i);
    const fallbacks = size - ((await readSharedCount(fleet, limit)) - before);
    assert.ok(allowed >= max && allowed <= max + fallbacks, `${allowed} allowed, ${fallbacks} counted locally`);
    if (fallbacks === 0) return;
  }
  assert.fail('in each burst, the services counted some requests locally');
}

const settings = {
  TRUST_PROXY: 'true',
  RATE_LIMIT_POINTS: String(ALLOWED_REQUEST_COUNT),
  REJECTED_CREDENTIALS_PER_MINUTE: String(ALLOWED_UNKNOWN_KEY_COUNT),
};

suite(`${SERVICE_COUNT} services with one Redis`, {
  [`allow exactly ${ALLOWED_REQUEST_COUNT} of ${REQUEST_COUNT} simultaneous requests of a key, and ${ALLOWED_UNKNOWN_KEY_COUNT} attempts per address with an unknown key`]:
    () =>
      withFleet(SERVICE_COUNT, settings, async (fleet) => {
        await checkBursts(fleet, 'requests', REQUEST_COUNT, ALLOWED_REQUEST_COUNT, async () => {
          const counts = await sendBurst(fleet, REQUEST_COUNT, { ...invalidRequest, key: await fleet.createKey() });
          assert.equal((counts[422] ?? 0) + (counts[429] ?? 0), REQUEST_COUNT, JSON.stringify(counts));
          return counts[422] ?? 0;
        });
        await checkBursts(fleet, 'rejectedCredentials', UNKNOWN_KEY_COUNT, ALLOWED_UNKNOWN_KEY_COUNT, async (i) => {
          const headers = { 'X-Forwarded-For': `203.0.113.${i}` };
          const counts = await sendBurst(fleet, UNKNOWN_KEY_COUNT, { ...invalidRequest, key: UNKNOWN_KEY, headers });
          assert.equal((counts[401] ?? 0) + (counts[429] ?? 0), UNKNOWN_KEY_COUNT, JSON.stringify(counts));
          for (const { url } of fleet.services) {
            assert.equal((await send(url, { ...invalidRequest, headers })).status, 401);
            assert.equal((await send(url, { ...invalidRequest, headers, key: fleet.key })).status, 422);
          }
          return counts[401] ?? 0;
        });
      }),
});
