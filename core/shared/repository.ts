import type { Entity } from './entity.ts';

/**
 * The methods that several repositories have. The repository of each type of record picks those that its use cases need.
 *
 * No method reads or changes a record of another workspace. Changing a returned value does not change the stored record. Every method
 * rejects if the storage is unavailable.
 *
 * When the promise of a change resolves, the change is durable (with the memory storage, until the process ends). This also holds if the
 * call finds that the change was made before. So a program can repeat a change whose outcome is unknown.
 */
export interface Repository<T extends Entity> {
  /** Returns a record, or `undefined` if the workspace does not have it. */
  findById(workspaceId: string, id: string): Promise<T | undefined>;
  /** Returns the records that the workspace has, each once, in any order. */
  findMany(workspaceId: string, ids: readonly string[]): Promise<readonly T[]>;
  /** Iterates over all records in the order of their IDs, which begin with the time of creation (`System.newId`) or of the import. */
  iterate(workspaceId: string): AsyncIterable<T>;
  /** Adds a record. Rejects with `conflict` if its ID or a unique value is taken. */
  add(record: T): Promise<void>;
  /**
   * Adds many records, which is cheaper than one call for each. Skips each record whose ID or unique value is taken by a
   * stored record or by a previous one of `records`. Returns the error message of each skipped record by its index. Do not
   * call it in a transaction: there, one taken value can abort the whole transaction.
   */
  addMany(records: readonly T[]): Promise<ReadonlyMap<number, string>>;
  /**
   * Replaces a record by the result of `change`, atomically: no concurrent change is lost. `change` may run again on a newer
   * value, so it must not have side effects. If it throws, the record is unchanged. If it returns its argument, nothing is
   * written. Returns the new record, or `undefined` if the workspace does not have it.
   */
  update(workspaceId: string, id: string, change: (current: T) => T): Promise<T | undefined>;
  /** Removes a record. Returns whether it existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}
