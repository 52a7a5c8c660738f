import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { Collection } from '../../adapters/memory/collection.ts';
import { SortedList } from '../../adapters/memory/sorted-list.ts';
import {
  type Campaign,
  type CampaignDateFilter,
  campaignSchema,
  dateFilterConditions,
  sortFields,
} from '../../core/campaign/campaign.ts';
import type { Condition, Query } from '../../core/shared/record-store.ts';
import { buildCampaign, newId } from '../contract/samples.ts';
import { suite } from '../support/suite.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const PAGE_SIZE = 26;

type Where = readonly Condition<Campaign>[];

/** A list, and how many records it may examine. */
interface Case {
  readonly title: string;
  readonly query: Partial<Query<Campaign>>;
  readonly maxExaminedCount: number;
}

const live: Condition<Campaign> = { field: 'archived', in: [false] };
const liveOrArchived: Condition<Campaign> = { field: 'archived', in: [false, true] };

const byValue: Readonly<Record<string, Condition<Campaign>>> = {
  archived: { field: 'archived', is: true },
  'an old tag': { field: 'tagIds', in: ['old'] },
  'a tag': { field: 'tagIds', in: ['tag 3'] },
  'one of some tags': { field: 'tagIds', in: ['old', 'tag 3', 'tag 4'] },
  'an unknown tag': { field: 'tagIds', in: ['none'] },
  'an old domain': { field: 'domain', in: ['old.example'] },
  'no domain': { field: 'domain', in: [] },
  'a member': { field: 'createdBy', is: 'member 3' },
  'a member who left': { field: 'createdBy', is: 'left' },
  'a tag of every campaign': { field: 'tagIds', in: ['every'] },
};

const inUse = ['a tag', 'one of some tags', 'an unknown tag', 'no domain', 'a member'];

function createCases(size: number): Case[] {
  const now = size * HOUR_MS;
  const sorts = Object.values(sortFields);
  const orders = ['asc', 'desc'] as const;
  const pages = [0, size / 2, size - 5, size + 5];
  const wheres: Where[] = [[], [live], [liveOrArchived]];
  return [
    ...sorts.flatMap((by) =>
      orders.flatMap((order) =>
        pages.flatMap((skip) =>
          wheres.map((where) => ({
            title: 'a page of an order',
            query: { where, by, order, skip },
            maxExaminedCount: 2 * PAGE_SIZE,
          })),
        ),
      ),
    ),
    ...Object.entries(byValue).flatMap(([title, condition]) =>
      (title === 'one of some tags' ? [0] : [0, size / 25]).map((skip) => ({
        title,
        query: { where: [condition], skip },
        maxExaminedCount: 2 * PAGE_SIZE,
      })),
    ),
    ...inUse.map((title) => ({
      title: `${title}, live`,
      query: { where: [byValue[title] as Condition<Campaign>, live] },
      maxExaminedCount: 2 * PAGE_SIZE,
    })),
    ...(Object.keys(dateFilterConditions) as CampaignDateFilter[]).flatMap((filter) =>
      sorts.flatMap((by) =>
        [now, now / 2].map((at) => ({
          title: `${filter}, ${at === now ? 'all' : 'half of them'} created by then`,
          query: { where: [...dateFilterConditions[filter](at), live], by },
          maxExaminedCount: (at === now ? 10 : 60) * PAGE_SIZE,
        })),
      ),
    ),
  ];
}

suite('a list in memory', {
  'examines about a page of records, of 500 and of 50,000 campaigns': async () => {
    for (const size of [500, 50_000]) {
      const list = createWorkspace(size);
      for (const { title, query, maxExaminedCount } of createCases(size)) {
        const examinedCount = list(query);
        assert.ok(
          examinedCount <= maxExaminedCount,
          `${examinedCount} examined of ${size}, more than ${maxExaminedCount}: ${title} ${JSON.stringify(query)}`,
        );
      }
    }
  },

  'examines almost nothing for a search without matches after the second search, and everything for two letters':
    async () => {
      const list = createWorkspace(500);
      const countExaminedFor = (contains: string) => list({ where: [{ field: 'searchText', contains }] });
      countExaminedFor('winter');
      for (let iteration = 0; iteration < 20; iteration++) await setImmediate();
      assert.ok(countExaminedFor('winter') <= 10);
      assert.equal(countExaminedFor('wi'), 500);
    },
});

/**
 * Creates a workspace with one campaign an hour. Each starts within ten days and lasts at most a month. Old and new
 * campaigns differ in tag, domain and creator, and the older ones are archived, so that matches are not spread evenly.
 * Returns a function that returns how many records the second run of a list examines, in records or in index entries.
 */
function createWorkspace(size: number): (query: Partial<Query<Campaign>>) => number {
  const campaigns = new Collection<Campaign>(
    campaignSchema,
    () => 0,
    () => undefined,
  );
  const workspaceId = newId();
  const examined = new Set<Campaign>();
  const spy: ProxyHandler<Campaign> = {
    get(record, field) {
      examined.add(record);
      return record[field as keyof Campaign];
    },
  };
  const timestamp = (hour: number) => new Date(hour * HOUR_MS).toISOString();
  for (let hour = 0; hour < size; hour++) {
    const startsAt = hour * HOUR_MS + (hour % 10) * DAY_MS;
    const record = buildCampaign(workspaceId, {
      archived: hour < 0.4 * size,
      createdAt: timestamp(hour),
      updatedAt: timestamp(hour + ((hour * 7919) % size)),
      startsAt,
      endsAt: startsAt + (1 + (hour % 30)) * DAY_MS,
      tagIds: ['every', hour < 0.1 * size ? 'old' : 'new', `tag ${hour % 10}`],
      domain: hour < 0.3 * size ? 'old.example' : 'new.example',
      createdBy: hour < 0.2 * size ? 'left' : `member ${hour % 10}`,
      searchText: 'summer',
    });
    campaigns.set(record.id, new Proxy(record, spy));
  }
  return (query) => {
    const list = () =>
      campaigns.list({ where: [], by: 'createdAt', order: 'desc', skip: 0, take: PAGE_SIZE, ...query });
    list();
    examined.clear();
    const stepCount = countSteps(list);
    return Math.max(examined.size, stepCount);
  };
}

/** Returns how many values the sorted lists return while `work` runs. */
function countSteps(work: () => unknown): number {
  const { iterateAscending: ascending, iterateDescending: descending } = SortedList.prototype;
  let stepCount = 0;
  function* count(values: Iterable<unknown>): Generator<unknown> {
    for (const value of values) {
      stepCount++;
      yield value;
    }
  }
  SortedList.prototype.iterateAscending = function (...ranks) {
    return count(ascending.apply(this, ranks));
  };
  SortedList.prototype.iterateDescending = function (...ranks) {
    return count(descending.apply(this, ranks));
  };
  try {
    work();
  } finally {
    Object.assign(SortedList.prototype, { ascending, descending });
  }
  return stepCount;
}
