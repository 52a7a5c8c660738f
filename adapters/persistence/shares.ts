import { createShareId, type Share } from '../../core/share/share.ts';
import type { ShareRepository } from '../../core/share/share-repository.ts';
import type { Condition, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';

export const shareSchema = defineSchema<Share>({
  columns: { campaignId: 'text', memberId: 'text', createdAt: 'text', clicks: 'number' },
  indexes: [
    ['campaignId', 'createdAt'],
    ['campaignId', 'clicks'],
    ['memberId', 'createdAt'],
    ['memberId', 'clicks'],
  ],
  defaults: { rewards: '0' },
});

export function createShareRepository(store: RecordStore<Share>): ShareRepository {
  return {
    findPage(workspaceId, { campaignId, memberId, sortBy, sortOrder }, request) {
      const where: Condition<Share>[] = [];
      if (campaignId) where.push({ field: 'campaignId', in: [campaignId] });
      if (campaignId && memberId) where.push({ field: 'id', in: [createShareId(memberId, campaignId)] });
      else if (memberId) where.push({ field: 'memberId', in: [memberId] });
      const query = { where, by: sortBy, order: sortOrder };
      return readPage(store, workspaceId, query, request, shareSchema.toEntity);
    },
    ...createRepository(store, shareSchema),
  };
}
