import assert from 'node:assert/strict';
import { rateLimitHeaders } from '../../adapters/http/rate-limit-headers.ts';
import { suite } from '../support/suite.ts';

const WINDOW = { allowed: true, limit: 600, windowSeconds: 60, remaining: 599 };

suite('the headers of a limit', {
  'tell the same end of a window at each moment of it, and never an earlier one': () => {
    const end = 1_800_000_060_250;
    for (let resetsInMs = 60_000; resetsInMs >= 0; resetsInMs -= 125) {
      const headers = rateLimitHeaders({ ...WINDOW, resetsInMs }, end - resetsInMs);
      assert.equal(headers[headers.indexOf('X-RateLimit-Reset') + 1], '1800000061', `${resetsInMs} ms before the end`);
    }
  },

  'round the seconds that are left up': () => {
    for (const [resetsInMs, seconds] of [
      [60_000, 60],
      [59_001, 60],
      [59_000, 59],
      [1, 1],
      [0, 0],
    ] as const) {
      assert.equal(rateLimitHeaders({ ...WINDOW, resetsInMs }, 0).at(-1), `"default";r=599;t=${seconds}`);
    }
  },
});
