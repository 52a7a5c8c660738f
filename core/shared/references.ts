import { createInvalidFieldsError, type FieldError } from './core-error.ts';
import type { Entity, Field, RecordStore } from './record-store.ts';

/**
 * Returns those of the ids that belong to a record of the workspace for which `accepts` returns true. Reads each record once.
 * `fields` are the fields that `accepts` needs.
 */
export async function findKnownIds<T extends Entity, F extends Field<T> = never>(
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
 * Returns an error for each id that is not known. The error is the same for an id that is unknown, deleted, or of another
 * workspace. `path` returns the path of the id at an index.
 */
export function findReferenceErrors(
  known: ReadonlySet<string>,
  ids: readonly string[],
  path: (index: number) => string,
  problem: string,
): readonly FieldError[] {
  return ids.flatMap((id, index) => (known.has(id) ? [] : [{ path: path(index), problem }]));
}

/** Throws `invalid` if there is at least one error. */
export function throwIfInvalid(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw createInvalidFieldsError(errors);
}
