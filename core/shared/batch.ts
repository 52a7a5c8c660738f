import { CoreError } from './core-error.ts';
import type { Entity } from './entity.ts';
import type { Repository } from './repository.ts';

/** The result of one item of a batch: the entity, or the error. */
export type BatchResult<T> = T | CoreError;

export function isRejected<T>(result: BatchResult<T>): result is CoreError {
  return result instanceof CoreError;
}

/**
 * Adds the entities of a batch. Each item of the batch is an entity, or the error of its validation. Returns the result of each
 * item, in the same order. If `ids` are given, the entities get these IDs, and an entity that is already stored under its new ID
 * counts as added. So a batch can be retried if it is unknown whether it was stored.
 */
export async function addValidEntities<T extends Entity>(
  repository: Pick<Repository<T>, 'findMany' | 'addMany'>,
  workspaceId: string,
  batch: readonly BatchResult<T>[],
  ids?: readonly string[],
): Promise<readonly BatchResult<T>[]> {
  const items = ids ? batch.map((it, i) => (isRejected(it) ? it : { ...it, id: ids[i] as string })) : batch;
  const conflictMessages = await repository.addMany(items.filter((it): it is T => !isRejected<T>(it)));
  let index = 0;
  const results = items.map((item) => {
    if (isRejected(item)) return item;
    const message = conflictMessages.get(index++);
    return message === undefined ? item : new CoreError('conflict', message);
  });
  if (!ids) return results;
  const rejectedIds = ids.filter((_, i) => isRejected(results[i]));
  if (rejectedIds.length === 0) return results;
  const stored = new Map((await repository.findMany(workspaceId, rejectedIds)).map((entity) => [entity.id, entity]));
  return results.map((result, i) => (isRejected(result) && stored.get(ids[i] as string)) || result);
}
