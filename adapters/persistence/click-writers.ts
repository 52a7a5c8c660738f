import type { ClickWriter } from '../../core/link/click-writer.ts';
import type { ClickWriterRepository } from '../../core/link/click-writer-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

/**
 * The processes that store clicks. In each workspace, a process has a record with the number of the last batch that the process stored
 * there.
 */
export const clickWriterSchema = defineSchema<ClickWriter>({
  columns: { expiresAt: 'number' },
  expires: 'expiresAt',
});

export function createClickWriterRepository(store: RecordStore<ClickWriter>): ClickWriterRepository {
  return createRepository(store, clickWriterSchema);
}
