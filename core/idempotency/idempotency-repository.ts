import type { IdempotencyRecord } from './idempotency.ts';

/** The locks and stored responses of all workspaces. The methods keep the promises of `Repository` (core/shared/repository.ts). */
export interface IdempotencyRepository {
  /**
   * Adds a lock. Rejects with `conflict` if there is a record with its ID. Unlike in other repositories, the lock may not be durable
   * yet when `add` resolves.
   */
  add(lock: IdempotencyRecord): Promise<void>;
  /**
   * Replaces a lock or a stored response by the result of `change`, atomically. If `change` returns its argument, nothing is written.
   * Returns the new record, or `undefined` if there is none with this ID, for example because it has expired.
   */
  update(
    workspaceId: string,
    id: string,
    change: (current: IdempotencyRecord) => IdempotencyRecord,
  ): Promise<IdempotencyRecord | undefined>;
}
