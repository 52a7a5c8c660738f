import { ApiKeyService } from './access/api-key-service.ts';
import { CallerCache } from './access/caller-cache.ts';
import { MemberService } from './access/member-service.ts';
import { WorkspaceService } from './access/workspace-service.ts';
import { CampaignService } from './campaign/campaign-service.ts';
import { ContentPillarService } from './content-pillar/content-pillar-service.ts';
import { DomainService } from './domain/domain-service.ts';
import { GroupService } from './group/group-service.ts';
import type { StoredResponse } from './idempotency/idempotency.ts';
import { IdempotencyService, type IdempotentCall } from './idempotency/idempotency-service.ts';
import { InspirationQuestionService } from './inspiration-question/inspiration-question-service.ts';
import type { System } from './shared/system.ts';
import type { Storage } from './storage.ts';
import { TagService } from './tag/tag-service.ts';

/**
 * All that the product can do, over one storage: the table of contents of the core. Whom a key belongs to is remembered
 * for `callersKeptMs`.
 */
export class Application {
  readonly apiKeys: ApiKeyService;
  readonly campaigns: CampaignService;
  readonly contentPillars: ContentPillarService;
  readonly domains: DomainService;
  readonly groups: GroupService;
  readonly inspirationQuestions: InspirationQuestionService;
  readonly members: MemberService;
  readonly tags: TagService;
  readonly workspaces: WorkspaceService;
  private readonly idempotency: IdempotencyService;

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
    callerCacheTtlMs = 0,
  ) {
    const callers = new CallerCache(callerCacheTtlMs, system.elapsed);
    this.apiKeys = new ApiKeyService(storage, system, callers);
    this.campaigns = new CampaignService(storage, system);
    this.contentPillars = new ContentPillarService(storage.contentPillars, storage.members, system);
    this.domains = new DomainService(storage, system);
    this.groups = new GroupService(storage.groups, storage.members, system);
    this.inspirationQuestions = new InspirationQuestionService(storage.inspirationQuestions, storage.groups, system);
    this.members = new MemberService(storage.members, storage.groups, system, callers);
    this.tags = new TagService(storage.tags, system);
    this.workspaces = new WorkspaceService(storage.workspaces, system);
    this.idempotency = new IdempotencyService(storage.idempotentRequests, system, storage.now);
  }

  /** Resolves when the service can serve, and rejects with what is missing when it cannot. */
  checkReady(): Promise<void> {
    return this.storage.checkReady();
  }

  /**
   * Does `work` once for an idempotency key: its reply and all its changes are kept together or not at all, and a
   * repeat gets that reply again. No refusal is kept.
   */
  async runOnce(
    request: IdempotentCall,
    work: (app: Application) => Promise<StoredResponse>,
  ): Promise<StoredResponse & { readonly replayed: boolean }> {
    const held = await this.idempotency.acquire(request);
    if ('reply' in held) return { ...held.reply, replayed: true };
    try {
      return await this.storage.runInTransaction(async (staged) => {
        const app = new Application(staged, this.system);
        const reply = await work(app);
        await app.idempotency.complete(request, held.holder, reply);
        return { ...reply, replayed: false };
      });
    } catch (error) {
      await this.idempotency.release(request, held.holder).catch(() => 'it is free by itself after 30 seconds');
      throw error;
    }
  }
}
