import { setTimeout as delay } from 'node:timers/promises';
import { type BatchControl, iterateGlobal, readBatches } from './iterate-by-id.ts';
import type { GlobalRecordStore } from './record-store.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from './storage-engine.ts';

const BATCH_RECORD_COUNT = 100;
/**
 * The time after which no server writes records of the workspace any more: 5 seconds until each server rejects its keys
 * and links, 2 seconds until it stores its clicks, and one second for the last request.
 */
const SETTLE_MS = 8_000;

const storeNames = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];

interface DeletionControl extends BatchControl {
  readonly settleMs?: number;
}

/**
 * Deletes a workspace and all of its records, while servers run. Its keys are deleted first. The workspace itself is
 * deleted last, so an interrupted deletion can be repeated.
 */
export async function deleteWorkspace(
  engine: StorageEngine,
  workspaceId: string,
  { signal, onProgress, settleMs = SETTLE_MS }: DeletionControl,
): Promise<{ readonly isComplete: boolean; readonly deletedCount: number }> {
  const counts = await Promise.all(storeNames.map((name) => engine[name].count(workspaceId, [])));
  const total = counts.reduce((sum, count) => sum + count, 0);
  let deletedCount = 0;
  const deleteRecords = async () => {
    for await (const count of deleteInBatches(engine, workspaceId)) {
      deletedCount += count;
      onProgress(deletedCount, Math.max(deletedCount, total));
      if (signal.aborted) return;
    }
  };
  await deleteRecords();
  if (deletedCount > 0) {
    await delay(settleMs, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted) await deleteRecords();
  }
  if (signal.aborted) return { isComplete: false, deletedCount };
  await engine.workspaces.remove(workspaceId);
  return { isComplete: true, deletedCount };
}

/** Deletes all records of a workspace, and yields the number of records in each batch. */
async function* deleteInBatches(engine: StorageEngine, workspaceId: string): AsyncGenerator<number> {
  // The order of the names begins with the credentials of keys.
  for (const name of globalStoreNames) {
    if (name === 'workspaces') continue;
    const store = engine[name] as GlobalRecordStore<{ readonly id: string; readonly workspaceId?: string }>;
    for await (const record of iterateGlobal(store)) {
      if (record.workspaceId === workspaceId && (await store.remove(record.id))) yield 0;
    }
  }
  for (const name of storeNames) {
    const read = (after: string, take: number) => engine[name].listById(workspaceId, after, take);
    for await (const batch of readBatches<{ readonly id: string }>(read, BATCH_RECORD_COUNT)) {
      await Promise.all(batch.map(({ id }) => engine[name].remove(workspaceId, id)));
      yield batch.length;
    }
  }
}
