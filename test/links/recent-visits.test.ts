import assert from 'node:assert/strict';
import { RecentVisits } from '../../adapters/links/recent-visits.ts';
import { suite } from '../support/suite.ts';

suite('recent visits', {
  'contain a visit for a fixed duration, which a repeated visit does not extend': () => {
    let now = 0;
    const visits = new RecentVisits(1_000, () => now);
    assert.equal(visits.add('a'), true);
    now = 999;
    assert.equal(visits.add('a'), false);
    assert.equal(visits.add('b'), true);
    now = 1_000;
    assert.deepEqual([visits.add('a'), visits.add('b')], [true, false]);
  },

  'evict the oldest visit if there are too many': () => {
    const visits = new RecentVisits(1_000, () => 0, 2);
    assert.deepEqual(
      ['a', 'b', 'c', 'c', 'a'].map((visit) => visits.add(visit)),
      [true, true, true, false, true],
    );
  },
});
