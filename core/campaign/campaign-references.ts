import type { ContentPillarRepository } from '../content-pillar/content-pillar-repository.ts';
import type { DomainRepository } from '../domain/domain-repository.ts';
import { findGroupReferenceErrors } from '../group/group-references.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import { isSameValue } from '../shared/changes.ts';
import type { FieldError } from '../shared/core-error.ts';
import { findKnownIds, findReferenceErrors } from '../shared/references.ts';
import type { TagRepository } from '../tag/tag-repository.ts';
import type { Campaign, CampaignChange } from './campaign.ts';

export interface ReferencedRepositories {
  readonly tags: TagRepository;
  readonly groups: GroupRepository;
  readonly contentPillars: ContentPillarRepository;
  readonly domains: DomainRepository;
}

type CampaignReferences = Pick<CampaignChange, 'tagIds' | 'groupIds' | 'contentPillarId' | 'domain'>;

/**
 * Returns the reference fields of a change that differ from the campaign. Fields that the change omits are `undefined`.
 * An unchanged field is valid even if a record that it refers to was deleted or archived.
 */
export function selectChangedReferences(campaign: Campaign, change: CampaignChange): CampaignReferences {
  const { tagIds, groupIds, contentPillarId, domain } = change;
  const references = Object.entries({ tagIds, groupIds, contentPillarId, domain });
  return Object.fromEntries(references.filter(([name, ids]) => !isSameValue(ids, campaign[name as keyof Campaign])));
}

/** Returns an error for each invalid reference of a campaign. Makes at most one read for each type of record. */
export async function findCampaignReferenceErrors(
  { tags, groups, contentPillars, domains }: ReferencedRepositories,
  workspaceId: string,
  { tagIds = [], groupIds = [], contentPillarId, domain }: CampaignReferences,
): Promise<readonly FieldError[]> {
  const [knownTagIds, knownGroupIds, pillars, knownDomains] = await Promise.all([
    findKnownIds(tags, workspaceId, tagIds),
    findKnownIds(groups, workspaceId, groupIds),
    contentPillars.findMany(workspaceId, contentPillarId ? [contentPillarId] : []),
    domains.findBySlugs(workspaceId, domain ? [domain] : []),
  ]);
  const publishedPillarIds = new Set(pillars.filter(({ status }) => status === 'published').map(({ id }) => id));
  const liveSlugs = new Set(knownDomains.filter(({ archived }) => !archived).map(({ slug }) => slug));
  const domainProblem = 'must be a domain of this workspace that is not archived';
  const pillarProblem = 'must be the ID of a published content pillar of this workspace';
  return [
    ...findReferenceErrors(liveSlugs, 'domain', domain, domainProblem),
    ...findReferenceErrors(knownTagIds, 'tagIds', tagIds, 'must be the ID of a tag of this workspace'),
    ...findGroupReferenceErrors(knownGroupIds, 'groupIds', groupIds),
    ...findReferenceErrors(publishedPillarIds, 'contentPillarId', contentPillarId, pillarProblem),
  ];
}
