import { type ApiKey, apiKeySchema, type Credential } from './access/api-key.ts';
import { type Member, memberSchema } from './access/member.ts';
import type { Workspace } from './access/workspace.ts';
import { type Campaign, campaignSchema, type Share, shareSchema } from './campaign/campaign.ts';
import { type ContentPillar, contentPillarSchema } from './content-pillar/content-pillar.ts';
import { type Domain, domainSchema, type VerifiedSlug } from './domain/domain.ts';
import { type Group, groupSchema } from './group/group.ts';
import { type IdempotentRequest, idempotentRequestSchema } from './idempotency/idempotency.ts';
import { type InspirationQuestion, inspirationQuestionSchema } from './inspiration-question/inspiration-question.ts';
import type { GlobalRecordStore, RecordSchema, RecordStore } from './shared/record-store.ts';
import { type Tag, tagSchema } from './tag/tag.ts';

/** Every kind of record that a storage keeps for a workspace. */
export const recordSchemas = {
  apiKeys: apiKeySchema,
  campaigns: campaignSchema,
  contentPillars: contentPillarSchema,
  domains: domainSchema,
  groups: groupSchema,
  idempotentRequests: idempotentRequestSchema,
  inspirationQuestions: inspirationQuestionSchema,
  members: memberSchema,
  shares: shareSchema,
  tags: tagSchema,
} satisfies Record<string, RecordSchema<never>>;

/** The names of the entries that a storage keeps over all workspaces. */
export const globalStoreNames = ['credentials', 'verifiedSlugs', 'workspaces'] as const;

/** What the core needs of a storage: the port that each one implements. */
export interface Storage {
  readonly apiKeys: RecordStore<ApiKey>;
  readonly campaigns: RecordStore<Campaign>;
  readonly contentPillars: RecordStore<ContentPillar>;
  readonly domains: RecordStore<Domain>;
  readonly groups: RecordStore<Group>;
  readonly idempotentRequests: RecordStore<IdempotentRequest>;
  readonly inspirationQuestions: RecordStore<InspirationQuestion>;
  readonly members: RecordStore<Member>;
  readonly shares: RecordStore<Share>;
  readonly tags: RecordStore<Tag>;

  readonly credentials: GlobalRecordStore<Credential>;
  readonly verifiedSlugs: GlobalRecordStore<VerifiedSlug>;
  readonly workspaces: GlobalRecordStore<Workspace>;

  /**
   * Keeps all changes that `work` makes through the storage that it is given, or none where it throws or where another
   * change came between; then it may run again, so it touches nothing else. Nobody sees a part of them. What still
   * loses after some tries is refused with `conflict`. Inside of `work`, it joins.
   */
  runInTransaction<T>(work: (storage: Storage) => Promise<T>): Promise<T>;

  /**
   * Returns the time of the storage, in milliseconds since the epoch. All processes that use a storage share this clock. Use
   * it for times that one process stores and others compare (a lease, an expiry). Until the storage is reached for the first
   * time, it is the clock of the process.
   */
  now(): number;

  /** Resolves when the storage can be reached, and rejects with what is missing when it cannot. */
  checkReady(): Promise<void>;
}
