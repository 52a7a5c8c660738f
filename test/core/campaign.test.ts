import assert from 'node:assert/strict';
import { predicate } from '../../adapters/memory/condition.ts';
import {
  CAMPAIGN_STATUSES,
  CAMPAIGN_WINDOWS,
  type Campaign,
  requirePublished,
  windowConditions,
  withStatus,
} from '../../core/campaign/campaign.ts';
import { endOf, startOf, timestamp } from '../../core/shared/date.ts';
import { DAY, NOON } from '../support/core.ts';
import { suite } from '../support/suite.ts';

/** Which windows hold a campaign of these dates at noon of 31 January 2026. */
const dates = [
  { starts: NOON - DAY, ends: NOON - 1, in: ['non-upcoming'] },
  { starts: NOON - DAY, ends: NOON, in: ['active', 'non-upcoming'] },
  { starts: NOON - DAY, ends: NOON + 1, in: ['active', 'non-upcoming'] },
  { starts: NOON - 1, ends: NOON + DAY, in: ['active', 'non-upcoming'] },
  { starts: NOON, ends: NOON + DAY, in: ['active', 'non-upcoming'] },
  { starts: NOON, ends: NOON, in: ['active', 'non-upcoming'] },
  { starts: NOON + 1, ends: NOON + DAY, in: ['upcoming'] },
  { starts: startOf('2026-01-31'), ends: endOf('2026-01-31'), in: ['active', 'non-upcoming'] },
  { starts: startOf('2026-01-30'), ends: endOf('2026-01-30'), in: ['non-upcoming'] },
  { starts: startOf('2026-02-01'), ends: endOf('2026-02-01'), in: ['upcoming'] },
  { starts: startOf('2026-01-31T13:00+01:00'), ends: endOf('2026-01-31'), in: ['active', 'non-upcoming'] },
  { starts: startOf('2026-01-31T12:00:00.001'), ends: endOf('2026-01-31'), in: ['upcoming'] },
  { starts: startOf('2026-01-31'), ends: endOf('2026-01-31T12:00:00.0009'), in: ['active', 'non-upcoming'] },
] as const;

/** What each status becomes; `refused` where it does not lead to the other. */
const transitions = [
  ['draft', 'draft', 'unchanged'],
  ['draft', 'published', 'changed'],
  ['draft', 'archived', 'changed'],
  ['published', 'draft', 'refused'],
  ['published', 'published', 'unchanged'],
  ['published', 'archived', 'changed'],
  ['archived', 'draft', 'refused'],
  ['archived', 'published', 'changed'],
  ['archived', 'archived', 'unchanged'],
] as const;

function campaign(fields: Partial<Campaign>): Campaign {
  return { updatedAt: 'before', ...fields } as Campaign;
}

suite('the window of a campaign', {
  'follows from its dates alone, its start and its end included': () => {
    for (const { starts, ends, in: expected } of dates) {
      const holds = CAMPAIGN_WINDOWS.filter((window) =>
        predicate(windowConditions[window](NOON))(campaign({ startsAt: starts as number, endsAt: ends as number })),
      );
      assert.deepEqual(holds.sort(), expected, `${starts} to ${ends}`);
    }
  },
});

suite('the status of a campaign', {
  'leads where the table says': () => {
    const updatedAt = timestamp(NOON);
    assert.equal(transitions.length, CAMPAIGN_STATUSES.length ** 2);
    for (const [from, to, outcome] of transitions) {
      const before = campaign({ status: from, archived: from === 'archived', updatedAt: '' });
      const change = () => withStatus(before, to, NOON);
      const title = `${from} to ${to}`;
      if (outcome === 'refused') assert.throws(change, { kind: 'conflict' }, title);
      if (outcome === 'unchanged') assert.equal(change(), before, title);
      if (outcome === 'changed') {
        assert.deepEqual(change(), { status: to, archived: to === 'archived', updatedAt }, title);
      }
    }
  },

  'says where it leads when it refuses': () => {
    assert.throws(() => withStatus(campaign({ status: 'published' }), 'draft', NOON), {
      message: 'A campaign goes from published to archived, not to draft.',
    });
  },

  'must be published for a share or a click': () => {
    requirePublished(campaign({ status: 'published' }));
    for (const status of ['draft', 'archived'] as const) {
      assert.throws(() => requirePublished(campaign({ status })), { kind: 'conflict' }, status);
    }
  },
});
