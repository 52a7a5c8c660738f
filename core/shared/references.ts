import { type Fault, invalid } from './error.ts';
import type { Entity, Field, Records } from './records.ts';

/** Which of the ids name records of the workspace that are accepted by some fields; each id is asked for once. */
export async function knownIds<T extends Entity, F extends Field<T> = never>(
  records: Records<T>,
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
export function unknownReferences(
  known: ReadonlySet<string>,
  ids: readonly string[],
  path: (index: number) => string,
  problem: string,
): readonly Fault[] {
  return ids.flatMap((id, index) => (known.has(id) ? [] : [{ path: path(index), problem }]));
}

/** Refuses with `invalid` all faults that were found. */
export function requireNone(faults: readonly Fault[]): void {
  if (faults.length > 0) throw invalid(faults);
}
