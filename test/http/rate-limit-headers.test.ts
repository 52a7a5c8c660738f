import assert from 'node:assert/strict';
import { createRateLimitHeaders } from '../../adapters/http/rate-limit-headers.ts';
import { suite } from '../support/suite.ts';

const WINDOW = { allowed: true, limit: 600, windowSeconds: 60, remaining: 599 };

suite('createRateLimitHeaders', {
  'states the same end of the window at any time in the window, rounded up to a second': () => {
    const end = 1_800_000_060_250;
    for (let resetsInMs = 60_000; resetsInMs >= 0; resetsInMs -= 125) {
      const headers = createRateLimitHeaders({ ...WINDOW, resetsInMs }, end - resetsInMs);
      assert.equal(headers[headers.indexOf('X-RateLimit-Reset') + 1], '1800000061', `${resetsInMs} ms before the end`);
    }
  },

  'rounds the remaining seconds up': () => {
    for (const [resetsInMs, seconds] of [
      [60_000, 60],
      [59_001, 60],
      [59_000, 59],
      [1, 1],
      [0, 0],
    ] as const) {
      assert.equal(createRateLimitHeaders({ ...WINDOW, resetsInMs }, 0).at(-1), `"default";r=599;t=${seconds}`);
    }
  },
});
