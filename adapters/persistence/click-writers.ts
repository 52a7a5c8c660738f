import type { ClickWriter } from '../../core/link/click-writer.ts';
import type { ClickWriterRepository } from '../../core/link/click-writer-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

/**
 * How far each process has stored the clicks of each workspace: one record for each process and workspace, with the
 * number of the last batch that was stored.
 */
export const clickWriterSchema = defineSchema<ClickWriter>({
  columns: { expiresAt: 'number' },
  expires: 'expiresAt',
});

export function createClickWriterRepository(store: RecordStore<ClickWriter>): ClickWriterRepository {
  return createRepository(store, clickWriterSchema);
}
