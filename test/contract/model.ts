import assert from 'node:assert/strict';
import fc from 'fast-check';
import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import type {
  ColumnType,
  Condition,
  Query,
  RecordStore,
  AnyRecord as Row,
  SumQuery,
} from '../../adapters/persistence/record-store.ts';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { type StoreSchema, storeSchemas } from '../../adapters/persistence/store-schemas.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { quickOrLong } from '../support/scale.ts';
import type { Tests } from '../support/suite.ts';
import { newId, type SchemaName, samples } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const RUN_COUNT = quickOrLong(20, 300);
const RECORD_COUNT = 40;
const WORKSPACE_COUNT = 2;

// There are few values, so that many records match a condition, are equal in an order, or have the same unique value.
const digit = fc.integer({ min: 0, max: 9 });
const letter = fc.constantFrom('a', 'b', 'c', 'd');
/** Texts, some of them with characters that UTF-8 and UTF-16 order differently. */
const text = fc.oneof(letter, fc.string({ unit: fc.constantFrom('a', 'b', '.', '\uffee', '🏆'), maxLength: 4 }));

// Conditions of queries, in each form of `Condition` (adapters/persistence/record-store.ts).
const createIn = (field: string, value: fc.Arbitrary<string | boolean>) =>
  fc.array(value, { maxLength: 4 }).map((values) => ({ field, in: values }));
const createContains = (field: string) => text.map((term) => ({ field, contains: term }));
const createRange = (field: string) =>
  fc.oneof(
    digit.map((from) => ({ field, from })),
    digit.map((to) => ({ field, to })),
    fc.tuple(digit, digit).map(([from, to]) => ({ field, from, to })),
  );

/** The values of a column in records, and the conditions of queries on the column. */
interface ColumnSteps {
  readonly values: fc.Arbitrary<unknown>;
  readonly conditions: fc.Arbitrary<Condition<Row>>;
}

/** Returns the values and conditions of a column. A text can be `null` if queries only compare it with values. */
function createColumnSteps(field: string, schema: StoreSchema): ColumnSteps {
  const { columns, indexes } = schema;
  switch (columns[field]) {
    case 'boolean':
      return { values: fc.boolean(), conditions: createIn(field, fc.boolean()) };
    case 'number':
      return { values: digit, conditions: createRange(field) };
    case 'texts':
      return { values: fc.array(letter, { maxLength: 4 }), conditions: createIn(field, letter) };
    default:
      return indexes.flat().includes(field) && !listOrders(schema).includes(field)
        ? { values: fc.option(letter), conditions: createIn(field, letter) }
        : { values: text, conditions: fc.oneof(createIn(field, text), createContains(field)) };
  }
}

const actions = {
  get: ({ records, workspaceId, id }) => records.get(workspaceId, id),
  getMany: async ({ records, workspaceId, id, otherId }) => {
    const found = (await records.getMany(workspaceId, [id, otherId, id])) as readonly Row[];
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  },
  list: ({ records, workspaceId, query }) => records.list(workspaceId, query),
  listById: ({ records, workspaceId, id, query }) => records.listById(workspaceId, id, query.take),
  count: ({ records, workspaceId, query }) => records.count(workspaceId, query.where),
  sum: async ({ records, workspaceId, query, sums }) => {
    const found = await records.sum(workspaceId, { ...sums, where: query.where });
    return found.map((it) => JSON.stringify(Object.entries(it).toSorted())).toSorted();
  },
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
  readonly sums: Omit<SumQuery<Row>, 'where'>;
}

/** An action on the store of a schema. `workspace` and `record` are indexes into the IDs of a `Run`. */
interface Action {
  readonly name: keyof typeof actions;
  readonly workspace: number;
  readonly record: number;
  readonly fields: object;
  readonly query: Query<Row>;
  readonly sums: Omit<SumQuery<Row>, 'where'>;
}

/** Actions that run in one transaction, or one by one without a transaction (`alone`). */
interface Work {
  readonly mode: 'alone' | 'in a transaction' | 'in a transaction that throws';
  readonly actions: readonly Action[];
}

function createWorks(schema: StoreSchema): fc.Arbitrary<readonly Work[]> {
  // No record expires during a run.
  const fields = Object.keys(schema.columns).filter((field) => field !== schema.expires);
  const columns = fields.map((field) => [field, createColumnSteps(field, schema)] as const);
  const listColumns = (type: ColumnType) => fields.filter((field) => schema.columns[field] === type);
  const summed = fc.subarray([...listColumns('text'), ...listColumns('number')], { minLength: 1 });
  const createAction = (...names: Action['name'][]): fc.Arbitrary<Action> =>
    fc.record({
      name: fc.constantFrom(...names),
      workspace: fc.nat(WORKSPACE_COUNT - 1),
      record: fc.nat(RECORD_COUNT - 1),
      fields: fc.record(Object.fromEntries(columns.map(([field, { values }]) => [field, values]))),
      query: fc.record({
        where: fc.array(fc.oneof(...columns.map(([, { conditions }]) => conditions)), { maxLength: 3 }),
        by: fc.constantFrom(...listOrders(schema)),
        order: fc.constantFrom('asc' as const, 'desc' as const),
        skip: fc.oneof(fc.constant(0), fc.nat(RECORD_COUNT)),
        take: fc.oneof(fc.nat(5), fc.constant(RECORD_COUNT)),
      }),
      sums: summed.map((chosen) => ({
        groupBy: chosen.filter((field) => schema.columns[field] === 'text'),
        columns: chosen.filter((field) => schema.columns[field] === 'number'),
      })),
    });
  const all = Object.keys(actions) as Action['name'][];
  const work = fc.record({
    mode: fc.constantFrom<Work['mode'][]>('alone', 'in a transaction', 'in a transaction that throws'),
    actions: fc.array(createAction(...all, 'add', 'replace', 'list', 'list', 'list', 'sum'), { maxLength: 20 }),
  });
  const initialWork = fc.record({
    mode: fc.constant('alone' as const),
    actions: fc.array(createAction('add'), { maxLength: 60 }),
  });
  return fc.tuple(initialWork, fc.array(work, { maxLength: 8 })).map(([first, others]) => [first, ...others]);
}

/** Returns the fields by which the records of a schema can be ordered. */
function listOrders({ indexes }: StoreSchema): string[] {
  return [...new Set(indexes.map((fields) => fields.at(-1) as string))];
}

/** The schemas that have lists. */
const schemas = [...storeSchemas.values()].filter(({ indexes }) => indexes.length > 0);

/**
 * Returns tests that run random work on the storage in memory and on an engine, and compare all results. If the engine
 * is shared, it is open twice on the same data: the works alternate between both engines, and the second engine reads
 * all records after each work.
 */
export function defineModelTests(test: CreateStorageTest): Tests {
  return schemas.map((schema) => [
    `returns the same results as the storage in memory for random work on ${schema.name}`,
    test(async (_, { openOnSameData }) => {
      const name = schema.name as SchemaName;
      const engines = await openOnSameData();
      await fc.assert(
        fc.asyncProperty(createWorks(schema), async (works) => {
          const memory = createMemoryEngine(Date.now);
          const run: Run = {
            workspaces: Array.from({ length: WORKSPACE_COUNT }, newId),
            ids: Array.from({ length: RECORD_COUNT }, newId),
            sample: samples[name](''),
          };
          const readAll = (engine: StorageEngine) => readAllLists(getStore(engine, name), listOrders(schema), run);
          for (const [i, work] of works.entries()) {
            const [writer, reader] = [engines[i % engines.length], engines.at(-1)] as [StorageEngine, StorageEngine];
            assert.deepEqual(await runWork(writer, name, work, run), await runWork(memory, name, work, run));
            assert.deepEqual(await readAll(reader), await readAll(memory));
          }
        }),
        { numRuns: RUN_COUNT },
      );
    }),
  ]);
}

/** The IDs of a run, and a record with the fields that no action sets. */
interface Run {
  readonly workspaces: readonly string[];
  readonly ids: readonly string[];
  readonly sample: Entity;
}

function getStore(engine: StorageEngine, name: SchemaName): RecordStore<Row> {
  return engine[name] as unknown as RecordStore<Row>;
}

async function runWork(engine: StorageEngine, name: SchemaName, work: Work, run: Run): Promise<unknown[]> {
  const results: unknown[] = [];
  const runActions = async (staged: StorageEngine) => {
    for (const action of work.actions) {
      const input = createInput(getStore(staged, name), action, run);
      results.push(await actions[action.name](input).catch(toErrorKind));
    }
    if (work.mode === 'in a transaction that throws') throw new Error('the work throws');
  };
  await (work.mode === 'alone' ? runActions(engine) : engine.runInTransaction(runActions)).catch((error) =>
    results.push(toErrorKind(error)),
  );
  return results;
}

function createInput(
  records: RecordStore<Row>,
  { workspace, record, fields, query, sums }: Action,
  { workspaces, ids, sample }: Run,
): ActionInput {
  const workspaceId = workspaces[workspace] as string;
  const [id, otherId] = [ids[record], ids[0]] as [string, string];
  // An ID is unique over all workspaces. So workspace 0 adds only IDs with an even index, and workspace 1 with an odd
  // index.
  const ownId = ids[record - (record % WORKSPACE_COUNT) + workspace] as string;
  return { records, workspaceId, id, otherId, record: { ...sample, ...fields, id: ownId, workspaceId }, query, sums };
}

/** Returns all records of each workspace, in each order. */
function readAllLists(records: RecordStore<Row>, orders: readonly string[], { workspaces }: Run): Promise<Row[][]> {
  const page = { where: [], order: 'asc', skip: 0, take: RECORD_COUNT } as const;
  return Promise.all(
    workspaces.flatMap((workspaceId) =>
      orders.map(async (by) => [...(await records.list(workspaceId, { ...page, by }))] as Row[]),
    ),
  );
}

function toErrorKind(error: unknown): string {
  return error instanceof CoreError ? error.kind : String(error);
}
