import type { ClickCheckpoint } from '../../core/share/click-checkpoint.ts';
import type { ClickCheckpointRepository } from '../../core/share/click-checkpoint-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

export const clickCheckpointSchema = defineSchema<ClickCheckpoint>({
  columns: { expiresAt: 'number' },
  expires: 'expiresAt',
});

export function createClickCheckpointRepository(store: RecordStore<ClickCheckpoint>): ClickCheckpointRepository {
  return createRepository(store, clickCheckpointSchema);
}
