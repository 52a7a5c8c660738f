import assert from 'node:assert/strict';
import {
  type ActivityRecord,
  activitySchema,
  createActivityRepository,
} from '../../adapters/persistence/activities.ts';
import type { Condition, Field, SumQuery } from '../../adapters/persistence/record-store.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { addAll } from '../support/add-all.ts';
import { collectAll } from '../support/collect-all.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { quickOrLong } from '../support/scale.ts';
import type { Tests } from '../support/suite.ts';
import { buildActivity, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const MANY_COUNT = quickOrLong(1_500, 10_000);
/** The maximum number of records that an engine examines to add up ten. */
const MAX_EXAMINED_COUNT = 60;

/** The day, the campaign, the member, the shares and the clicks of an activity. */
type Counts = readonly [day: string, campaignId: string, memberId: string, shares: number, clicks: number];

const ACTIVITY: readonly Counts[] = [
  ['2026-03-01', 'spring', 'ada', 1, 5],
  ['2026-03-01', 'spring', 'ben', 1, 0],
  ['2026-03-01', 'summer', 'ada', 0, 7],
  ['2026-03-02', 'summer', 'ben', 1, 2 ** 31],
  ['2026-03-03', 'summer', 'eve', 0, 2 ** 31],
];

/** Queries, and their sums, in the order of their values. */
const cases: readonly (readonly [SumQuery<ActivityRecord>, readonly object[]])[] = [
  [{ where: [], groupBy: [], columns: ['shares', 'clicks'] }, [{ shares: 3, clicks: 2 ** 32 + 12 }]],
  [
    { where: [], groupBy: ['campaignId'], columns: ['clicks'] },
    [
      { campaignId: 'spring', clicks: 5 },
      { campaignId: 'summer', clicks: 2 ** 32 + 7 },
    ],
  ],
  [
    { where: [isOneOf('memberId', 'ada', 'ben')], groupBy: ['memberId'], columns: ['shares'] },
    [
      { memberId: 'ada', shares: 1 },
      { memberId: 'ben', shares: 2 },
    ],
  ],
  [
    {
      where: [isOneOf('day', '2026-03-01', '2026-03-02'), isOneOf('campaignId', 'summer')],
      groupBy: ['day', 'memberId'],
      columns: ['clicks', 'shares'],
    },
    [
      { day: '2026-03-01', memberId: 'ada', clicks: 7, shares: 0 },
      { day: '2026-03-02', memberId: 'ben', clicks: 2 ** 31, shares: 1 },
    ],
  ],
  [{ where: [], groupBy: ['memberId'], columns: [] }, [{ memberId: 'ada' }, { memberId: 'ben' }, { memberId: 'eve' }]],
  [
    { where: [{ field: 'clicks', from: 1 }, isOneOf('memberId', 'ada')], groupBy: [], columns: ['clicks'] },
    [{ clicks: 12 }],
  ],
  [{ where: [isOneOf('day', '2026-03-04')], groupBy: [], columns: ['clicks'] }, []],
  [{ where: [isOneOf('campaignId')], groupBy: ['memberId'], columns: ['clicks'] }, []],
];

function isOneOf(field: Field<ActivityRecord>, ...values: readonly string[]): Condition<ActivityRecord> {
  return { field, in: values };
}

/** Returns the tests of `RecordStore.sum`. */
export function defineSumTests(test: CreateStorageTest, { countExaminedRecords }: TestEngine): Tests {
  const tests: Tests = {
    'adds up the columns of the records of each group, also in a transaction': test(async (storage) => {
      const workspaceId = newId();
      const foreign = createActivity(newId(), '2026-03-01', 'spring', 'ada', 1, 1);
      await addAll(storage.activity, [foreign, ...ACTIVITY.map((it) => createActivity(workspaceId, ...it))]);
      const check = async ({ activity }: StorageEngine) => {
        for (const [query, expected] of cases) {
          assert.deepEqual(sort(await activity.sum(workspaceId, query)), expected, JSON.stringify(query));
        }
        assert.deepEqual(await activity.sum(newId(), { where: [], groupBy: [], columns: ['clicks'] }), []);
      };
      await check(storage);
      await storage.runInTransaction(check);
    }),

    'adds up the changes of a transaction, and keeps none that fails': test(async (storage) => {
      const workspaceId = newId();
      const query = { where: [], groupBy: [], columns: ['clicks'] } as const;
      const first = createActivity(workspaceId, '2026-03-01', 'spring', 'ada', 1, 1);
      await storage.activity.add(first);
      const failing = storage.runInTransaction(async ({ activity }) => {
        await activity.add(createActivity(workspaceId, '2026-03-01', 'spring', 'ben', 1, 3));
        await activity.update(workspaceId, first.id, (it) => ({ ...it, clicks: 5 }));
        assert.deepEqual(await activity.sum(workspaceId, query), [{ clicks: 8 }]);
        throw new Error('the work throws');
      });
      await assert.rejects(failing, /the work throws/);
      assert.deepEqual(await storage.activity.sum(workspaceId, query), [{ clicks: 1 }]);
    }),

    'returns exact sums below 2^53': test(async ({ activity }) => {
      const workspaceId = newId();
      const clicks = [2 ** 52 - 1, 1, 2 ** 31, 2 ** 52 - 2 ** 31 - 2, 1];
      await addAll(
        activity,
        clicks.map((count, i) => createActivity(workspaceId, '2026-03-01', 'spring', `${i}`, 0, count)),
      );
      const sums = await activity.sum(workspaceId, { where: [], groupBy: ['day'], columns: ['clicks'] });
      assert.deepEqual(sums, [{ day: '2026-03-01', clicks: Number.MAX_SAFE_INTEGER }]);
    }),

    'returns exact rewards whose units are beyond 2^53': test(async ({ activity }) => {
      const workspaceId = newId();
      const rewards = ['999999999999.9999', '999999999999.9999', '0.0001', '12345678901.2345'];
      const records = rewards.map((amount) => {
        const record = createActivity(workspaceId, '2026-03-01', 'spring', 'ada', 0, 1);
        return activitySchema.toRecord({ ...activitySchema.toEntity(record), rewards: amount });
      });
      await addAll(activity, records);
      const days = ['2026-03-01'];
      const [sums] = await collectAll(createActivityRepository(activity).sum(workspaceId, { days }, ['memberId']));
      const expected = { day: '', campaignId: '', memberId: 'ada', shares: 0, clicks: 4 };
      assert.deepEqual(sums, [{ ...expected, rewards: 20_123_456_789_012_344n }]);
    }),
  };
  if (typeof countExaminedRecords === 'string') return tests;
  return {
    ...tests,
    'examines only the activity of the given days': test(async ({ activity }, { location }) => {
      const workspaceId = newId();
      const create = (day: string) => (_: unknown, i: number) =>
        createActivity(workspaceId, day, `${i % 9}`, `${i}`, 1, 1);
      await addAll(activity, Array.from({ length: MANY_COUNT }, create('2026-03-01')));
      await addAll(activity, Array.from({ length: 10 }, create('2026-03-02')));
      const count = (...days: string[]) =>
        countExaminedRecords(location, () =>
          activity.sum(workspaceId, { where: [isOneOf('day', ...days)], groupBy: ['memberId'], columns: ['clicks'] }),
        );
      const [few, many] = [await count('2026-03-02', '2026-03-03'), await count('2026-03-01')];
      assert.ok(few > 0 && few <= MAX_EXAMINED_COUNT && many >= MANY_COUNT / 4, `${few}, and then ${many}`);
    }),
  };
}

function createActivity(workspaceId: string, ...[day, campaignId, memberId, shares, clicks]: Counts): ActivityRecord {
  return buildActivity(workspaceId, { id: newId(), day, campaignId, memberId, shares, clicks });
}

function sort<T extends object>(records: readonly T[]): T[] {
  return records.toSorted((a, b) => (JSON.stringify(Object.values(a)) < JSON.stringify(Object.values(b)) ? -1 : 1));
}
