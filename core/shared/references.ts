import { createInvalidFieldsError, type FieldError } from './core-error.ts';

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
