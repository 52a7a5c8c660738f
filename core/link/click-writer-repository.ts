import type { Repository } from '../shared/repository.ts';
import type { ClickWriter } from './click-writer.ts';

/** The click writers of all workspaces. A writer that has expired may be missing. */
export type ClickWriterRepository = Pick<Repository<ClickWriter>, 'findById' | 'add' | 'update'>;
