import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import type { Row } from '../../adapters/memory/table.ts';
import type { Condition, Query, RecordStore } from '../../adapters/persistence/record-store.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Tests } from '../support/suite.ts';
import { buildCampaign, buildQuestion, buildShare, buildTag, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const RUN_COUNT = 20;
const RECORD_COUNT = 40;
const WORKSPACE_COUNT = 2;

const time = fc.constantFrom('2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z');
const digit = fc.integer({ min: 0, max: 9 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '\uffee', '🏆'), maxLength: 4 });
const letter = fc.constantFrom('a', 'b', 'c', 'd');
const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h');
const letters: fc.Arbitrary<string[]> = fc.array(letter, { maxLength: 4 });

// Arbitrary conditions of queries, in each form of `Condition` (adapters/persistence/record-store.ts).
const createIs = (field: string, value: fc.Arbitrary<string | boolean>) => value.map((it) => ({ field, in: [it] }));
const flags = fc.array(fc.boolean(), { maxLength: 3 });
const createIn = (field: string, values: fc.Arbitrary<(string | boolean)[]> = letters) =>
  values.map((it) => ({ field, in: it }));
const createContains = (field: string) => text.map((term) => ({ field, contains: term }));
const createRange = (field: string) =>
  fc.oneof(
    digit.map((from) => ({ field, from })),
    digit.map((to) => ({ field, to })),
    fc.tuple(digit, digit).map(([from, to]) => ({ field, from, to })),
  );

/** The resources under test: the values of their fields, the conditions of their queries, and the fields of their orders. */
const resources = {
  campaigns: {
    create: buildCampaign,
    fields: {
      archived: fc.boolean(),
      createdAt: time,
      updatedAt: time,
      startsAt: digit,
      endsAt: digit,
      tagIds: letters,
      domain: fc.option(letter),
      createdBy: fc.option(letter),
      name: text,
      searchText: text,
    },
    conditions: [
      createIs('archived', fc.boolean()),
      createIn('archived', flags),
      createIs('createdBy', letter),
      createIs('name', text),
      createIn('tagIds'),
      createIn('domain'),
      createIn('name', fc.array(text)),
      createRange('startsAt'),
      createRange('endsAt'),
      createContains('searchText'),
    ],
    orders: ['createdAt', 'updatedAt', 'startsAt'],
  },
  inspirationQuestions: {
    create: buildQuestion,
    fields: {
      archived: fc.boolean(),
      isActive: fc.boolean(),
      userType: letter,
      groups: letters,
      audience: letters,
      searchText: text,
      createdAt: time,
    },
    conditions: [
      createIs('archived', fc.boolean()),
      createIs('isActive', fc.boolean()),
      createIn('isActive', flags),
      createIs('userType', letter),
      createIn('userType'),
      createIn('groups'),
      createIn('audience'),
      createContains('searchText'),
    ],
    orders: ['createdAt'],
  },
  tags: {
    create: (workspaceId: string, fields: object) => buildTag(workspaceId, '', fields),
    fields: { foldedName: name, color: letter, createdAt: time },
    conditions: [
      createIs('foldedName', name),
      createIn('foldedName', fc.array(name)),
      createIs('color', letter),
      createIn('color'),
      createContains('foldedName'),
    ],
    orders: ['createdAt', 'foldedName'],
  },
  shares: {
    create: (workspaceId: string, fields: object) => buildShare(workspaceId, { memberId: 'a', ...fields }),
    fields: { campaignId: letter, clicks: digit, createdAt: time },
    conditions: [createIs('campaignId', letter), createIn('campaignId')],
    orders: ['createdAt', 'clicks'],
  },
};

type StoreName = keyof typeof resources;

/** The stores that the random work uses. */
type Stores = Readonly<Record<StoreName, RecordStore<Row>>>;

const actions = {
  get: ({ records, workspaceId, id }) => records.get(workspaceId, id),
  getMany: async ({ records, workspaceId, id, otherId }) => {
    const found = await records.getMany(workspaceId, [id, otherId, id]);
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  },
  list: ({ records, workspaceId, query }) => records.list(workspaceId, query),
  listById: ({ records, workspaceId, id, query }) => records.listById(workspaceId, id, query.take),
  count: ({ records, workspaceId, query }) => records.count(workspaceId, query.where),
  add: ({ records, record }) => records.add(record),
  replace: ({ records, workspaceId, id, record }) => records.update(workspaceId, id, () => record),
  keep: ({ records, workspaceId, id }) => records.update(workspaceId, id, (current) => current),
  fail: ({ records, workspaceId, id }) =>
    records.update(workspaceId, id, () => {
      throw new Error('the change throws');
    }),
  remove: ({ records, workspaceId, id }) => records.remove(workspaceId, id),
} satisfies Record<string, (it: ActionInput) => Promise<unknown>>;

interface ActionInput {
  readonly records: RecordStore<Row>;
  readonly workspaceId: string;
  readonly id: string;
  readonly otherId: string;
  readonly record: Row;
  readonly query: Query<Row>;
}

/** An action on a store. `workspace` and `record` are indexes into `RunIds`. */
interface Step {
  readonly action: keyof typeof actions;
  readonly storeName: StoreName;
  readonly workspace: number;
  readonly record: number;
  readonly fields: object;
  readonly query: Query<Row>;
}

/** Steps that run in one transaction, or one by one without a transaction (`alone`). */
interface Work {
  readonly mode: 'alone' | 'in a transaction' | 'in a transaction that throws';
  readonly steps: readonly Step[];
}

const createStep = (storeName: StoreName, ...chosenActions: Step['action'][]): fc.Arbitrary<Step> => {
  const { fields, conditions, orders } = resources[storeName];
  const query = fc.record({
    where: fc.array(fc.oneof(...(conditions as fc.Arbitrary<Condition<Row>>[])), { maxLength: 3 }),
    by: fc.constantFrom(...orders),
    order: fc.constantFrom('asc' as const, 'desc' as const),
    skip: fc.oneof(fc.constant(0), fc.nat(RECORD_COUNT)),
    take: fc.oneof(fc.nat(5), fc.constant(RECORD_COUNT)),
  });
  return fc.record({
    action: fc.constantFrom(...chosenActions),
    storeName: fc.constant(storeName),
    workspace: fc.nat(WORKSPACE_COUNT - 1),
    record: fc.nat(RECORD_COUNT - 1),
    fields: fc.record(fields as Record<string, fc.Arbitrary<unknown>>),
    query,
  });
};

const actionNames = Object.keys(actions) as Step['action'][];
const storeNames = Object.keys(resources) as StoreName[];
const step = fc.oneof(
  ...storeNames.map((storeName) => createStep(storeName, ...actionNames, 'add', 'replace', 'list', 'list', 'list')),
);
const initialStep = fc.oneof(createStep('campaigns', 'add'), createStep('inspirationQuestions', 'add'));
const work = fc.record({
  mode: fc.constantFrom<Work['mode'][]>('alone', 'in a transaction', 'in a transaction that throws'),
  steps: fc.array(step, { maxLength: 20 }),
});
const allWork = fc
  .tuple(fc.array(initialStep, { maxLength: 150 }), fc.array(work, { maxLength: 8 }))
  .map(([steps, rest]) => {
    const initialWork: Work = { mode: 'alone', steps };
    return [initialWork, ...rest];
  });

/**
 * Returns a test that runs random work on the storage in memory and on an engine, and compares all results. If the engine is shared, it
 * is open twice on the same data: the runs of work alternate between both, and the second one reads all records after each.
 */
export function defineModelTests(test: CreateStorageTest): Tests {
  return {
    'returns the same results as the storage in memory for random steps': test(async (_, { openOnSameData }) => {
      const stores = (await openOnSameData()) as unknown as ModelStorage[];
      await fc.assert(
        fc.asyncProperty(allWork, async (works) => {
          const memory = createMemoryEngine(Date.now) as unknown as ModelStorage;
          const runIds = {
            workspaces: Array.from({ length: WORKSPACE_COUNT }, newId),
            ids: Array.from({ length: RECORD_COUNT }, newId),
          };
          for (const [i, work] of works.entries()) {
            const [writer, reader] = [stores[i % stores.length], stores.at(-1)] as [ModelStorage, ModelStorage];
            assert.deepEqual(await runWork(writer, work, runIds), await runWork(memory, work, runIds));
            assert.deepEqual(await readAll(reader, runIds), await readAll(memory, runIds));
          }
        }),
        { numRuns: RUN_COUNT },
      );
    }),
  };
}

/** The ids of a run. */
interface RunIds {
  readonly workspaces: readonly string[];
  readonly ids: readonly string[];
}

type ModelStorage = Stores & { runInTransaction(work: (staged: Stores) => Promise<void>): Promise<void> };

async function runWork(storage: ModelStorage, { mode, steps }: Work, runIds: RunIds): Promise<unknown[]> {
  const results: unknown[] = [];
  const run = async (stores: Stores) => {
    for (const step of steps)
      results.push(await actions[step.action](createInput(stores, step, runIds)).catch(toErrorKind));
    if (mode === 'in a transaction that throws') throw new Error('the work throws');
  };
  await (mode === 'alone' ? run(storage) : storage.runInTransaction(run)).catch((error) =>
    results.push(toErrorKind(error)),
  );
  return results;
}

function createInput(
  stores: Stores,
  { storeName, workspace, record, fields, query }: Step,
  runIds: RunIds,
): ActionInput {
  const workspaceId = runIds.workspaces[workspace] as string;
  const [id, otherId] = [runIds.ids[record], runIds.ids[0]] as [string, string];
  // An id is unique over all workspaces. So workspace 0 adds only ids with an even index, and workspace 1 with an odd index.
  const ownId = runIds.ids[record - (record % WORKSPACE_COUNT) + workspace];
  const created: Row = resources[storeName].create(workspaceId, { createdBy: null, ...fields, id: ownId });
  return { records: stores[storeName], workspaceId, id, otherId, record: created, query };
}

function readAll(storage: Stores, { workspaces }: RunIds): Promise<unknown> {
  const page = { where: [], by: 'createdAt', order: 'asc', skip: 0, take: RECORD_COUNT } as const;
  return Promise.all(
    storeNames.flatMap((storeName) => workspaces.map((workspaceId) => storage[storeName].list(workspaceId, page))),
  );
}

function toErrorKind(error: unknown): string {
  return error instanceof CoreError ? error.kind : String(error);
}
