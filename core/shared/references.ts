import { type FieldError, invalidFields } from './core-error.ts';
import type { Entity, Field, RecordStore } from './record-store.ts';

/** Which of the ids name records of the workspace that are accepted by some fields; each id is asked for once. */
export async function knownIds<T extends Entity, F extends Field<T> = never>(
  records: RecordStore<T>,
  workspaceId: string,
  ids: readonly string[],
  fields: readonly F[] = [],
  accepts: (record: Pick<T, F>) => boolean = () => true,
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const known = await records.getMany(workspaceId, [...new Set(ids)], fields);
  return new Set(known.filter(accepts).map(({ id }) => id));
}

/**
 * The faults of ids that are not known: one that never was, a deleted one and another workspace's look alike. `path`
 * names the field of the id at an index.
 */
export function referenceErrors(
  known: ReadonlySet<string>,
  ids: readonly string[],
  path: (index: number) => string,
  problem: string,
): readonly FieldError[] {
  return ids.flatMap((id, index) => (known.has(id) ? [] : [{ path: path(index), problem }]));
}

/** Refuses with `invalid` all faults that were found. */
export function throwIfInvalid(faults: readonly FieldError[]): void {
  if (faults.length > 0) throw invalidFields(faults);
}
