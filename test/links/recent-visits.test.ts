import assert from 'node:assert/strict';
import { RecentVisits } from '../../adapters/links/recent-visits.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';

suite('recent visits', {
  'contain a visit for a fixed time, which a repeated visit does not extend': async () => {
    let now = 0;
    await withMonotonicClock(
      () => now,
      () => {
        const visits = new RecentVisits(1_000);
        assert.deepEqual([visits.has('a'), visits.add('a'), visits.has('a')], [false, true, true]);
        now = 999;
        assert.deepEqual([visits.add('a'), visits.add('b')], [false, true]);
        now = 1_000;
        assert.deepEqual([visits.has('a'), visits.add('a'), visits.add('b')], [false, true, false]);
      },
    );
  },

  'evict the oldest visit if there are too many': () => {
    const visits = new RecentVisits(1_000_000, 2);
    assert.deepEqual(
      ['a', 'b', 'c', 'c', 'a'].map((visit) => visits.add(visit)),
      [true, true, true, false, true],
    );
  },
});
