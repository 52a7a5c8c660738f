import type { GlobalRecordStore } from './record-store.ts';

const BATCH_RECORD_COUNT = 1000;

/** Controls work on many records, which stops after the current batch if `signal` is aborted. */
export interface BatchControl {
  readonly signal: AbortSignal;
  /** Called after each batch, with the number of records so far, and the expected number of all records. */
  onProgress(processedCount: number, totalCount: number): void;
}

/**
 * Reads the next `take` records after an ID, in the order of their IDs. If fewer than `take` remain, reads all of
 * these.
 */
type ReadById<T> = (after: string, take: number) => Promise<readonly T[]>;

/** Iterates over all records in the order of their IDs. It keeps one batch of records in memory at a time. */
export async function* iterateById<T extends { readonly id: string }>(read: ReadById<T>): AsyncGenerator<T> {
  for await (const batch of readBatches(read, BATCH_RECORD_COUNT)) yield* batch;
}

export function iterateGlobal<E extends { readonly id: string }>(store: GlobalRecordStore<E>): AsyncGenerator<E> {
  return iterateById((after, take) => store.list(after, take));
}

/** Iterates over all records in batches of `size`, in the order of their IDs. No batch is empty. */
export async function* readBatches<T extends { readonly id: string }>(
  read: ReadById<T>,
  size: number,
): AsyncGenerator<readonly T[]> {
  for (let after = ''; ; ) {
    const batch = await read(after, size);
    const last = batch.at(-1);
    if (!last) return;
    yield batch;
    if (batch.length < size) return;
    after = last.id;
  }
}
