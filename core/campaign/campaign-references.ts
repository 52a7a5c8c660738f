import type { ContentPillarRepository } from '../content-pillar/content-pillar-repository.ts';
import type { DomainRepository } from '../domain/domain-repository.ts';
import { findGroupReferenceErrors } from '../group/group-references.ts';
import type { GroupRepository } from '../group/group-repository.ts';
import type { FieldError } from '../shared/core-error.ts';
import { findReferenceErrors } from '../shared/references.ts';
import type { TagRepository } from '../tag/tag-repository.ts';
import type { NewCampaign } from './campaign.ts';

/** The stores of the records that a campaign refers to. */
export interface ReferencedStorage {
  readonly tags: TagRepository;
  readonly groups: GroupRepository;
  readonly contentPillars: ContentPillarRepository;
  readonly domains: DomainRepository;
}

/** Valid references of campaigns: ids of tags, groups and published content pillars, and slugs of live domains. */
interface KnownReferences {
  readonly tags: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly contentPillars: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

/** Finds the valid references of a batch of campaigns with at most one read for each type of record. */
export async function findKnownReferences(
  storage: ReferencedStorage,
  workspaceId: string,
  batch: readonly NewCampaign[],
): Promise<KnownReferences> {
  const tagIds = batch.flatMap((fields) => fields.tagIds ?? []);
  const groupIds = batch.flatMap((fields) => fields.groupIds ?? []);
  const pillarIds = batch.flatMap((fields) => fields.contentPillarId ?? []);
  const slugs = batch.flatMap((fields) => fields.domain ?? []);
  const [tags, groups, contentPillars, domains] = await Promise.all([
    storage.tags.findKnownIds(workspaceId, tagIds),
    storage.groups.findKnownIds(workspaceId, groupIds),
    storage.contentPillars.findPublishedIds(workspaceId, pillarIds),
    storage.domains.findLiveSlugs(workspaceId, slugs),
  ]);
  return { tags, groups, contentPillars, domains };
}

/** Returns an error for each reference of a campaign that is not valid. */
export function findCampaignReferenceErrors(fields: NewCampaign, known: KnownReferences): readonly FieldError[] {
  const { domain, tagIds = [], groupIds, contentPillarId } = fields;
  const pillarIds = contentPillarId ? [contentPillarId] : [];
  const domainProblem = 'must be a domain of this workspace that is not archived';
  const pillarProblem = 'must be the id of a published content pillar of this workspace';
  return [
    ...findReferenceErrors(known.domains, domain ? [domain] : [], () => 'domain', domainProblem),
    ...findReferenceErrors(
      known.tags,
      tagIds,
      (index) => `tagIds.${index}`,
      'must be the id of a tag of this workspace',
    ),
    ...findGroupReferenceErrors(known.groups, 'groupIds', groupIds),
    ...findReferenceErrors(known.contentPillars, pillarIds, () => 'contentPillarId', pillarProblem),
  ];
}
