import type { EntityChange } from '../shared/repository.ts';
import type { IdempotencyRecord } from './idempotency.ts';

/** The locks and stored responses of all workspaces. A record that has expired may be missing. */
export interface IdempotencyRepository {
  /**
   * Adds a lock. Rejects with `conflict` if there is a record with its ID. Unlike in other repositories, the lock may
   * not be durable yet when `add` resolves.
   */
  add(lock: IdempotencyRecord): Promise<void>;
  update(
    workspaceId: string,
    id: string,
    change: EntityChange<IdempotencyRecord>,
  ): Promise<IdempotencyRecord | undefined>;
}
