import { findGroupReferenceErrors } from '../group/group-references.ts';
import { isSameValue } from '../shared/changes.ts';
import type { FieldError } from '../shared/core-error.ts';
import { findKnownIds, findReferenceErrors } from '../shared/references.ts';
import type { Storage } from '../storage.ts';
import type { Campaign, CampaignChange } from './campaign.ts';

/** The fields of a campaign that refer to other records. */
type CampaignReferences = Pick<CampaignChange, 'tagIds' | 'groupIds' | 'contentPillarId' | 'domain'>;

/**
 * Returns the reference fields of a change that differ from the campaign. Fields that the change omits are `undefined`. An unchanged field is valid even if a record that it refers to
 * was deleted or archived.
 */
export function selectChangedReferences(campaign: Campaign, change: CampaignChange): CampaignReferences {
  const { tagIds, groupIds, contentPillarId, domain } = change;
  const references = Object.entries({ tagIds, groupIds, contentPillarId, domain });
  return Object.fromEntries(references.filter(([name, ids]) => !isSameValue(ids, campaign[name as keyof Campaign])));
}

/**
 * Returns a function that returns an error for each invalid reference of a campaign. Reads all records that a batch of
 * campaigns refers to, with at most one read for each type of record.
 */
export async function createReferenceCheck(
  { tags, groups, contentPillars, domains }: Storage,
  workspaceId: string,
  batch: readonly CampaignReferences[],
): Promise<(fields: CampaignReferences) => readonly FieldError[]> {
  const allTagIds = batch.flatMap((fields) => fields.tagIds ?? []);
  const allGroupIds = batch.flatMap((fields) => fields.groupIds ?? []);
  const pillarIds = batch.flatMap(({ contentPillarId }) => contentPillarId ?? []);
  const slugs = batch.flatMap(({ domain }) => domain ?? []);
  const [knownTagIds, knownGroupIds, pillars, knownDomains] = await Promise.all([
    findKnownIds(tags, workspaceId, allTagIds),
    findKnownIds(groups, workspaceId, allGroupIds),
    contentPillars.findMany(workspaceId, pillarIds),
    domains.findBySlugs(workspaceId, slugs),
  ]);
  const publishedPillarIds = new Set(pillars.filter(({ status }) => status === 'published').map(({ id }) => id));
  const liveSlugs = new Set(knownDomains.filter(({ archived }) => !archived).map(({ slug }) => slug));
  const domainProblem = 'must be a domain of this workspace that is not archived';
  const pillarProblem = 'must be the ID of a published content pillar of this workspace';
  return (fields) => [
    ...findReferenceErrors(liveSlugs, 'domain', fields.domain, domainProblem),
    ...findReferenceErrors(knownTagIds, 'tagIds', fields.tagIds, 'must be the ID of a tag of this workspace'),
    ...findGroupReferenceErrors(knownGroupIds, 'groupIds', fields.groupIds),
    ...findReferenceErrors(publishedPillarIds, 'contentPillarId', fields.contentPillarId, pillarProblem),
  ];
}
