import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { Collection } from '../../adapters/memory/collection.ts';
import { SortedList } from '../../adapters/memory/sorted-list.ts';
import {
  type Campaign,
  type CampaignWindow,
  campaignSchema,
  sortFields,
  windowConditions,
} from '../../core/campaign/campaign.ts';
import type { Condition, Query } from '../../core/shared/record-store.ts';
import { campaign, newId } from '../contract/samples.ts';
import { suite } from '../support/suite.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const PAGE = 26;

type Where = readonly Condition<Campaign>[];

/** How many records a list may look at, of a workspace of some size. */
interface Case {
  readonly title: string;
  readonly query: Partial<Query<Campaign>>;
  readonly atMost: number;
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

function casesOf(size: number): Case[] {
  const now = size * HOUR;
  const sorts = Object.values(sortFields);
  const orders = ['asc', 'desc'] as const;
  const pages = [0, size / 2, size - 5, size + 5];
  const wheres: Where[] = [[], [live], [liveOrArchived]];
  return [
    ...sorts.flatMap((by) =>
      orders.flatMap((order) =>
        pages.flatMap((skip) =>
          wheres.map((where) => ({ title: 'a page of an order', query: { where, by, order, skip }, atMost: 2 * PAGE })),
        ),
      ),
    ),
    ...Object.entries(byValue).flatMap(([title, condition]) =>
      (title === 'one of some tags' ? [0] : [0, size / 25]).map((skip) => ({
        title,
        query: { where: [condition], skip },
        atMost: 2 * PAGE,
      })),
    ),
    ...inUse.map((title) => ({
      title: `${title}, live`,
      query: { where: [byValue[title] as Condition<Campaign>, live] },
      atMost: 2 * PAGE,
    })),
    ...(Object.keys(windowConditions) as CampaignWindow[]).flatMap((window) =>
      sorts.flatMap((by) =>
        [now, now / 2].map((at) => ({
          title: `${window}, ${at === now ? 'all' : 'half of them'} made by then`,
          query: { where: [...windowConditions[window](at), live], by },
          atMost: (at === now ? 10 : 60) * PAGE,
        })),
      ),
    ),
  ];
}

suite('what a list in memory looks at', {
  'is about a page of 500 and of 50,000 campaigns': async () => {
    for (const size of [500, 50_000]) {
      const list = workspaceOf(size);
      for (const { title, query, atMost } of casesOf(size)) {
        const looks = list(query);
        assert.ok(looks <= atMost, `${looks} looks of ${size}, more than ${atMost}: ${title} ${JSON.stringify(query)}`);
      }
    }
  },

  'is next to nothing for a search that finds nothing, soon after the second; everything for one of two letters':
    async () => {
      const list = workspaceOf(500);
      const looksFor = (contains: string) => list({ where: [{ field: 'searchText', contains }] });
      looksFor('winter');
      for (let turn = 0; turn < 20; turn++) await setImmediate();
      assert.ok(looksFor('winter') <= 10);
      assert.equal(looksFor('wi'), 500);
    },
});

/**
 * Makes a workspace with one campaign an hour, each starting within ten days and lasting a month at most. Old and new
 * ones differ in tag, domain and creator, and the older ones are archived, so that what a filter finds is not spread
 * evenly. Returns what tells how many records a list reads, or steps over in an index, when it is asked for again.
 */
function workspaceOf(size: number): (query: Partial<Query<Campaign>>) => number {
  const campaigns = new Collection<Campaign>(
    campaignSchema,
    () => 0,
    () => undefined,
  );
  const workspaceId = newId();
  const looked = new Set<Campaign>();
  const spy: ProxyHandler<Campaign> = {
    get(record, field) {
      looked.add(record);
      return record[field as keyof Campaign];
    },
  };
  const timestamp = (hour: number) => new Date(hour * HOUR).toISOString();
  for (let hour = 0; hour < size; hour++) {
    const startsAt = hour * HOUR + (hour % 10) * DAY;
    const record = campaign(workspaceId, {
      archived: hour < 0.4 * size,
      createdAt: timestamp(hour),
      updatedAt: timestamp(hour + ((hour * 7919) % size)),
      startsAt,
      endsAt: startsAt + (1 + (hour % 30)) * DAY,
      tagIds: ['every', hour < 0.1 * size ? 'old' : 'new', `tag ${hour % 10}`],
      domain: hour < 0.3 * size ? 'old.example' : 'new.example',
      createdBy: hour < 0.2 * size ? 'left' : `member ${hour % 10}`,
      searchText: 'summer',
    });
    campaigns.set(record.id, new Proxy(record, spy));
  }
  return (query) => {
    const listed = () => campaigns.list({ where: [], by: 'createdAt', order: 'desc', skip: 0, take: PAGE, ...query });
    listed();
    looked.clear();
    const steps = countingSteps(listed);
    return Math.max(looked.size, steps);
  };
}

/** How many values the sorted lists give while something is done. */
function countingSteps(work: () => unknown): number {
  const { ascending, descending } = SortedList.prototype;
  let steps = 0;
  function* counted(values: Iterable<unknown>): Generator<unknown> {
    for (const value of values) {
      steps++;
      yield value;
    }
  }
  SortedList.prototype.ascending = function (...ranks) {
    return counted(ascending.apply(this, ranks));
  };
  SortedList.prototype.descending = function (...ranks) {
    return counted(descending.apply(this, ranks));
  };
  try {
    work();
  } finally {
    Object.assign(SortedList.prototype, { ascending, descending });
  }
  return steps;
}
