import { CoreError } from './core-error.ts';
import type { Entity, RecordStore } from './record-store.ts';

/** What becomes of one of many: the record, or why it is refused. */
export type BatchResult<T> = T | CoreError;

export function isRejected<T>(outcome: BatchResult<T>): outcome is CoreError {
  return outcome instanceof CoreError;
}

/**
 * Adds the records among the outcomes of a batch, and returns the outcome of each. If `ids` are given, they replace the ids
 * of the records, and a record that an earlier attempt stored under its id counts as added. So a batch can be retried if it
 * is unknown whether it was stored.
 */
export async function addAll<T extends Entity>(
  records: RecordStore<T>,
  workspaceId: string,
  batch: readonly BatchResult<T>[],
  ids?: readonly string[],
): Promise<readonly BatchResult<T>[]> {
  const made = ids ? batch.map((it, i) => (isRejected(it) ? it : { ...it, id: ids[i] as string })) : batch;
  const refusals = await records.addMany(made.filter((it): it is T => !isRejected<T>(it)));
  let index = 0;
  const outcomes = made.map((outcome) => {
    if (isRejected(outcome)) return outcome;
    const refusal = refusals.get(index++);
    return refusal === undefined ? outcome : new CoreError('conflict', refusal);
  });
  if (!ids) return outcomes;
  const refused = ids.filter((_, i) => isRejected(outcomes[i]));
  if (refused.length === 0) return outcomes;
  const stored = new Map((await records.getMany(workspaceId, refused)).map((record) => [record.id, record as T]));
  return outcomes.map((outcome, i) => (isRejected(outcome) && stored.get(ids[i] as string)) || outcome);
}

/** What has a name that is unique in its workspace. */
type Named = Entity & { readonly foldedName: string; readonly createdAt: string };

/** Which of the folded names are taken. */
export async function takenNames<T extends Named>(
  records: RecordStore<T>,
  workspaceId: string,
  names: readonly string[],
): Promise<Set<string>> {
  const distinct = [...new Set(names)];
  const taken = await (records as RecordStore<Named>).list(workspaceId, {
    where: [{ field: 'foldedName', in: distinct }],
    by: 'createdAt',
    order: 'asc',
    skip: 0,
    take: distinct.length,
  });
  return new Set(taken.map(({ foldedName }) => foldedName));
}
