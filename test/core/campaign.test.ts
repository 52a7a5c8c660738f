import assert from 'node:assert/strict';
import {
  CAMPAIGN_DATE_FILTERS,
  CAMPAIGN_STATUSES,
  type Campaign,
  changeStatus,
  type DateWindow,
  dateWindows,
  requirePublished,
} from '../../core/campaign/campaign.ts';
import { formatTimestamp, parseEndDate, parseStartDate } from '../../core/shared/date.ts';
import { DAY, NOON } from '../support/core.ts';
import { suite } from '../support/suite.ts';

/** The date filters that match a campaign with these dates at noon of 31 January 2026. */
const dates = [
  { starts: NOON - DAY, ends: NOON - 1, in: ['non-upcoming'] },
  { starts: NOON - DAY, ends: NOON, in: ['active', 'non-upcoming'] },
  { starts: NOON - DAY, ends: NOON + 1, in: ['active', 'non-upcoming'] },
  { starts: NOON - 1, ends: NOON + DAY, in: ['active', 'non-upcoming'] },
  { starts: NOON, ends: NOON + DAY, in: ['active', 'non-upcoming'] },
  { starts: NOON, ends: NOON, in: ['active', 'non-upcoming'] },
  { starts: NOON + 1, ends: NOON + DAY, in: ['upcoming'] },
  { starts: parseStartDate('2026-01-31'), ends: parseEndDate('2026-01-31'), in: ['active', 'non-upcoming'] },
  { starts: parseStartDate('2026-01-30'), ends: parseEndDate('2026-01-30'), in: ['non-upcoming'] },
  { starts: parseStartDate('2026-02-01'), ends: parseEndDate('2026-02-01'), in: ['upcoming'] },
  {
    starts: parseStartDate('2026-01-31T13:00+01:00'),
    ends: parseEndDate('2026-01-31'),
    in: ['active', 'non-upcoming'],
  },
  { starts: parseStartDate('2026-01-31T12:00:00.001'), ends: parseEndDate('2026-01-31'), in: ['upcoming'] },
  {
    starts: parseStartDate('2026-01-31'),
    ends: parseEndDate('2026-01-31T12:00:00.0009'),
    in: ['active', 'non-upcoming'],
  },
] as const;

/** The outcome of a change from the first status to the second. */
const transitions = [
  ['draft', 'draft', 'unchanged'],
  ['draft', 'published', 'changed'],
  ['draft', 'archived', 'changed'],
  ['published', 'draft', 'rejected'],
  ['published', 'published', 'unchanged'],
  ['published', 'archived', 'changed'],
  ['archived', 'draft', 'rejected'],
  ['archived', 'published', 'changed'],
  ['archived', 'archived', 'unchanged'],
] as const;

function createCampaign(fields: Partial<Campaign>): Campaign {
  return { updatedAt: 'before', ...fields } as Campaign;
}

function isInWindow(window: DateWindow, start: number, end: number): boolean {
  const { minStart = -Infinity, maxStart = Infinity, minEnd = -Infinity } = window;
  return start >= minStart && start <= maxStart && end >= minEnd;
}

suite('the date filters of a campaign', {
  'depend only on its dates, and count its start and its end as active': () => {
    for (const { starts, ends, in: expected } of dates) {
      const filters = CAMPAIGN_DATE_FILTERS.filter((filter) =>
        isInWindow(dateWindows[filter](NOON), starts as number, ends as number),
      );
      assert.deepEqual(filters.sort(), expected, `${starts} to ${ends}`);
    }
  },
});

suite('the status of a campaign', {
  'changes only by the allowed transitions': () => {
    const updatedAt = formatTimestamp(NOON);
    assert.equal(transitions.length, CAMPAIGN_STATUSES.length ** 2);
    for (const [from, to, outcome] of transitions) {
      const before = createCampaign({ status: from, updatedAt: '' });
      const change = () => changeStatus(before, to, NOON);
      const title = `${from} to ${to}`;
      if (outcome === 'rejected') assert.throws(change, { kind: 'conflict' }, title);
      if (outcome === 'unchanged') assert.equal(change(), before, title);
      if (outcome === 'changed') assert.deepEqual(change(), { status: to, updatedAt }, title);
    }
  },

  'is named in the error of a rejected transition, together with the allowed statuses': () => {
    assert.throws(() => changeStatus(createCampaign({ status: 'published' }), 'draft', NOON), {
      message: 'The status cannot change from published to draft. Allowed: archived.',
    });
  },

  'must be published before the campaign can be shared or clicked': () => {
    requirePublished(createCampaign({ status: 'published' }));
    for (const status of ['draft', 'archived'] as const) {
      assert.throws(() => requirePublished(createCampaign({ status })), { kind: 'conflict' }, status);
    }
  },
});
