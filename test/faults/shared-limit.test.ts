import assert from 'node:assert/strict';
import { apiKeySecret } from '../../core/access/api-key.ts';
import { type Fleet, withFleet } from '../support/fleet.ts';
import { type Sending, send } from '../support/load.ts';
import { scale } from '../support/scale.ts';
import { scrape } from '../support/scrape.ts';
import { suite } from '../support/suite.ts';

const REQUESTS = scale(500, 2_000);
const LIMIT = scale(150, 600);
const REFUSED = scale(50, 200);
const MOST_REFUSED = scale(15, 60);
const SERVICES = 4;
const BURSTS = 5;

const UNKNOWN_KEY = apiKeySecret('0'.repeat(32));

/** Allowed, it is refused for its body: what is counted is the limit, not the speed of a database. */
const request = { method: 'POST', path: '/tags', body: {} };

/** How many of so many requests, sent at once to one service after the other in turn, got each status. */
async function burst({ services }: Fleet, count: number, sending: Sending): Promise<Record<number, number>> {
  const urls = services.map(({ url }) => url);
  const sent = await Promise.all(
    Array.from({ length: count }, (_, i) => send(urls[i % urls.length] as string, sending)),
  );
  const counts: Record<number, number> = {};
  for (const { status } of sent) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** How many requests the services counted by themselves, because Redis did not answer them in time. */
async function fallbacksOf({ services }: Fleet, limit: string): Promise<number> {
  const all = await Promise.all(services.map(scrape));
  return all.reduce((sum, metrics) => sum + (metrics.get(`rate_limit_fallbacks_total{limit="${limit}"}`) ?? 0), 0);
}

/**
 * Checks bursts, each of another caller, until one was counted by Redis alone: on a machine that has no time for Redis,
 * some requests are not, and those alone may come on top.
 */
async function checkBursts(
  fleet: Fleet,
  limit: string,
  most: number,
  burstOf: (i: number) => Promise<number>,
): Promise<void> {
  for (let i = 0; i < BURSTS; i++) {
    const before = await fallbacksOf(fleet, limit);
    const allowed = await burstOf(i);
    const fallbacks = (await fallbacksOf(fleet, limit)) - before;
    assert.ok(allowed >= most && allowed <= most + fallbacks, `${allowed} allowed, ${fallbacks} counted alone`);
    if (fallbacks === 0) return;
  }
  assert.fail('Redis did not count a single burst alone');
}

const settings = { METRICS_PORT: '0', TRUST_PROXY: 'true' };

suite('four services with one Redis', {
  [`allow exactly ${LIMIT} of ${REQUESTS} requests of a key that come at once`]: () =>
    withFleet(SERVICES, { ...settings, RATE_LIMIT_POINTS: String(LIMIT) }, (fleet) =>
      checkBursts(fleet, 'requests', LIMIT, async () => {
        const counts = await burst(fleet, REQUESTS, { ...request, key: await fleet.newKey() });
        assert.equal((counts[422] ?? 0) + (counts[429] ?? 0), REQUESTS, JSON.stringify(counts));
        return counts[422] ?? 0;
      }),
    ),

  [`refuse ${MOST_REFUSED} unknown keys of an address, and then tell it to wait`]: () =>
    withFleet(SERVICES, { ...settings, REFUSED_CREDENTIALS_PER_MINUTE: String(MOST_REFUSED) }, (fleet) =>
      checkBursts(fleet, 'refusals', MOST_REFUSED, async (i) => {
        const headers = { 'X-Forwarded-For': `203.0.113.${i}` };
        const counts = await burst(fleet, REFUSED, { ...request, key: UNKNOWN_KEY, headers });
        assert.equal((counts[401] ?? 0) + (counts[429] ?? 0), REFUSED, JSON.stringify(counts));
        for (const { url } of fleet.services) {
          assert.equal((await send(url, { ...request, headers })).status, 401);
          assert.equal((await send(url, { ...request, headers, key: fleet.key })).status, 422);
        }
        return counts[401] ?? 0;
      }),
    ),
});
