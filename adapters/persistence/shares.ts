import { createShareId, type Share } from '../../core/campaign/campaign.ts';
import type { ShareRepository } from '../../core/campaign/share-repository.ts';
import type { RecordStore } from './record-store.ts';
import { createMapping, createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

export const shareSchema = defineSchema<Share>({ defaults: { position: 0 } });

export function createShareRepository(store: RecordStore<Share>): ShareRepository {
  const { add } = createRepository(store, createMapping(shareSchema));
  return {
    add,
    async findPositions(workspaceId, memberId, campaignIds) {
      const ids = campaignIds.map((campaignId) => createShareId(memberId, campaignId));
      const shares = await store.getMany(workspaceId, ids, ['campaignId', 'position']);
      return new Map(
        shares.map(({ campaignId, position = shareSchema.defaults.position as number }) => [campaignId, position]),
      );
    },
  };
}
