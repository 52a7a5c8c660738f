import type { FieldError } from './core-error.ts';

/** Returns which of the IDs belong to records of the workspace. */
export async function findKnownIds(
  repository: { findMany(workspaceId: string, ids: readonly string[]): Promise<readonly { readonly id: string }[]> },
  workspaceId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set((await repository.findMany(workspaceId, ids)).map(({ id }) => id));
}

/**
 * Checks the references in a field. Returns an error for each reference that is not in `known`. `value` is one
 * reference or a list. The error is the same for a record that is unknown, deleted, or of another workspace.
 */
export function findReferenceErrors(
  known: ReadonlySet<string>,
  field: string,
  value: string | readonly string[] | null | undefined,
  problem: string,
): readonly FieldError[] {
  if (!value) return [];
  if (typeof value === 'string') return known.has(value) ? [] : [{ path: field, problem }];
  return value.flatMap((id, index) => (known.has(id) ? [] : [{ path: `${field}.${index}`, problem }]));
}
