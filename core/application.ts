import { ApiKeyService } from './access/api-key-service.ts';
import { CampaignService } from './campaign/campaign-service.ts';
import { ContentPillarService } from './content-pillar/content-pillar-service.ts';
import { DomainService } from './domain/domain-service.ts';
import { GroupService } from './group/group-service.ts';
import type { StoredResponse } from './idempotency/idempotency.ts';
import { IdempotencyService, type IdempotentRequest } from './idempotency/idempotency-service.ts';
import { InspirationQuestionService } from './inspiration-question/inspiration-question-service.ts';
import type { LinkOptions } from './link/link.ts';
import { LinkService } from './link/link-service.ts';
import { MemberService } from './member/member-service.ts';
import { ShareService } from './share/share-service.ts';
import { doNothing } from './shared/do-nothing.ts';
import type { System } from './shared/system.ts';
import type { Storage } from './storage.ts';
import { TagService } from './tag/tag-service.ts';
import { WorkspaceService } from './workspace/workspace-service.ts';

export interface ApplicationOptions {
  /** The options of short links. By default, short links are off: the `link` of each `ShareView` is `null`. */
  readonly links?: LinkOptions | undefined;
}

/**
 * All use cases of the product on one storage. A use case that takes the ID of a record rejects with `not_found` if the
 * workspace does not have the record.
 */
export class Application {
  readonly apiKeys: ApiKeyService;
  readonly campaigns: CampaignService;
  readonly contentPillars: ContentPillarService;
  readonly domains: DomainService;
  readonly groups: GroupService;
  readonly inspirationQuestions: InspirationQuestionService;
  readonly links: LinkService;
  readonly members: MemberService;
  readonly shares: ShareService;
  readonly tags: TagService;
  readonly workspaces: WorkspaceService;
  private readonly idempotency: IdempotencyService;

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
    private readonly options: ApplicationOptions = {},
  ) {
    this.apiKeys = new ApiKeyService(storage, system);
    this.campaigns = new CampaignService(storage, system);
    this.contentPillars = new ContentPillarService(storage, system);
    this.domains = new DomainService(storage, system);
    this.groups = new GroupService(storage, system);
    this.inspirationQuestions = new InspirationQuestionService(storage, system);
    this.links = new LinkService(storage, system);
    this.members = new MemberService(storage, system);
    this.shares = new ShareService(storage, system, options.links);
    this.tags = new TagService(storage, system);
    this.workspaces = new WorkspaceService(storage, system);
    this.idempotency = new IdempotencyService(storage.idempotencyRecords, system, storage.now);
  }

  /** Resolves if the service can serve requests. Otherwise rejects with an error that names what is missing. */
  checkReady(): Promise<void> {
    return this.storage.checkReady();
  }

  /**
   * Makes the changes of `work` only once for an idempotency key. One transaction stores the response and the changes
   * of `work`, and a repeated request gets the stored response. If `work` rejects, nothing is stored. Also rejects as
   * `acquire` and `complete` of `IdempotencyService` do.
   */
  async runOnce<R extends StoredResponse>(
    request: IdempotentRequest,
    work: (app: Application) => Promise<R>,
  ): Promise<R & { readonly replayed: boolean }> {
    const acquired = await this.idempotency.acquire(request);
    if ('response' in acquired) return { ...(acquired.response as R), replayed: true };
    const { lockOwner } = acquired;
    try {
      return await this.storage.runInTransaction(async (transaction) => {
        const app = new Application(transaction, this.system, { links: this.options.links });
        const response = await work(app);
        await app.idempotency.complete(request, lockOwner, response);
        return { ...response, replayed: false };
      });
    } catch (error) {
      // The lock expires after LOCK_TTL_MS even if the release fails.
      await this.idempotency.release(request, lockOwner).catch(doNothing);
      throw error;
    }
  }
}
