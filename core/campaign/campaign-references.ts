import type { ContentPillarRepository } from '../content-pillar/content-pillar.ts';
import type { DomainRepository } from '../domain/domain.ts';
import { type GroupRepository, groupReferenceErrors } from '../group/group.ts';
import type { FieldError } from '../shared/core-error.ts';
import { knownIds, referenceErrors } from '../shared/references.ts';
import type { TagRepository } from '../tag/tag.ts';
import type { NewCampaign } from './campaign.ts';

/** Where what a campaign names is kept. */
export interface ReferencedStorage {
  readonly tags: TagRepository;
  readonly groups: GroupRepository;
  readonly contentPillars: ContentPillarRepository;
  readonly domains: DomainRepository;
}

/** What campaigns may name: ids of tags, groups and published pillars, slugs of live domains. */
interface KnownReferences {
  readonly tags: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly contentPillars: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
}

/** Looks up all that a batch of campaigns names, each kind at once. */
export async function knownReferences(
  storage: ReferencedStorage,
  workspaceId: string,
  batch: readonly NewCampaign[],
): Promise<KnownReferences> {
  const tagIds = batch.flatMap((fields) => fields.tagIds ?? []);
  const groupIds = batch.flatMap((fields) => fields.groupIds ?? []);
  const pillarIds = batch.flatMap((fields) => fields.contentPillarId ?? []);
  const slugs = batch.flatMap((fields) => fields.domain ?? []);
  const [tags, groups, contentPillars, domains] = await Promise.all([
    knownIds(storage.tags, workspaceId, tagIds),
    knownIds(storage.groups, workspaceId, groupIds),
    knownIds(storage.contentPillars, workspaceId, pillarIds, ['status'], ({ status }) => status === 'published'),
    liveDomains(storage.domains, workspaceId, [...new Set(slugs)]),
  ]);
  return { tags, groups, contentPillars, domains };
}

/** The faults of what a campaign names and may not. */
export function campaignReferenceErrors(fields: NewCampaign, known: KnownReferences): readonly FieldError[] {
  const { domain, tagIds = [], groupIds, contentPillarId } = fields;
  const pillarIds = contentPillarId ? [contentPillarId] : [];
  const noPillar = 'is no published content pillar of the workspace';
  return [
    ...referenceErrors(known.domains, domain ? [domain] : [], () => 'domain', 'is no live domain of the workspace'),
    ...referenceErrors(known.tags, tagIds, (index) => `tagIds.${index}`, 'is no tag of the workspace'),
    ...groupReferenceErrors(known.groups, 'groupIds', groupIds),
    ...referenceErrors(known.contentPillars, pillarIds, () => 'contentPillarId', noPillar),
  ];
}

async function liveDomains(
  domains: DomainRepository,
  workspaceId: string,
  slugs: readonly string[],
): Promise<ReadonlySet<string>> {
  if (slugs.length === 0) return new Set();
  const live = await domains.list(workspaceId, {
    where: [
      { field: 'slug', in: slugs },
      { field: 'archived', is: false },
    ],
    by: 'createdAt',
    order: 'asc',
    skip: 0,
    take: slugs.length,
  });
  return new Set(live.map(({ slug }) => slug));
}
