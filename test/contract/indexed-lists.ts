import assert from 'node:assert/strict';
import { type ApiKeyRecord, apiKeySchema } from '../../adapters/persistence/api-keys.ts';
import type { Query, RecordStore } from '../../adapters/persistence/record-store.ts';
import { createStorage, recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import { revoke } from '../../core/access/api-key.ts';
import type { Entity } from '../../core/shared/entity.ts';
import { addAll } from '../support/add-all.ts';
import { each } from '../support/each.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { quickOrLong } from '../support/scale.ts';
import type { Tests } from '../support/suite.ts';
import { newId, type SchemaName, samples } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const SMALL_COUNT = 100;
const LARGE_COUNT = quickOrLong(1_500, 10_000);
const PAGE_SIZE = 25;
/** Orders the records differently from their IDs. A prime number, so that all positions are distinct. */
const STEP = 7_919;
/** One of this many successive records matches the conditions of the queries. */
const MATCH_INTERVAL = 16;
const MAX_GROWTH = 3;
/** The number of matches that a page near the end of the list skips. */
const SKIPPED_COUNT = Math.floor(LARGE_COUNT / MATCH_INTERVAL) - PAGE_SIZE;
/**
 * The maximum work for the page near the end, divided by the work for a list of all matches up to the end of the page.
 * The ratio is 1 if an engine examines the index entry and the record of each skipped match, and at most about 0.5 if
 * it examines only the index entry.
 */
const MAX_WORK_OF_LAST_PAGE = 0.75;

/** The part of a schema that these tests use. */
interface Schema {
  readonly columns: { readonly [field: string]: string };
  readonly unique: object;
  readonly indexes: readonly (readonly string[])[];
}

/**
 * Returns the test that an indexed list examines few records, or no test if the engine promises no bound or cannot be
 * measured.
 */
export function defineIndexedListTests(test: CreateStorageTest, { countExaminedRecords }: TestEngine): Tests {
  if (typeof countExaminedRecords === 'string') return {};
  return {
    'examines few records for the first page of an indexed list, and only the index entries of skipped records': test(
      async (storage, { location }) => {
        for (const [name, schema] of Object.entries(recordSchemas) as [SchemaName, Schema][]) {
          if (schema.indexes.length === 0) continue;
          const [small, large] = [newId(), newId()];
          const store = storage[name] as unknown as RecordStore<Entity>;
          await addAll(store, createRecords(name, schema, small, SMALL_COUNT));
          await addAll(store, createRecords(name, schema, large, LARGE_COUNT));
          await each(createQueries(schema), async (query) => {
            const count = (workspaceId: string, page: { readonly skip?: number; readonly take?: number } = {}) =>
              countExaminedRecords(location, () => store.list(workspaceId, { ...query, ...page }));
            const [few, many] = [await count(small), await count(large)];
            assert.ok(many > 0 && many <= MAX_GROWTH * Math.max(few, PAGE_SIZE), `${few}, and then ${many}`);
            const last = await count(large, { skip: SKIPPED_COUNT });
            const all = await count(large, { take: SKIPPED_COUNT + PAGE_SIZE });
            assert.ok(last <= MAX_WORK_OF_LAST_PAGE * all, `${last} for the last page, ${all} for all records`);
          });
        }
      },
    ),

    'examines few records for a list of the API keys that work, however many keys have ended': test(
      async (engine, { location }) => {
        const { apiKeys } = createStorage(engine);
        const count = async (endedCount: number, memberId: string | undefined) => {
          const workspaceId = newId();
          const records = Array.from({ length: endedCount + 3 }, (_, i) => {
            const sample = apiKeySchema.toEntity(samples.apiKeys(workspaceId) as ApiKeyRecord);
            const key = { ...sample, memberId: memberId ?? null };
            return apiKeySchema.toRecord(i < 3 ? key : revoke(key, key.createdAt));
          });
          await addAll(engine.apiKeys, records);
          return countExaminedRecords(location, async () => {
            const filter = { memberId, includeEnded: false };
            const { items } = await apiKeys.findPage(workspaceId, filter, Date.now(), { page: 1, pageSize: 50 });
            assert.deepEqual(
              items.map(({ id }) => id),
              records
                .slice(0, 3)
                .map(({ id }) => id)
                .toReversed(),
            );
          });
        };
        for (const memberId of [undefined, newId()]) {
          const [few, many] = [await count(3, memberId), await count(LARGE_COUNT, memberId)];
          assert.ok(many > 0 && many <= MAX_GROWTH * few, `${few}, and then ${many}`);
        }
      },
    ),
  };
}

/**
 * Returns queries for the first page of each index, in both directions, with and without conditions on its boolean
 * fields. The keys of the map describe the queries.
 */
function createQueries({ columns, indexes }: Schema): Map<string, Query<Entity>> {
  const isFlag = (field: string) => columns[field] === 'boolean';
  const fieldLists = indexes.flatMap((fields) => [fields, fields.filter((field) => !isFlag(field))]);
  return new Map(
    fieldLists.flatMap((fields) =>
      (['asc', 'desc'] as const).map((order): [string, Query<Entity>] => {
        const where = fields.slice(0, -1).map((field) => ({ field, in: [isFlag(field) || 'a'] }));
        return [`${fields} ${order}`, { where, by: fields.at(-1), order, skip: 0, take: PAGE_SIZE } as never];
      }),
    ),
  );
}

/**
 * Creates records with distinct values in the order fields and the unique fields. In the index fields before the last
 * one, one record in 16 has the values that the queries ask for, even if another index orders by this field.
 */
function createRecords(name: SchemaName, schema: Schema, workspaceId: string, count: number): Entity[] {
  const equalityFields = schema.indexes.flatMap((fields) => fields.slice(0, -1));
  const orderFields = schema.indexes.map((fields) => fields.at(-1) as string);
  return Array.from({ length: count }, (_, i) => {
    const isMatch = i % MATCH_INTERVAL === 0;
    const position = (i * STEP) % count;
    const equalities = equalityFields.map((field) => [field, toEqualityValue(schema.columns[field], isMatch)]);
    const distinct = [...orderFields, ...Object.keys(schema.unique)].map((field) => [
      field,
      schema.columns[field] === 'number' ? position : String(position).padStart(6, '0'),
    ]);
    return { ...samples[name](workspaceId), ...Object.fromEntries([...distinct, ...equalities]) };
  });
}

function toEqualityValue(type: string | undefined, isMatch: boolean): unknown {
  if (type === 'boolean') return isMatch;
  const text = isMatch ? 'a' : 'b';
  return type === 'texts' ? [text] : text;
}
