import type { Repository } from '../shared/repository.ts';
import type { IdempotencyRecord } from './idempotency.ts';

/** The locks and stored responses of all workspaces. */
export type IdempotencyRepository = Pick<Repository<IdempotencyRecord>, 'add' | 'update'>;
