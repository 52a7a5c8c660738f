import { type ApiKey, apiKeySchema, type Credential } from './access/api-key.ts';
import { type Member, memberSchema } from './access/member.ts';
import type { Workspace } from './access/workspace.ts';
import { type Campaign, campaignSchema, type Share, shareSchema } from './campaign/campaign.ts';
import { type ContentPillar, contentPillarSchema } from './content-pillar/content-pillar.ts';
import { type Domain, domainSchema, type VerifiedSlug } from './domain/domain.ts';
import { type Group, groupSchema } from './group/group.ts';
import { type IdempotencyRecord, idempotencyRecordSchema } from './idempotency/idempotency.ts';
import { type InspirationQuestion, inspirationQuestionSchema } from './inspiration-question/inspiration-question.ts';
import type { GlobalRecordStore, RecordSchema, RecordStore } from './shared/record-store.ts';
import { type Tag, tagSchema } from './tag/tag.ts';

/** The schemas of all records that belong to a workspace. */
export const recordSchemas = {
  apiKeys: apiKeySchema,
  campaigns: campaignSchema,
  contentPillars: contentPillarSchema,
  domains: domainSchema,
  groups: groupSchema,
  idempotentRequests: idempotencyRecordSchema,
  inspirationQuestions: inspirationQuestionSchema,
  members: memberSchema,
  shares: shareSchema,
  tags: tagSchema,
} satisfies Record<string, RecordSchema<never>>;

/** The names of the global stores: their records are unique over all workspaces, and are read by id alone. */
export const globalStoreNames = ['credentials', 'verifiedSlugs', 'workspaces'] as const;

/** The interface that each storage adapter implements. */
export interface Storage {
  readonly apiKeys: RecordStore<ApiKey>;
  readonly campaigns: RecordStore<Campaign>;
  readonly contentPillars: RecordStore<ContentPillar>;
  readonly domains: RecordStore<Domain>;
  readonly groups: RecordStore<Group>;
  readonly idempotentRequests: RecordStore<IdempotencyRecord>;
  readonly inspirationQuestions: RecordStore<InspirationQuestion>;
  readonly members: RecordStore<Member>;
  readonly shares: RecordStore<Share>;
  readonly tags: RecordStore<Tag>;

  readonly credentials: GlobalRecordStore<Credential>;
  readonly verifiedSlugs: GlobalRecordStore<VerifiedSlug>;
  readonly workspaces: GlobalRecordStore<Workspace>;

  /**
   * Runs `work` in a transaction: stores all changes that it makes through its argument, or none if it throws. No reader sees
   * only a part of the changes. After a write conflict, `work` runs again, so it must not have other side effects. Rejects with
   * `conflict` after several conflicts. A nested call joins the transaction.
   */
  runInTransaction<T>(work: (storage: Storage) => Promise<T>): Promise<T>;

  /**
   * Returns the time of the storage, in milliseconds since the epoch. All processes that use a storage share this clock. Use
   * it for times that one process stores and other processes compare (a lease, an expiry). Until the storage is reached for the
   * first time, this is the clock of the process.
   */
  now(): number;

  /** Resolves if the storage is available. Otherwise rejects with an error that names what is missing. */
  checkReady(): Promise<void>;
}
