import assert from 'node:assert/strict';
import { apiKeySecret } from '../../core/access/api-key.ts';
import { type Fleet, withFleet } from '../support/fleet.ts';
import { type Sending, type Sent, send } from '../support/load.ts';
import { scale } from '../support/scale.ts';
import { suite } from '../support/suite.ts';

const REQUESTS = scale(500, 2_000);
const LIMIT = scale(150, 600);
const REFUSED = scale(50, 200);
const MOST_REFUSED = scale(15, 60);

const UNKNOWN_KEY = apiKeySecret('0'.repeat(32));

/** Sends so many requests at once, to one service after the other in turn. */
function burst({ services }: Fleet, count: number, sending: Sending): Promise<Sent[]> {
  const urls = services.map(({ url }) => url);
  return Promise.all(Array.from({ length: count }, (_, i) => send(urls[i % urls.length] as string, sending)));
}

function countsOf(sent: readonly Sent[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of sent) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

suite('four services with one Redis', {
  [`allow exactly ${LIMIT} of ${REQUESTS} requests of a key that come at once`]: () =>
    withFleet(4, { RATE_LIMIT_POINTS: String(LIMIT) }, async (fleet) => {
      const sent = await burst(fleet, REQUESTS, { path: '/campaigns', key: fleet.key });
      assert.deepEqual(countsOf(sent), { 200: LIMIT, 429: REQUESTS - LIMIT });
    }),

  [`refuse ${MOST_REFUSED} unknown keys of an address, and then tell it to wait`]: () =>
    withFleet(4, { REFUSED_CREDENTIALS_PER_MINUTE: String(MOST_REFUSED) }, async (fleet) => {
      const sent = await burst(fleet, REFUSED, { path: '/campaigns', key: UNKNOWN_KEY });
      assert.deepEqual(countsOf(sent), { 401: MOST_REFUSED, 429: REFUSED - MOST_REFUSED });
      for (const { url } of fleet.services) {
        assert.equal((await send(url, { path: '/campaigns' })).status, 401);
        assert.equal((await send(url, { path: '/campaigns', key: fleet.key })).status, 200);
      }
    }),
});
