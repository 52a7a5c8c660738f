import { CAMPAIGN_SUMMARY_FIELDS, type Campaign, type CampaignSort } from '../../core/campaign/campaign.ts';
import type { CampaignFilter, CampaignRepository } from '../../core/campaign/campaign-repository.ts';
import { createShareId, type Share } from '../../core/share/share.ts';
import { fold } from '../../core/shared/text.ts';
import { EVERYONE, toAudience } from './audience.ts';
import type { Condition, Field, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';
import { buildSearchText } from './search-text.ts';
import { shareSchema } from './shares.ts';

interface CampaignColumns {
  readonly archived: boolean;
  /** The IDs of the groups, or `EVERYONE`. */
  readonly audience: readonly string[];
  readonly searchText: string;
}

export type CampaignRecord = Campaign & CampaignColumns;

export const campaignSchema = defineSchema<Campaign, CampaignColumns>({
  derived: {
    archived: ({ status }) => status === 'archived',
    audience: ({ groupIds }) => toAudience(groupIds),
    searchText: ({ name, description }) => buildSearchText(name, description),
  },
  columns: {
    archived: 'boolean',
    status: 'text',
    audience: 'texts',
    createdAt: 'text',
    updatedAt: 'text',
    startsAt: 'number',
    endsAt: 'number',
    tagIds: 'texts',
    domain: 'text',
    createdBy: 'text',
    searchText: 'text',
  },
  indexes: [
    ['archived', 'createdAt'],
    ['archived', 'updatedAt'],
    ['archived', 'startsAt'],
    ['tagIds', 'createdAt'],
    ['domain', 'createdAt'],
    ['createdBy', 'createdAt'],
    ['status', 'createdAt'],
    ['audience', 'createdAt'],
  ],
  defaults: { rewardsSpent: '0' },
});

const POSITION_FIELDS = ['campaignId', 'position'] as const;

/** The column that each sort orders by. */
const sortColumns: Record<CampaignSort, Field<CampaignRecord>> = {
  createdAt: 'createdAt',
  updatedAt: 'updatedAt',
  startDate: 'startsAt',
};

export function createCampaignRepository(
  store: RecordStore<CampaignRecord>,
  shares: RecordStore<Share>,
): CampaignRepository {
  const { withDefaults } = campaignSchema;
  return {
    async findSummary(workspaceId, id) {
      const summary = await store.get(workspaceId, id, CAMPAIGN_SUMMARY_FIELDS);
      return summary && withDefaults(summary);
    },
    findPage(workspaceId, filter, request) {
      const where = toConditions(filter);
      const query = { where, by: sortColumns[filter.sortBy], order: 'desc', fields: CAMPAIGN_SUMMARY_FIELDS } as const;
      return readPage(store, workspaceId, query, request, withDefaults);
    },
    async findSharePositions(workspaceId, memberId, campaignIds) {
      const ids = campaignIds.map((campaignId) => createShareId(memberId, campaignId));
      const found = await shares.getMany(workspaceId, ids, POSITION_FIELDS);
      return new Map(found.map(shareSchema.withDefaults).map(({ campaignId, position }) => [campaignId, position]));
    },
    ...createRepository(store, campaignSchema),
  };
}

function toConditions(filter: CampaignFilter): Condition<CampaignRecord>[] {
  const { dates: { minStart, maxStart, minEnd } = {}, includeArchived, domain, tagIds, createdBy, search } = filter;
  const { status, groupIds, availability } = filter;
  const where: Condition<CampaignRecord>[] = [];
  if (minStart !== undefined) where.push({ field: 'startsAt', from: minStart });
  if (maxStart !== undefined) where.push({ field: 'startsAt', to: maxStart });
  if (minEnd !== undefined) where.push({ field: 'endsAt', from: minEnd });
  if (availability) {
    where.push({ field: 'status', in: ['published'] });
    where.push({ field: 'startsAt', to: availability.now });
    where.push({ field: 'endsAt', from: availability.now });
    where.push({ field: 'audience', in: [EVERYONE, ...availability.groupIds] });
  }
  if (status) where.push({ field: 'status', in: status });
  if (groupIds) where.push({ field: 'audience', in: groupIds });
  if (!includeArchived) where.push({ field: 'archived', in: [false] });
  // `null` stands for a text that is not a valid slug: it matches no campaign.
  if (domain !== undefined) where.push({ field: 'domain', in: domain === null ? [] : [domain] });
  for (const ids of tagIds) where.push({ field: 'tagIds', in: ids });
  if (createdBy) where.push({ field: 'createdBy', in: [createdBy] });
  if (search) where.push({ field: 'searchText', contains: fold(search) });
  return where;
}
