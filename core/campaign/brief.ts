import type { ContentPillar } from '../content-pillar/content-pillar.ts';
import type { Group } from '../group/group.ts';
import type { Tag } from '../tag/tag.ts';
import type { Campaign, CampaignResource } from './campaign.ts';

const RESOURCE_FIELDS = ['type', 'mimeType', 'size', 'width', 'height', 'thumbnailUrl', 'language', 'order'] as const;
type ResourceField = (typeof RESOURCE_FIELDS)[number];

/** A resource with all fields. Absent values are `null`. */
export type BriefResource = Pick<CampaignResource, 'url'> & {
  readonly [F in ResourceField]: NonNullable<CampaignResource[F]> | null;
};

/** A campaign with all that an employee needs to share it: full resources, and its tags, groups and content pillar. */
export interface Brief extends Omit<Campaign, 'resources'> {
  readonly campaignId: string;
  readonly resources: readonly BriefResource[];
  readonly tags: readonly Tag[];
  readonly groups: readonly Group[];
  readonly contentPillar: ContentPillar | null;
}

/** The records that campaigns refer to and that still exist, by their IDs. */
export interface ReferencedRecords {
  readonly tags: ReadonlyMap<string, Tag>;
  readonly groups: ReadonlyMap<string, Group>;
  readonly contentPillars: ReadonlyMap<string, ContentPillar>;
}

/** Returns the brief of a campaign. Its tags and groups are in the order of their IDs in the campaign. */
export function toBrief(campaign: Campaign, { tags, groups, contentPillars }: ReferencedRecords): Brief {
  return {
    ...campaign,
    campaignId: campaign.id,
    resources: campaign.resources.map(toBriefResource),
    tags: selectInOrder(campaign.tagIds, tags),
    groups: selectInOrder(campaign.groupIds, groups),
    contentPillar: contentPillars.get(campaign.contentPillarId ?? '') ?? null,
  };
}

function toBriefResource(resource: CampaignResource): BriefResource {
  const fields = RESOURCE_FIELDS.map((field) => [field, resource[field] ?? null]);
  return { url: resource.url, ...Object.fromEntries(fields) };
}

/** Returns the records with these IDs, in the order of the IDs. */
export function selectInOrder<T>(ids: readonly string[], records: ReadonlyMap<string, T>): readonly T[] {
  return ids.flatMap((id) => records.get(id) ?? []);
}
