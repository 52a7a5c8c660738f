import { isDeepStrictEqual } from 'node:util';
import { CoreError } from '../../core/shared/core-error.ts';
import { type BatchControl, iterateGlobal, readBatches } from './iterate-by-id.ts';
import type { AnyRecord, GlobalRecordStore, RecordStore } from './record-store.ts';
import { globalStoreNames, type recordSchemas, type StorageEngine } from './storage-engine.ts';
import { storeSchemas } from './store-schemas.ts';

const BATCH_RECORD_COUNT = 100;

/** The outcome of copying a batch. */
interface BatchOutcome {
  /** The number of records in the batch, even if the target already had some of them or rejected them. */
  readonly processedCount: number;
  /** The number of records in the batch that are missing in the target now, or have other content there. */
  readonly differentCount: number;
}

/** The schemas of all records of a workspace. */
const schemas = [...storeSchemas.values()].filter(({ isGlobal }) => !isGlobal);

/**
 * Copies all records to another storage, and then counts the records of both storages. Returns no counts if it was
 * aborted.
 */
export async function copyAndCompare(
  source: StorageEngine,
  target: StorageEngine,
  { signal, onProgress }: BatchControl,
) {
  const total = [...(await countRecords(source)).values()].reduce((sum, count) => sum + count, 0);
  let processedCount = 0;
  let differentCount = 0;
  for await (const outcome of copyRecords(source, target)) {
    processedCount += outcome.processedCount;
    differentCount += outcome.differentCount;
    onProgress(processedCount, Math.max(processedCount, total));
    if (signal.aborted) return { isComplete: false, processedCount, differentCount, counts: [] };
  }
  const [sourceCounts, targetCounts] = await Promise.all([countRecords(source), countRecords(target)]);
  const counts = [...sourceCounts].map(([records, count]) => ({
    records,
    source: count,
    target: targetCounts.get(records) ?? 0,
  }));
  return { isComplete: true, processedCount, differentCount, counts };
}

/**
 * Copies all records to another storage, in batches, and yields the outcome of each batch. Records that the target
 * already has are not changed, so an interrupted copy can be repeated. Workspaces are copied first, so that a server
 * that starts on an incomplete copy finds a workspace, and does not create the demo workspace.
 */
async function* copyRecords(source: StorageEngine, target: StorageEngine): AsyncGenerator<BatchOutcome> {
  const otherNames = globalStoreNames.filter((name) => name !== 'workspaces');
  for (const name of ['workspaces', ...otherNames]) {
    const [from, to] = [getGlobalStore(source, name), getGlobalStore(target, name)];
    for await (const batch of readBatches((after, take) => from.list(after, take), BATCH_RECORD_COUNT))
      yield addBatch(to, batch);
  }
  for await (const { id: workspaceId } of iterateGlobal(source.workspaces)) {
    for (const { name, complete } of schemas) {
      const [from, to] = [getStore(source, name), getStore(target, name)];
      const read = (after: string, take: number) => from.listById(workspaceId, after, take);
      const store: TargetStore<AnyRecord> = { add: (record) => to.add(record), get: (id) => to.get(workspaceId, id) };
      for await (const batch of readBatches(read, BATCH_RECORD_COUNT)) yield addBatch(store, batch.map(complete));
    }
  }
}

/**
 * Counts the records of each store, by its name. Omits stores whose records expire, because two storages may delete
 * expired records at different times.
 */
async function countRecords(engine: StorageEngine): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const add = (name: string, count: number) => counts.set(name, (counts.get(name) ?? 0) + count);
  for (const name of globalStoreNames) {
    add(name, 0);
    for await (const _ of iterateGlobal(getGlobalStore(engine, name))) add(name, 1);
  }
  for await (const { id } of iterateGlobal(engine.workspaces)) {
    for (const { name, expires } of schemas) {
      if (expires === undefined) add(name, await getStore(engine, name).count(id, []));
    }
  }
  return counts;
}

interface TargetStore<T> {
  add(record: T): Promise<void>;
  get(id: string): Promise<unknown>;
}

/** Adds the records that a store does not have, and compares the others with it. */
async function addBatch<T extends { readonly id: string }>(
  store: TargetStore<T>,
  records: readonly T[],
): Promise<BatchOutcome> {
  let differentCount = 0;
  const add = async (record: T) => {
    try {
      await store.add(record);
    } catch (error) {
      if (!(error instanceof CoreError && error.kind === 'conflict')) throw error;
      if (!isDeepStrictEqual(await store.get(record.id), record)) differentCount++;
    }
  };
  await Promise.all(records.map(add));
  return { processedCount: records.length, differentCount };
}

function getStore(engine: StorageEngine, name: string): RecordStore<AnyRecord> {
  return engine[name as keyof typeof recordSchemas] as unknown as RecordStore<AnyRecord>;
}

function getGlobalStore(engine: StorageEngine, name: string): GlobalRecordStore<{ readonly id: string }> {
  return engine[name as (typeof globalStoreNames)[number]] as GlobalRecordStore<{ readonly id: string }>;
}
