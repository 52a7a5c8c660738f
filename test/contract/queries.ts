import assert from 'node:assert/strict';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import type { Condition, Query, RecordStore } from '../../adapters/persistence/record-store.ts';
import { buildSearchText } from '../../adapters/persistence/search-text.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { fold } from '../../core/shared/text.ts';
import type { Tests } from '../support/suite.ts';
import { buildCampaign, buildPillar, buildQuestion, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const formatDay = (number: number) => `2026-03-0${number}T00:00:00.000Z`;

/** Campaigns by their names, in the order of their ids. */
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

const conditionCases: readonly (readonly [where: readonly Condition<CampaignRecord>[], names: string])[] = [
  [[], 'abcdef'],
  [[{ field: 'archived', in: [false] }], 'abdf'],
  [[{ field: 'archived', in: [true] }], 'ce'],
  [[{ field: 'archived', in: [false] }], 'abdf'],
  [[{ field: 'archived', in: [false, true] }], 'abcdef'],
  [[{ field: 'createdBy', in: ['ada'] }], 'bcf'],
  [[{ field: 'createdBy', in: ['nobody'] }], ''],
  [[{ field: 'name', in: ['d'] }], 'd'],
  [[{ field: 'domain', in: ['a.example'] }], 'ad'],
  [[{ field: 'domain', in: ['a.example', 'b.example', 'a.example'] }], 'ad'],
  [[{ field: 'domain', in: [] }], ''],
  [[{ field: 'name', in: ['b', 'f', 'x'] }], 'bf'],
  [[{ field: 'tagIds', in: ['red'] }], 'ade'],
  [[{ field: 'tagIds', in: ['blue', 'red'] }], 'abde'],
  [[{ field: 'tagIds', in: ['Red', 'green'] }], 'f'],
  [[{ field: 'tagIds', in: ['green'] }], ''],
  [[{ field: 'tagIds', in: [] }], ''],
  [[{ field: 'startsAt', from: 20 }], 'bcdf'],
  [[{ field: 'startsAt', from: 21 }], 'df'],
  [[{ field: 'startsAt', to: 20 }], 'abce'],
  [[{ field: 'startsAt', to: 19 }], 'ae'],
  [[{ field: 'startsAt', from: 10, to: 30 }], 'abcd'],
  [[{ field: 'startsAt', from: 20, to: 20 }], 'bc'],
  [[{ field: 'startsAt', from: 30, to: 20 }], ''],
  [
    [
      { field: 'startsAt', to: 20 },
      { field: 'endsAt', from: 30 },
    ],
    'bce',
  ],
  [
    [
      { field: 'startsAt', from: 10 },
      { field: 'startsAt', to: 30 },
    ],
    'abcd',
  ],
  [
    [
      { field: 'archived', in: [false] },
      { field: 'tagIds', in: ['red', 'Red'] },
    ],
    'adf',
  ],
  [
    [
      { field: 'tagIds', in: ['red'] },
      { field: 'tagIds', in: ['blue'] },
    ],
    'ae',
  ],
  [
    [
      { field: 'tagIds', in: ['red'] },
      { field: 'tagIds', in: [] },
    ],
    '',
  ],
  [
    [
      { field: 'archived', in: [true] },
      { field: 'createdBy', in: ['ada'] },
      { field: 'startsAt', from: 20 },
      { field: 'endsAt', to: 90 },
    ],
    'c',
  ],
  [
    [
      { field: 'searchText', contains: 'summer' },
      { field: 'archived', in: [false] },
      { field: 'startsAt', to: 30 },
    ],
    'abd',
  ],
];

/** The names in the ascending order of each field. Of equal records, the smaller id comes first. */
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

/** Search terms, and the indexes of the searched texts that contain them. `note` is a second part of each search text. */
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
      for (const [name, fields] of Object.entries(campaigns)) {
        await storage.campaigns.add(
          buildCampaign(workspaceId, { name, searchText: 'summer', createdBy: null, ...fields }),
        );
        await storage.campaigns.add(buildCampaign(newId(), { name, searchText: 'summer', ...fields }));
      }
      for (const [where, names] of conditionCases) {
        const title = JSON.stringify(where);
        assert.equal(await storage.campaigns.count(workspaceId, where), names.length, title);
        for (const [by, all] of Object.entries(orders) as [keyof typeof orders, string][]) {
          const ascending = [...all].filter((name) => names.includes(name));
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

    'finds records by their ids': test(async ({ contentPillars }) => {
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

    'orders equal records by their ids, in the direction of the query': test(async ({ inspirationQuestions }) => {
      const workspaceId = newId();
      const ids = Array.from({ length: 20 }, newId);
      for (const id of [...ids.slice(9), ...ids.slice(0, 9).toReversed()])
        await inspirationQuestions.add(buildQuestion(workspaceId, { id }));
      const list = { where: [], by: 'createdAt' } as const;
      assert.deepEqual(await listIds(inspirationQuestions, workspaceId, { ...list, order: 'asc' }), ids);
      assert.deepEqual(await listIds(inspirationQuestions, workspaceId, { ...list, order: 'desc' }), ids.toReversed());
    }),

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

    'finds a changed record only by its new values': test(async (storage) => {
      const workspaceId = newId();
      const it = buildCampaign(workspaceId, {
        createdAt: formatDay(1),
        startsAt: 10,
        tagIds: ['red'],
        archived: false,
      });
      const other = buildCampaign(workspaceId, {
        createdAt: formatDay(2),
        startsAt: 20,
        tagIds: ['blue'],
        archived: false,
      });
      await storage.campaigns.add(it);
      await storage.campaigns.add(other);
      const changed = { createdAt: formatDay(3), startsAt: 30, tagIds: ['blue'], archived: true };
      await storage.campaigns.update(workspaceId, it.id, (current) => ({ ...current, ...changed }));
      const cases: [where: Condition<CampaignRecord>[], ids: string[]][] = [
        [[], [other.id, it.id]],
        [[{ field: 'tagIds', in: ['red'] }], []],
        [[{ field: 'tagIds', in: ['blue'] }], [other.id, it.id]],
        [[{ field: 'archived', in: [false] }], [other.id]],
        [[{ field: 'startsAt', to: 20 }], [other.id]],
      ];
      for (const [where, ids] of cases) {
        for (const by of ['createdAt', 'startsAt'] as const) {
          assert.deepEqual(await listIds(storage.campaigns, workspaceId, { where, by, order: 'asc' }), ids);
        }
        assert.equal(await storage.campaigns.count(workspaceId, where), ids.length);
      }
    }),
  };
}

async function listIds<T extends Entity>(
  records: RecordStore<T>,
  workspaceId: string,
  query: Omit<Query<T>, 'skip' | 'take'>,
): Promise<string[]> {
  return (await records.list(workspaceId, { ...query, skip: 0, take: 99 })).map(({ id }) => id);
}
