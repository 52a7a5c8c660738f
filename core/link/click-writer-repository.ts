import type { Repository } from '../shared/repository.ts';
import type { ClickWriter } from './click-writer.ts';

/**
 * For each process and workspace, the number of the last batch of clicks that the process stored. A writer is missing if it has
 * stored no batch. A writer that has expired may be missing.
 */
export type ClickWriterRepository = Pick<Repository<ClickWriter>, 'findById' | 'add' | 'update'>;
