import type { Entity } from './entity.ts';

/**
 * The promises that all repositories share:
 *
 * - Isolation: no method reads or changes an entity of another workspace. For an ID that the workspace does not
 *   have, a method returns `undefined` or `false`, or omits the ID.
 * - Copies: changing a returned value does not change what is stored.
 * - Durability: when the promise of a change resolves, the change is durable (in memory, until the process ends). This
 *   also holds if the call finds that the change was made before. So a change whose outcome is unknown can be repeated.
 * - Retries: a repository retries after write conflicts and short outages. It rejects if the storage is unavailable.
 * - Uniqueness: `add` and `update` reject with `conflict` if the ID or a unique value is taken.
 * - Order: `findMany` returns each entity once, in any order.
 * - Atomic updates: see `EntityChange`.
 *
 * The port of each type of entity lists the methods that its use cases need.
 */

/**
 * Returns the new value of an entity. A concurrent change is never lost: the function may run again on a newer value,
 * so it must not have side effects. If it throws, the entity is unchanged. If it returns its argument, nothing is
 * written. `update` resolves to the new entity.
 */
export type EntityChange<T> = (current: T) => T;

/** Returns the ID and the given fields of entities. Finds many entities without delaying other requests. */
export type FindFields<T extends Entity> = <F extends keyof T & string>(
  workspaceId: string,
  ids: readonly string[],
  fields: readonly F[],
) => Promise<readonly Pick<T, F | 'id'>[]>;
