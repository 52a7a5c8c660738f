import { DomainError } from './error.ts';
import type { Entity, Records } from './records.ts';

/** What becomes of one of many: the record, or why it is refused. */
export type Outcome<T> = T | DomainError;

export function isRefused<T>(outcome: Outcome<T>): outcome is DomainError {
  return outcome instanceof DomainError;
}

/** Adds the records among the outcomes of a batch, and tells of each what has become of it now. */
export async function addAll<T extends Entity>(
  records: Records<T>,
  batch: readonly Outcome<T>[],
): Promise<readonly Outcome<T>[]> {
  const refusals = await records.addMany(batch.filter((it): it is T => !isRefused<T>(it)));
  let index = 0;
  return batch.map((outcome) => {
    if (isRefused(outcome)) return outcome;
    const refusal = refusals.get(index++);
    return refusal === undefined ? outcome : new DomainError('conflict', refusal);
  });
}

/** What has a name that is unique in its workspace. */
type Named = Entity & { readonly foldedName: string; readonly createdAt: string };

/** Which of the folded names are taken. */
export async function takenNames<T extends Named>(
  records: Records<T>,
  workspaceId: string,
  names: readonly string[],
): Promise<Set<string>> {
  const distinct = [...new Set(names)];
  const taken = await (records as Records<Named>).list(workspaceId, {
    where: [{ field: 'foldedName', in: distinct }],
    by: 'createdAt',
    order: 'asc',
    skip: 0,
    take: distinct.length,
  });
  return new Set(taken.map(({ foldedName }) => foldedName));
}
