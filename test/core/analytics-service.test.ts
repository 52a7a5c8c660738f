import assert from 'node:assert/strict';
import { newActivity } from '../../core/activity/activity.ts';
import type { AnalyticsQuery, AnalyticsRow } from '../../core/analytics/analytics.ts';
import { sortInSteps } from '../../core/shared/sort-in-steps.ts';
import { DAY, NOON, OTHER, OWN, type TestCore, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

/** Counts of the activity that tests add. `day` counts from the day of the tests, 2026-01-31. */
interface Counts {
  readonly day?: number;
  readonly shares?: number;
  readonly clicks?: number;
  readonly rewards?: string;
}

async function addActivity(
  { storage }: TestCore,
  campaignId: string,
  memberId: string,
  { day = 0, shares = 0, clicks = 0, rewards = '0' }: Counts,
  workspaceId = OWN,
): Promise<void> {
  const share = { id: `${memberId}/${campaignId}`, workspaceId, campaignId, memberId };
  await storage.activity.addCounts(workspaceId, [newActivity(share, { shares, clicks, rewards }, NOON + day * DAY)]);
}

const list = async ({ app }: TestCore, query: Partial<AnalyticsQuery> = {}) =>
  (await app.analytics.list(OWN, { groupBy: 'day', page: 1, ...query })).items;

const toText = ({ name, key, shares, clicks, rewards }: AnalyticsRow) =>
  [name || key, shares, clicks, rewards].join(' ').trim();

/** Returns the rows as texts: the name or the key, then the figures. */
const listTexts = async (core: TestCore, query: Partial<AnalyticsQuery>) => (await list(core, query)).map(toText);

/** A workspace with two groups and two tags, three members and three campaigns, and the activity of two days. */
async function createFilled() {
  const core = testCore();
  const { app } = core;
  const [sales, support] = [
    (await app.groups.create(OWN, { name: 'Sales' })).id,
    (await app.groups.create(OWN, { name: 'Support' })).id,
  ];
  const [launch, hiring] = [
    (await app.tags.create(OWN, { name: 'Launch' })).id,
    (await app.tags.create(OWN, { name: 'Hiring' })).id,
  ];
  const createMember = async (name: string, groups: readonly string[]) =>
    (await app.members.create(OWN, { name, email: `${name}@example.com`, groups })).id;
  const [ada, ben, eve] = [
    await createMember('Ada', [sales, support]),
    await createMember('Ben', [support]),
    await createMember('Eve', []),
  ];
  const createCampaign = async (name: string, tagIds: readonly string[]) =>
    (await app.campaigns.create({ workspaceId: OWN }, { ...createCampaignFields(name), tagIds })).id;
  const [spring, summer, autumn] = [
    await createCampaign('Spring', [launch, hiring]),
    await createCampaign('Summer', [launch]),
    await createCampaign('Autumn', []),
  ];
  await addActivity(core, spring, ada, { day: -1, shares: 1, clicks: 10, rewards: '1.5' });
  await addActivity(core, spring, ben, { day: -1, shares: 1 });
  await addActivity(core, spring, ada, { clicks: 5, rewards: '0.0001' });
  await addActivity(core, summer, ben, { shares: 1, clicks: 2 });
  await addActivity(core, autumn, eve, { shares: 1, clicks: 40, rewards: '999999999999.9999' });
  await addActivity(core, spring, 'foreign', { shares: 1, clicks: 9 }, OTHER);
  return { core, ids: { sales, support, launch, hiring, ada, ben, eve, spring, summer, autumn } };
}

suite('analytics', {
  'add up by day, campaign, member, group and tag, and in total': async () => {
    const { core } = await createFilled();
    const range = { from: '2026-01-29' };
    const expected: Record<string, readonly string[]> = {
      total: ['4 57 1000000000001.5'],
      day: ['2026-01-29 0 0 0', '2026-01-30 2 10 1.5', '2026-01-31 2 47 1000000000000'],
      campaign: ['Autumn 1 40 999999999999.9999', 'Spring 2 15 1.5001', 'Summer 1 2 0'],
      member: ['Eve 1 40 999999999999.9999', 'Ada 1 15 1.5001', 'Ben 2 2 0'],
      group: ['Support 3 17 1.5001', 'Sales 1 15 1.5001'],
      tag: ['Launch 3 17 1.5001', 'Hiring 2 15 1.5001'],
    };
    for (const [groupBy, rows] of Object.entries(expected)) {
      assert.deepEqual(await listTexts(core, { groupBy: groupBy as 'day', ...range }), rows, groupBy);
    }
    assert.deepEqual(await list(core, { groupBy: 'total', ...range }), [
      { key: '', name: '', shares: 4, clicks: 57, rewards: '1000000000001.5' },
    ]);
  },

  'has zeros for each day of the range and for the total of an empty workspace, and no other rows': async () => {
    const core = testCore();
    const range = { from: '2026-02-27', to: '2026-03-02' };
    const zero = { name: '', shares: 0, clicks: 0, rewards: '0' };
    const days = ['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'];
    assert.deepEqual(
      await list(core, range),
      days.map((key) => ({ key, ...zero })),
    );
    assert.deepEqual(await list(core, { groupBy: 'total', ...range }), [{ key: '', ...zero }]);
    for (const groupBy of ['campaign', 'member', 'group', 'tag'] as const)
      assert.deepEqual(await list(core, { groupBy, ...range }), []);
  },

  'covers the last 30 days by default, on the clock of the storage': async () => {
    const core = testCore();
    const rangeOf = async (query: Partial<AnalyticsQuery>) => {
      const keys = (await list(core, query)).map(({ key }) => key);
      return [keys[0], keys.at(-1), keys.length];
    };
    assert.deepEqual(await rangeOf({}), ['2026-01-02', '2026-01-31', 30]);
    assert.deepEqual(await rangeOf({ to: '2024-03-01' }), ['2024-02-01', '2024-03-01', 30]);
    assert.deepEqual(await rangeOf({ from: '2026-01-31' }), ['2026-01-31', '2026-01-31', 1]);
    assert.deepEqual(await rangeOf({ from: '2025-01-31' }), ['2025-01-31', '2026-01-31', 366]);
    core.clock.now += DAY / 2;
    assert.deepEqual(await rangeOf({}), ['2026-01-03', '2026-02-01', 30]);
    assert.deepEqual(await rangeOf({ to: '0001-01-01' }), ['0000-12-03', '0001-01-01', 30]);
    assert.deepEqual(await rangeOf({ from: '9999-12-01', to: '9999-12-31' }), ['9999-12-01', '9999-12-31', 31]);
  },

  'rejects a range that is empty or has more than 366 days, also if it ends today by default': async () => {
    const core = testCore();
    const ranges = {
      'to before from': { from: '2026-01-02', to: '2026-01-01' },
      'from after today': { from: '2026-02-01' },
      '367 days': { from: '2024-01-01', to: '2025-01-01' },
      'more than a year ago': { from: '2025-01-30' },
    };
    const problem = { message: 'to: must not be before from, or more than 365 days after it' };
    await each(ranges, (range) => assert.rejects(list(core, range), problem));
  },

  'filters by campaigns, members, groups and tags: any of one filter, and all filters together': async () => {
    const { core, ids } = await createFilled();
    const cases: [Partial<AnalyticsQuery>, string][] = [
      [{ campaignIds: [ids.spring, ids.summer] }, '3 17 1.5001'],
      [{ memberIds: [ids.ada] }, '1 15 1.5001'],
      [{ campaignIds: [ids.spring], memberIds: [ids.ben, ids.eve] }, '1 0 0'],
      [{ groupIds: [ids.sales] }, '1 15 1.5001'],
      [{ groupIds: [ids.sales, ids.support] }, '3 17 1.5001'],
      [{ tagIds: [ids.hiring] }, '2 15 1.5001'],
      [{ tagIds: [ids.hiring], groupIds: [ids.sales] }, '1 15 1.5001'],
      [{ tagIds: [ids.launch], memberIds: [ids.ben] }, '2 2 0'],
      ...(['campaignIds', 'memberIds', 'groupIds', 'tagIds'] as const).flatMap((name): [object, string][] => [
        [{ [name]: ['unknown'] }, '0 0 0'],
        [{ [name]: [] }, '0 0 0'],
      ]),
    ];
    for (const [filter, expected] of cases) {
      assert.deepEqual(await listTexts(core, { groupBy: 'total', ...filter }), [expected], JSON.stringify(filter));
      const days = await list(core, filter);
      assert.equal(
        days.reduce((sum, { clicks }) => sum + clicks, 0),
        Number(expected.split(' ')[1]),
      );
    }
  },

  'has rows only for the groups and tags of a filter, if it groups by these': async () => {
    const { core, ids } = await createFilled();
    assert.deepEqual(await listTexts(core, { groupBy: 'group', groupIds: [ids.sales] }), ['Sales 1 15 1.5001']);
    assert.deepEqual(await listTexts(core, { groupBy: 'tag', tagIds: [ids.hiring] }), ['Hiring 2 15 1.5001']);
    const groupsOfTag = await listTexts(core, { groupBy: 'group', tagIds: [ids.hiring] });
    assert.deepEqual(groupsOfTag, ['Support 2 15 1.5001', 'Sales 1 15 1.5001']);
    const tagsOfGroup = await listTexts(core, { groupBy: 'tag', groupIds: [ids.sales] });
    assert.deepEqual(tagsOfGroup.toSorted(), ['Hiring 1 15 1.5001', 'Launch 1 15 1.5001']);
  },

  'counts the present groups and tags, and keeps the rows of deleted members without a name': async () => {
    const { core, ids } = await createFilled();
    const { app } = core;
    await app.members.update(OWN, ids.eve, { groups: [ids.sales] });
    await app.campaigns.update({ workspaceId: OWN }, ids.summer, { tagIds: [] });
    assert.deepEqual(await listTexts(core, { groupBy: 'group' }), [
      'Sales 2 55 1000000000001.5',
      'Support 3 17 1.5001',
    ]);
    await app.members.remove(OWN, ids.ada);
    await app.groups.remove(OWN, ids.support);
    await app.tags.remove(OWN, ids.launch);
    assert.deepEqual(await listTexts(core, { groupBy: 'group' }), ['Sales 1 40 999999999999.9999']);
    assert.deepEqual(await listTexts(core, { groupBy: 'tag' }), ['Hiring 2 15 1.5001']);
    const ofDeleted = { groupBy: 'total', groupIds: [ids.support] } as const;
    assert.deepEqual(await listTexts(core, ofDeleted), ['0 0 0']);
    assert.deepEqual(await listTexts(core, { groupBy: 'total', tagIds: [ids.launch] }), ['0 0 0']);
    const leaderboard = await list(core, { groupBy: 'member' });
    const { name, clicks } = leaderboard.find(({ key }) => key === ids.ada) as AnalyticsRow;
    assert.deepEqual([name, clicks], ['', 15]);
    assert.equal((await listTexts(core, { groupBy: 'total' }))[0], '4 57 1000000000001.5');
  },

  'sorts by each field in both directions, and equal rows by their keys in the same direction': async () => {
    const core = testCore();
    for (const [key, shares, clicks, rewards] of [
      ['a', 1, 5, '10'],
      ['b', 2, 5, '9'],
      ['c', 2, 7, '9'],
    ] as const)
      await addActivity(core, key, 'ada', { shares, clicks, rewards });
    const keysOf = async (query: Partial<AnalyticsQuery>) =>
      (await list(core, { groupBy: 'campaign', ...query })).map(({ key }) => key).join('');
    const orders = { key: 'abc', shares: 'abc', clicks: 'abc', rewards: 'bca' } as const;
    for (const [sortBy, keys] of Object.entries(orders) as ['key', string][]) {
      const reversed = [...keys].reverse().join('');
      assert.equal(await keysOf({ sortBy, sortOrder: 'asc' }), keys, sortBy);
      assert.equal(await keysOf({ sortBy, sortOrder: 'desc' }), reversed, sortBy);
      assert.equal(await keysOf({ sortBy }), sortBy === 'key' ? keys : reversed, sortBy);
    }
    assert.equal(await keysOf({}), 'cba');
    assert.equal(await keysOf({ sortOrder: 'asc' }), 'abc');
    const days = await list(core, { sortBy: 'clicks', from: '2026-01-29' });
    assert.deepEqual(
      days.map(({ key }) => key.slice(-2)),
      ['31', '30', '29'],
    );
  },

  'returns pages, of 50 rows by default': async () => {
    const core = testCore();
    for (let i = 0; i < 51; i++) await addActivity(core, `${i}`.padStart(2, '0'), 'ada', { clicks: 1 });
    const read = (query: Partial<AnalyticsQuery>) =>
      core.app.analytics.list(OWN, { groupBy: 'campaign', page: 1, ...query });
    const first = await read({});
    assert.deepEqual([first.items.length, first.items[0]?.key, first.hasNext], [50, '50', true]);
    const second = await read({ page: 2 });
    assert.deepEqual([second.items.map(({ key }) => key), second.hasNext], [['00'], false]);
    assert.deepEqual(await read({ page: 3 }), { items: [], hasNext: false });
    const middle = await read({ page: 2, pageSize: 17, sortBy: 'key' });
    assert.deepEqual([middle.items[0]?.key, middle.items.length, middle.hasNext], ['17', 17, true]);
    assert.equal((await read({ page: 3, pageSize: 17 })).hasNext, false);
  },

  'stop reading when nobody waits for them': async () => {
    const { core } = await createFilled();
    let checkCount = 0;
    const isAbandoned = () => ++checkCount === 2;
    await assert.rejects(list(core, { from: '2025-06-01', isAbandoned }), { kind: 'invalid' });
    assert.equal(checkCount, 2);
  },
});

suite('sortInSteps', {
  'sorts like the built-in function, and pauses': async () => {
    const items = Array.from({ length: 10_001 }, (_, i) => ({ key: (i * 7_919) % 101, i }));
    let pauseCount = 0;
    const pause = async () => {
      pauseCount++;
    };
    const compare = (a: { key: number }, b: { key: number }) => a.key - b.key;
    assert.deepEqual(await sortInSteps(items, compare, pause), items.toSorted(compare));
    assert.ok(pauseCount > 5, `${pauseCount}`);
  },
});
