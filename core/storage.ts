import type { ApiKeyRepository } from './access/api-key-repository.ts';
import type { CampaignRepository } from './campaign/campaign-repository.ts';
import type { ContentPillarRepository } from './content-pillar/content-pillar-repository.ts';
import type { DomainRepository } from './domain/domain-repository.ts';
import type { VerifiedSlugRepository } from './domain/verified-slug-repository.ts';
import type { GroupRepository } from './group/group-repository.ts';
import type { IdempotencyRepository } from './idempotency/idempotency-repository.ts';
import type { InspirationQuestionRepository } from './inspiration-question/inspiration-question-repository.ts';
import type { ClickWriterRepository } from './link/click-writer-repository.ts';
import type { LinkRepository } from './link/link-repository.ts';
import type { VisitorKeyRepository } from './link/visitor-key-repository.ts';
import type { MemberRepository } from './member/member-repository.ts';
import type { ShareRepository } from './share/share-repository.ts';
import type { TagRepository } from './tag/tag-repository.ts';
import type { WorkspaceRepository } from './workspace/workspace-repository.ts';

/** The maximum time of a call of the storage with its retries, in milliseconds. After this time, callers give up. */
export const STORAGE_TIMEOUT_MS = 10_000;

/** The port of the storage: a repository for each type of entity, and transactions over them. */
export interface Storage {
  readonly apiKeys: ApiKeyRepository;
  readonly campaigns: CampaignRepository;
  readonly clickWriters: ClickWriterRepository;
  readonly contentPillars: ContentPillarRepository;
  readonly domains: DomainRepository;
  readonly groups: GroupRepository;
  readonly idempotencyRecords: IdempotencyRepository;
  readonly inspirationQuestions: InspirationQuestionRepository;
  readonly links: LinkRepository;
  readonly members: MemberRepository;
  readonly shares: ShareRepository;
  readonly tags: TagRepository;
  readonly verifiedSlugs: VerifiedSlugRepository;
  readonly visitorKeys: VisitorKeyRepository;
  readonly workspaces: WorkspaceRepository;

  /**
   * Runs `work` in a transaction: stores all changes that it makes through its argument, or none if it throws. No
   * reader sees only a part of the changes. Use only the storage that is passed to `work`. A change through the outer
   * storage can deadlock: it may wait for this transaction. After a write conflict, `work` runs again, so it must not
   * have other side effects. Rejects with `conflict` if write conflicts repeat for `STORAGE_TIMEOUT_MS`. A nested call
   * joins the transaction.
   */
  runInTransaction<T>(work: (storage: Storage) => Promise<T>): Promise<T>;

  /**
   * Returns the time of the storage, in milliseconds since the epoch. All processes that use a storage share this
   * clock. Use it for times that one process stores and other processes compare (a lease, an expiry). Until the storage
   * has reported its time, this is the clock of the process.
   */
  now(): number;

  /** Resolves if the storage is available. Otherwise rejects with an error that names what is missing. */
  checkReady(): Promise<void>;
}
