import assert from 'node:assert/strict';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import { newActivity } from '../../core/activity/activity.ts';
import { OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const DAY = Date.parse('2026-03-01T00:00:00.000Z');
const SHARE = { id: 'm1/c1', workspaceId: OWN, campaignId: 'c1', memberId: 'm1' };

suite('the activity on a share', {
  'is one record for each day in UTC, to which counts are added': async () => {
    const { engine } = testCore();
    const { activity } = createStorage(engine);
    const rewards = '999999999999.9999';
    const add = (shares: number, clicks: number, now: number) =>
      activity.addCounts(OWN, [newActivity(SHARE, { shares, clicks, rewards }, now)]);
    await add(1, 2, DAY);
    await add(0, 40, DAY + 86_399_999);
    await add(0, 3, DAY + 86_400_000);
    const common = { workspaceId: OWN, campaignId: 'c1', memberId: 'm1' };
    assert.deepEqual(await engine.activity.listById(OWN, '', 9), [
      {
        ...common,
        ...{ id: '2026-03-01/m1/c1', day: '2026-03-01', shares: 1, clicks: 42, rewards: '1999999999999.9998' },
        ...{ rewardsHigh: 199_999_999, rewardsLow: 99_999_998 },
      },
      {
        ...common,
        ...{ id: '2026-03-02/m1/c1', day: '2026-03-02', shares: 0, clicks: 3, rewards },
        ...{ rewardsHigh: 99_999_999, rewardsLow: 99_999_999 },
      },
    ]);
  },
});
