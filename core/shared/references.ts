import { type Fault, invalid } from './error.ts';
import type { Entity, Records } from './records.ts';

/**
 * The faults of ids that name no record of the workspace: one that never was, a deleted one and another workspace's
 * look alike. `path` names the field of the id at an index.
 */
export async function unknownReferences<T extends Entity>(
  records: Records<T>,
  workspaceId: string,
  ids: readonly string[],
  path: (index: number) => string,
  problem: string,
  accepts: (record: T) => boolean = () => true,
): Promise<readonly Fault[]> {
  if (ids.length === 0) return [];
  const known = new Set((await records.getMany(workspaceId, ids)).filter(accepts).map(({ id }) => id));
  return ids.flatMap((id, index) => (known.has(id) ? [] : [{ path: path(index), problem }]));
}

/** Refuses with `invalid` all that the checks found, in their order. */
export async function requireReferences(...checks: readonly Promise<readonly Fault[]>[]): Promise<void> {
  const faults = (await Promise.all(checks)).flat();
  if (faults.length > 0) throw invalid(faults);
}
