import assert from 'node:assert/strict';
import {
  CAMPAIGN_STATUSES,
  type Campaign,
  type CampaignChange,
  changeCampaign,
  requireRunning,
} from '../../core/campaign/campaign.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON } from '../support/core.ts';
import { parseDates, type WithDateTexts } from '../support/parse-dates.ts';
import { suite } from '../support/suite.ts';

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
  const texts = { startDate: '2026-01-31', endDate: '2026-02-28' };
  const times = { startsAt: Date.UTC(2026, 0, 31), endsAt: Date.UTC(2026, 2, 1) - 1 };
  return { ...texts, ...times, updatedAt: formatTimestamp(0), ...fields } as Campaign;
}

suite('a change of a campaign', {
  'is rejected if the campaign would end before it starts; an omitted date keeps its value': () => {
    const cases: readonly (readonly [WithDateTexts<CampaignChange>, boolean])[] = [
      [{ startDate: '2026-02-28' }, true],
      [{ startDate: '2026-03-01' }, false],
      [{ endDate: '2026-01-31' }, true],
      [{ endDate: '2026-01-30' }, false],
      [{ endDate: '2026-01-31T00:00:00Z' }, true],
      [{ endDate: '2026-01-31T00:00:00+00:01' }, false],
      [{ startDate: '2027-01-01', endDate: '2027-01-01' }, true],
      [{ startDate: '2027-01-02', endDate: '2027-01-01' }, false],
      [{ name: 'only' }, true],
    ];
    for (const [change, isAllowed] of cases) {
      const before = createCampaign({ status: 'draft' });
      const parsed: CampaignChange = parseDates(change);
      const apply = () => changeCampaign(before, parsed, NOON);
      const title = JSON.stringify(change);
      const startsAt = parsed.startDate?.time ?? before.startsAt;
      const endsAt = parsed.endDate?.time ?? before.endsAt;
      const expected = { ...before, ...change, startsAt, endsAt, updatedAt: formatTimestamp(NOON) };
      if (isAllowed) assert.deepEqual(apply(), expected, title);
      else assert.throws(apply, { kind: 'invalid', message: 'endDate: must not be before startDate' }, title);
    }
  },

  'clears a field that is set to null, and changes nothing if every value equals the current one': () => {
    const values = {
      domain: 'a.example',
      image: 'https://a.b',
      targetShares: 5,
      contentPillarId: 'p',
      tagIds: ['t'],
      resources: [{ url: 'https://a.b', width: 0, size: 1 }, { url: 'https://a.c' }],
    };
    const before = createCampaign({ status: 'draft', ...values });
    const equal = { ...structuredClone(values), status: 'draft', name: undefined } as const;
    assert.equal(changeCampaign(before, equal, NOON), before);
    assert.equal(changeCampaign(before, {}, NOON), before);
    const removed = { domain: null, image: null, targetShares: null, contentPillarId: null };
    const after = changeCampaign(before, removed, NOON);
    assert.deepEqual(after, { ...before, ...removed, updatedAt: formatTimestamp(NOON) });
    assert.equal(changeCampaign(after, removed, NOON + 1), after);
  },

  'is rejected because of its dates if neither its dates nor its status are allowed': () => {
    const change = { status: 'draft', ...parseDates({ endDate: '2026-01-01' }) } as const;
    assert.throws(() => changeCampaign(createCampaign({ status: 'published' }), change, NOON), { kind: 'invalid' });
  },
});

suite('the status of a campaign', {
  'changes only by the allowed transitions': () => {
    const updatedAt = formatTimestamp(NOON);
    assert.equal(transitions.length, CAMPAIGN_STATUSES.length ** 2);
    for (const [from, to, outcome] of transitions) {
      const before = createCampaign({ status: from });
      const change = () => changeCampaign(before, { status: to }, NOON);
      const title = `${from} to ${to}`;
      if (outcome === 'rejected') assert.throws(change, { kind: 'conflict' }, title);
      if (outcome === 'unchanged') assert.equal(change(), before, title);
      if (outcome === 'changed') assert.deepEqual(change(), { ...before, status: to, updatedAt }, title);
    }
  },

  'is named in the error of a rejected transition, together with the allowed statuses': () => {
    assert.throws(() => changeCampaign(createCampaign({ status: 'published' }), { status: 'draft' }, NOON), {
      message: 'The status cannot change from published to draft. Allowed: archived.',
    });
  },

  'must be published, and the time between start and end, before the campaign can be shared': () => {
    const { startsAt, endsAt } = createCampaign({});
    for (const now of [startsAt, endsAt]) requireRunning(createCampaign({ status: 'published' }), now);
    const cases = [
      ['draft', startsAt, /^The campaign is a draft\. /],
      ['archived', endsAt + 1, /^The campaign is archived and has ended\. /],
      ['published', startsAt - 1, /^The campaign has not started\. /],
      ['published', endsAt + 1, /^The campaign has ended\. /],
    ] as const;
    for (const [status, now, message] of cases) {
      assert.throws(() => requireRunning(createCampaign({ status }), now), { kind: 'conflict', message }, status);
    }
  },
});
