import assert from 'node:assert/strict';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { Condition, Query, RecordStore } from '../../adapters/persistence/record-store.ts';
import { buildSearchText } from '../../adapters/persistence/search-text.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { storeSchemas } from '../../adapters/persistence/store-schemas.ts';
import type { Share } from '../../core/share/share.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { fold } from '../../core/shared/text.ts';
import { addAll } from '../support/add-all.ts';
import type { Tests } from '../support/suite.ts';
import { buildCampaign, buildPillar, buildQuestion, buildShare, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const formatDay = (number: number) => `2026-03-0${number}T00:00:00.000Z`;

/** Campaigns by their names, in the order of their IDs. */
const campaigns: Readonly<Record<string, Partial<CampaignRecord>>> = {
  a: {
    createdAt: formatDay(1),
    updatedAt: formatDay(9),
    startsAt: 10,
    endsAt: 20,
    tagIds: ['red', 'blue'],
    domain: 'a.example',
  },
  b: { createdAt: formatDay(2), updatedAt: formatDay(8), startsAt: 20, endsAt: 30, tagIds: ['blue'], createdBy: 'ada' },
  c: {
    createdAt: formatDay(2),
    updatedAt: formatDay(8),
    startsAt: 20,
    endsAt: 90,
    tagIds: [],
    archived: true,
    createdBy: 'ada',
  },
  d: {
    createdAt: formatDay(2),
    updatedAt: formatDay(7),
    startsAt: 30,
    endsAt: 40,
    tagIds: ['red'],
    domain: 'a.example',
  },
  e: {
    createdAt: formatDay(4),
    updatedAt: formatDay(6),
    startsAt: 5,
    endsAt: 90,
    tagIds: ['red', 'blue', 'red'],
    archived: true,
  },
  f: { createdAt: formatDay(3), updatedAt: formatDay(7), startsAt: 40, endsAt: 50, tagIds: ['Red'], createdBy: 'ada' },
};

type Where = Condition<CampaignRecord>;
const isOneOf = (field: keyof CampaignRecord, ...values: (string | boolean)[]): Where => ({ field, in: values });
const isBetween = (field: 'startsAt' | 'endsAt', bounds: { from?: number; to?: number }): Where => ({
  field,
  ...bounds,
});

/** Conditions, and the names of the campaigns that meet them. */
const conditionCases: readonly (readonly [where: readonly Where[], names: string])[] = [
  [[], 'abcdef'],
  [[isOneOf('archived', false)], 'abdf'],
  [[isOneOf('archived', true)], 'ce'],
  [[isOneOf('archived', false, true)], 'abcdef'],
  [[isOneOf('createdBy', 'ada')], 'bcf'],
  [[isOneOf('createdBy', 'nobody')], ''],
  [[isOneOf('name', 'd')], 'd'],
  [[isOneOf('domain', 'a.example')], 'ad'],
  [[isOneOf('domain', 'a.example', 'b.example', 'a.example')], 'ad'],
  [[isOneOf('domain')], ''],
  [[isOneOf('name', 'b', 'f', 'x')], 'bf'],
  [[isOneOf('tagIds', 'red')], 'ade'],
  [[isOneOf('tagIds', 'blue', 'red')], 'abde'],
  [[isOneOf('tagIds', 'Red', 'green')], 'f'],
  [[isOneOf('tagIds', 'green')], ''],
  [[isOneOf('tagIds')], ''],
  [[isBetween('startsAt', { from: 20 })], 'bcdf'],
  [[isBetween('startsAt', { from: 21 })], 'df'],
  [[isBetween('startsAt', { to: 20 })], 'abce'],
  [[isBetween('startsAt', { to: 19 })], 'ae'],
  [[isBetween('startsAt', { from: 10, to: 30 })], 'abcd'],
  [[isBetween('startsAt', { from: 20, to: 20 })], 'bc'],
  [[isBetween('startsAt', { from: 30, to: 20 })], ''],
  [[isBetween('startsAt', { to: 20 }), isBetween('endsAt', { from: 30 })], 'bce'],
  [[isBetween('startsAt', { from: 10 }), isBetween('startsAt', { to: 30 })], 'abcd'],
  [[isOneOf('archived', false), isOneOf('tagIds', 'red', 'Red')], 'adf'],
  [[isOneOf('tagIds', 'red'), isOneOf('tagIds', 'blue')], 'ae'],
  [[isOneOf('tagIds', 'red'), isOneOf('tagIds')], ''],
  [
    [
      isOneOf('archived', true),
      isOneOf('createdBy', 'ada'),
      isBetween('startsAt', { from: 20 }),
      isBetween('endsAt', { to: 90 }),
    ],
    'c',
  ],
  [[{ field: 'searchText', contains: 'summer' }, isOneOf('archived', false), isBetween('startsAt', { to: 30 })], 'abd'],
];

/** The names in the ascending order of each field. Of equal records, the smaller ID comes first. */
const orders = { createdAt: 'abcdfe', updatedAt: 'edfbca', startsAt: 'eabcdf' } as const;

/** The `skip` and `take` of each page. */
const pageWindows = [
  [0, 99],
  [0, 1],
  [1, 2],
  [2, 3],
  [5, 5],
  [99, 5],
  [0, 0],
] as const;

const SEARCHED_TEXTS = ['Straße 50% off*', 'ÉCOLE', 'Ecole', 'a.c [x] (y) \\ ^$ |+?', 'ΟΔΟΣ', '🏆 Café', 'line\none'];

/**
 * Search terms, and the indexes of the texts that contain them. The word `note` is added to each text as a second part.
 */
const containsCases: readonly (readonly [term: string, indexes: readonly number[]])[] = [
  ['straße', [0]],
  ['STRASSE', []],
  ['0% OFF*', [0]],
  ['école', [1]],
  ['E\u0301COLE', [1]],
  ['ecole', [2]],
  ['cole', [1, 2]],
  ['a.c', [3]],
  ['a*', []],
  ['.', [3]],
  ['[x] (y) \\ ^$ |+?', [3]],
  ['^', [3]],
  ['$', [3]],
  ['οδος', [4]],
  ['οδοσ', [4]],
  ['🏆', [5]],
  ['cafe', []],
  ['E\nO', [6]],
  ['e o', []],
  ['note', [0, 1, 2, 3, 4, 5, 6]],
  ['offnote', []],
];

/** Titles in the order of their code points. UTF-16 orders code points above U+FFFF before U+E000. */
const TITLES = ['', ' ', '!', '0', '10', '2', 'a', 'a b', 'aa', 'z', 'é', 'σ', '\ud7ff', '\ue000', '\uffee', '𐀀', '🏆'];

/** Returns the tests of lists and counts. */
export function defineQueryTests(test: CreateStorageTest): Tests {
  return {
    'lists and counts the records that match all conditions, page by page in every order': test(async (storage) => {
      const workspaceId = newId();
      const all = Object.entries(campaigns).flatMap(([name, fields]) =>
        [workspaceId, newId()].map((owner) =>
          buildCampaign(owner, { name, searchText: 'summer', createdBy: null, ...fields }),
        ),
      );
      // Adds the campaigns in another order than that of their IDs.
      for (const it of [...all.slice(5), ...all.slice(0, 5).reverse()]) await storage.campaigns.add(it);
      for (const [where, names] of conditionCases) {
        const title = JSON.stringify(where);
        assert.equal(await storage.campaigns.count(workspaceId, where), names.length, title);
        for (const [by, orderedNames] of Object.entries(orders) as [keyof typeof orders, string][]) {
          const ascending = [...orderedNames].filter((name) => names.includes(name));
          for (const order of ['asc', 'desc'] as const) {
            const expected = order === 'asc' ? ascending : ascending.toReversed();
            for (const [skip, take] of pageWindows) {
              const listed = await storage.campaigns.list(workspaceId, { where, by, order, skip, take });
              const page = expected.slice(skip, skip + take);
              assert.deepEqual(
                listed.map(({ name }) => name),
                page,
                `${title} by ${by} ${order}, ${take} from ${skip}`,
              );
            }
          }
        }
      }
    }),

    'finds records by their IDs': test(async ({ contentPillars }) => {
      const workspaceId = newId();
      const ids = [newId(), newId(), newId()] as const;
      for (const id of ids) await contentPillars.add(buildPillar(workspaceId, { id }));
      const cases = [
        [
          [ids[0], ids[2]],
          [0, 2],
        ],
        [[ids[1], ids[1], newId()], [1]],
        [[newId()], []],
        [[], []],
      ] as const;
      for (const [wanted, found] of cases) {
        const where = [{ field: 'id', in: wanted }] as const;
        const expected = found.map((at) => ids[at]);
        assert.deepEqual(
          await listIds(contentPillars, workspaceId, { where, by: 'foldedTitle', order: 'asc' }),
          expected,
        );
        assert.equal(await contentPillars.count(workspaceId, where), expected.length);
      }
    }),

    'finds a folded term literally, anywhere in a folded text': test(async ({ inspirationQuestions }) => {
      const workspaceId = newId();
      const ids = SEARCHED_TEXTS.map(() => newId());
      for (const [at, id] of ids.entries()) {
        const text = buildSearchText(SEARCHED_TEXTS[at] as string, 'note');
        await inspirationQuestions.add(buildQuestion(workspaceId, { id, searchText: text }));
      }
      for (const [term, indexes] of containsCases) {
        const where = [{ field: 'searchText', contains: fold(term) }] as const;
        const found = await listIds(inspirationQuestions, workspaceId, { where, by: 'createdAt', order: 'asc' });
        assert.deepEqual(
          found,
          indexes.map((at) => ids[at]),
          JSON.stringify(term),
        );
        assert.equal(await inspirationQuestions.count(workspaceId, where), indexes.length, JSON.stringify(term));
      }
    }),

    'orders texts by code point': test(async ({ contentPillars }) => {
      const workspaceId = newId();
      for (const foldedTitle of TITLES.toReversed())
        await contentPillars.add(buildPillar(workspaceId, { foldedTitle }));
      const page = { where: [], by: 'foldedTitle', skip: 0, take: 99 } as const;
      const titlesOf = async (order: 'asc' | 'desc') =>
        (await contentPillars.list(workspaceId, { ...page, order })).map(({ foldedTitle }) => foldedTitle);
      assert.deepEqual(await titlesOf('asc'), TITLES);
      assert.deepEqual(await titlesOf('desc'), TITLES.toReversed());
    }),

    'finds a record that lacks a field by the default of the field, in conditions and orders': test(
      async ({ shares }) => {
        const { defaults } = storeSchemas.get('shares') as { defaults: Record<string, unknown> };
        const [workspaceId, campaignId] = [newId(), newId()];
        try {
          // A made-up change of the schema: records of earlier versions have no `clicks`.
          defaults.clicks = 2;
          const build = (clicks: number) => buildShare(workspaceId, { campaignId, clicks });
          const { clicks: _, ...older } = build(0);
          const all = [build(1), older as Share, build(3)];
          await addAll(shares, all.toReversed());
          const where = [{ field: 'campaignId', in: [campaignId] }] as const;
          const listed = await listIds(shares, workspaceId, { where, by: 'clicks', order: 'asc' });
          assert.deepEqual(
            listed,
            all.map(({ id }) => id),
          );
          const inRange = [...where, { field: 'clicks', from: 2, to: 2 }] as const;
          assert.deepEqual(await listIds(shares, workspaceId, { where: inRange, by: 'createdAt', order: 'asc' }), [
            older.id,
          ]);
          assert.equal(await shares.count(workspaceId, inRange), 1);
        } finally {
          delete defaults.clicks;
        }
      },
    ),

    'lists records with the requested fields': test(async ({ campaigns }) => {
      const workspaceId = newId();
      const added = buildCampaign(workspaceId, { name: 'Winter', tagIds: ['red'] });
      await campaigns.add(added);
      const query: Query<CampaignRecord, 'id' | 'tagIds' | 'name'> = {
        where: [{ field: 'archived', in: [false] }],
        by: 'createdAt',
        order: 'asc',
        skip: 0,
        take: 1,
        fields: ['id', 'tagIds', 'name'],
      };
      const [listed] = await campaigns.list(workspaceId, query);
      assert.deepEqual([listed?.id, listed?.tagIds, listed?.name], [added.id, ['red'], 'Winter']);
    }),

    'finds added and changed records by their new values, also in the transaction that changes them': test(
      async (storage) => {
        const check = async ({ campaigns }: StorageEngine, { workspaceId, id }: Entity, removedId: string) => {
          const fields = { createdAt: formatDay(3), startsAt: 30, tagIds: ['blue'], archived: true };
          await campaigns.update(workspaceId, id, (current) => ({ ...current, ...fields }));
          await campaigns.remove(workspaceId, removedId);
          const added = buildCampaign(workspaceId, { createdAt: formatDay(2), startsAt: 20, tagIds: ['blue'] });
          await campaigns.add(added);
          const cases: [where: Where[], ids: string[]][] = [
            [[], [added.id, id]],
            [[isOneOf('tagIds', 'red')], []],
            [[isOneOf('tagIds', 'blue')], [added.id, id]],
            [[isOneOf('archived', false)], [added.id]],
            [[isBetween('startsAt', { to: 20 })], [added.id]],
          ];
          for (const [where, ids] of cases) {
            for (const by of ['createdAt', 'startsAt'] as const) {
              assert.deepEqual(await listIds(campaigns, workspaceId, { where, by, order: 'asc' }), ids);
            }
            assert.equal(await campaigns.count(workspaceId, where), ids.length);
          }
        };
        const addStored = async () => {
          const workspaceId = newId();
          const fields = { createdAt: formatDay(1), startsAt: 10, tagIds: ['red'] };
          const [changed, removed] = [buildCampaign(workspaceId, fields), buildCampaign(workspaceId, fields)];
          await addAll(storage.campaigns, [changed, removed]);
          return [changed, removed.id] as const;
        };
        await check(storage, ...(await addStored()));
        const stored = await addStored();
        await storage.runInTransaction((staged) => check(staged, ...stored));
      },
    ),
  };
}

async function listIds<T extends Entity>(
  records: RecordStore<T>,
  workspaceId: string,
  query: Omit<Query<T>, 'skip' | 'take'>,
): Promise<string[]> {
  return (await records.list(workspaceId, { ...query, skip: 0, take: 99 })).map(({ id }) => id);
}
