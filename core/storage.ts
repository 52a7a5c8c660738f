import { type ApiKey, apiKeyKind, type Credential } from './access/api-key.ts';
import { type Member, memberKind } from './access/member.ts';
import type { Workspace } from './access/workspace.ts';
import { type Campaign, campaignKind, type Share, shareKind } from './campaign/campaign.ts';
import { type ContentPillar, contentPillarKind } from './content-pillar/content-pillar.ts';
import { type Domain, domainKind, type VerifiedSlug } from './domain/domain.ts';
import { type Group, groupKind } from './group/group.ts';
import { type IdempotentRequest, idempotentRequestKind } from './idempotency/idempotency.ts';
import { type InspirationQuestion, inspirationQuestionKind } from './inspiration-question/inspiration-question.ts';
import type { Kind, Records, Registry } from './shared/records.ts';
import { type Tag, tagKind } from './tag/tag.ts';

/** Every kind of record that a storage keeps for a workspace. */
export const kinds = {
  apiKeys: apiKeyKind,
  campaigns: campaignKind,
  contentPillars: contentPillarKind,
  domains: domainKind,
  groups: groupKind,
  idempotentRequests: idempotentRequestKind,
  inspirationQuestions: inspirationQuestionKind,
  members: memberKind,
  shares: shareKind,
  tags: tagKind,
} satisfies Record<string, Kind<never>>;

/** The names of the entries that a storage keeps over all workspaces. */
export const registries = ['credentials', 'verifiedSlugs', 'workspaces'] as const;

/** What the core needs of a storage: the port that each one implements. */
export interface Storage {
  readonly apiKeys: Records<ApiKey>;
  readonly campaigns: Records<Campaign>;
  readonly contentPillars: Records<ContentPillar>;
  readonly domains: Records<Domain>;
  readonly groups: Records<Group>;
  readonly idempotentRequests: Records<IdempotentRequest>;
  readonly inspirationQuestions: Records<InspirationQuestion>;
  readonly members: Records<Member>;
  readonly shares: Records<Share>;
  readonly tags: Records<Tag>;

  readonly credentials: Registry<Credential>;
  readonly verifiedSlugs: Registry<VerifiedSlug>;
  readonly workspaces: Registry<Workspace>;

  /**
   * Keeps all changes that `work` makes through the storage that it is given, or none where it throws or where another
   * change came between; then it may run again, so it touches nothing else. Nobody sees a part of them. What still
   * loses after some tries is refused with `conflict`. Inside of `work`, it joins.
   */
  atomically<T>(work: (storage: Storage) => Promise<T>): Promise<T>;

  /**
   * Returns the time of the storage, in milliseconds since the epoch. All processes that use a storage share this clock. Use
   * it for times that one process stores and others compare (a lease, an expiry). Until the storage is reached for the first
   * time, it is the clock of the process.
   */
  now(): number;

  /** Resolves when the storage can be reached, and rejects with what is missing when it cannot. */
  ready(): Promise<void>;
}
