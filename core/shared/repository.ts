import type { Entity } from './entity.ts';

/**
 * The methods that several repositories have. The repository of each type of entity picks those that its use cases
 * need.
 *
 * No method reads or changes an entity of another workspace. Changing a returned value does not change what is stored.
 * Every method rejects if the storage is unavailable.
 *
 * When the promise of a change resolves, the change is durable (with the memory storage, until the process ends). This
 * also holds if the call finds that the change was made before. So a program can repeat a change whose outcome is
 * unknown.
 */
export interface Repository<T extends Entity> {
  /** Returns an entity, or `undefined` if the workspace does not have it. */
  findById(workspaceId: string, id: string): Promise<T | undefined>;
  /** Returns the entities that the workspace has, each once, in any order. */
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly T[]>;
  /** Iterates over all entities in the order of their IDs, which begin with the time of creation (`System.newId`). */
  iterate(workspaceId: string): AsyncIterable<T>;
  /** Adds an entity. Rejects with `conflict` if its ID or a unique value is taken. */
  add(entity: T): Promise<void>;
  /**
   * Replaces an entity by the result of `change`, atomically: no concurrent change is lost. `change` may run again on a
   * newer value, so it must not have side effects. If it throws, the entity is unchanged. If it returns its argument,
   * nothing is written. Returns the new entity, or `undefined` if the workspace does not have it.
   */
  update(workspaceId: string, id: string, change: (current: T) => T): Promise<T | undefined>;
  /**
   * Replaces the entities that the workspace has, each as `update` does, in a few commands. Returns the new entities,
   * each once, in any order. Call it in a transaction: outside of one, an error can leave some entities changed and
   * others not.
   */
  updateMany(workspaceId: string, ids: readonly string[], change: (current: T) => T): Promise<readonly T[]>;
  /** Removes an entity. Returns whether it existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
