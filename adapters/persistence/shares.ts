import { createShareId, type Share } from '../../core/share/share.ts';
import type { ShareRepository } from '../../core/share/share-repository.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';

export const shareSchema = defineSchema<Share>({
  columns: { campaignId: 'text', createdAt: 'text', clicks: 'number' },
  indexes: [
    ['campaignId', 'createdAt'],
    ['campaignId', 'clicks'],
  ],
});

export function createShareRepository(store: RecordStore<Share>): ShareRepository {
  return {
    findPage(workspaceId, { campaignId, memberId, sortBy, sortOrder }, request) {
      const where: Condition<Share>[] = [{ field: 'campaignId', in: [campaignId] }];
      if (memberId) where.push({ field: 'id', in: [createShareId(memberId, campaignId)] });
      const query = { where, by: sortBy, order: sortOrder };
      return readPage(store, workspaceId, query, request, shareSchema.toEntity);
    },
    ...createRepository(store, shareSchema),
  };
}
