import type { Link } from '../../core/link/link.ts';
import type { LinkRepository } from '../../core/link/link-repository.ts';
import { type CampaignRecord, campaignSchema } from './campaigns.ts';
import type { GlobalRecordStore, RecordStore } from './record-store.ts';

/**
 * A short link. Its `id` is the key of the link, which is the path of its URL. IDs are unique over all workspaces, so
 * the keys of links are unique, too.
 */
export interface StoredLink extends Omit<Link, 'key'> {
  readonly id: string;
}

const CAMPAIGN_FIELDS = ['status', 'destinationUrl', 'startsAt', 'endsAt', 'domain'] as const;

export function createLinkRepository(
  store: GlobalRecordStore<StoredLink>,
  campaigns: RecordStore<CampaignRecord>,
): LinkRepository {
  return {
    async findByKey(key) {
      const record = await store.get(key);
      if (!record) return undefined;
      const { id, ...link } = record;
      return { key: id, ...link };
    },
    async findCampaign(workspaceId, campaignId) {
      const campaign = await campaigns.get(workspaceId, campaignId, CAMPAIGN_FIELDS);
      return campaign && campaignSchema.withDefaults(campaign);
    },
    add: ({ key, ...link }) => store.add({ id: key, ...link }),
  };
}
