import type { Repository } from '../shared/repository.ts';
import type { ClickWriter } from './click-writer.ts';

/** The processes that store clicks, of all workspaces. A writer does not exist if it has stored no batch, or if its record has expired. */
export type ClickWriterRepository = Pick<Repository<ClickWriter>, 'findById' | 'add' | 'update'>;
