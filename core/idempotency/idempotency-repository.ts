import type { Repository } from '../shared/repository.ts';
import type { IdempotencyRecord } from './idempotency.ts';

/**
 * The locks and stored responses of all workspaces. Unlike in other repositories, an added lock may not be durable yet when `add` resolves.
 */
export type IdempotencyRepository = Pick<Repository<IdempotencyRecord>, 'add' | 'update'>;
