import type { ApiKeyRepository } from './access/api-key-repository.ts';
import { ApiKeyService } from './access/api-key-service.ts';
import type { ActivityRepository } from './activity/activity-repository.ts';
import { AnalyticsService } from './analytics/analytics-service.ts';
import type { CampaignRepository } from './campaign/campaign-repository.ts';
import { CampaignService } from './campaign/campaign-service.ts';
import type { ContentPillarRepository } from './content-pillar/content-pillar-repository.ts';
import { ContentPillarService } from './content-pillar/content-pillar-service.ts';
import type { DomainRecords } from './domain/domain-records.ts';
import type { DomainRepository } from './domain/domain-repository.ts';
import { DomainService } from './domain/domain-service.ts';
import type { VerifiedSlugRepository } from './domain/verified-slug-repository.ts';
import { createEventFactory } from './event/event.ts';
import type { EventRepository } from './event/event-repository.ts';
import { EventService } from './event/event-service.ts';
import type { GroupRepository } from './group/group-repository.ts';
import { GroupService } from './group/group-service.ts';
import type { StoredResponse } from './idempotency/idempotency.ts';
import type { IdempotencyRepository } from './idempotency/idempotency-repository.ts';
import { IdempotencyService, type IdempotentRequest } from './idempotency/idempotency-service.ts';
import type { InspirationQuestionRepository } from './inspiration-question/inspiration-question-repository.ts';
import { InspirationQuestionService } from './inspiration-question/inspiration-question-service.ts';
import type { LinkOptions } from './link/link.ts';
import type { LinkRepository } from './link/link-repository.ts';
import { LinkService } from './link/link-service.ts';
import type { VisitorKeyRepository } from './link/visitor-key-repository.ts';
import type { MemberRepository } from './member/member-repository.ts';
import { MemberService } from './member/member-service.ts';
import type { ClickCheckpointRepository } from './share/click-checkpoint-repository.ts';
import type { ShareRepository } from './share/share-repository.ts';
import { ShareService } from './share/share-service.ts';
import { doNothing } from './shared/do-nothing.ts';
import type { Clock, System } from './shared/system.ts';
import type { UnitOfWork } from './shared/unit-of-work.ts';
import type { TagRepository } from './tag/tag-repository.ts';
import { TagService } from './tag/tag-service.ts';
import type { WebhookRepository } from './webhook/webhook-repository.ts';
import type { WebhookSender } from './webhook/webhook-sender.ts';
import { type WebhookOptions, WebhookService } from './webhook/webhook-service.ts';
import type { WorkspaceRepository } from './workspace/workspace-repository.ts';
import { WorkspaceService } from './workspace/workspace-service.ts';

/** The port of the storage: all repositories, transactions over them, and a clock. */
export interface Storage {
  readonly activity: ActivityRepository;
  readonly apiKeys: ApiKeyRepository;
  readonly campaigns: CampaignRepository;
  readonly clickCheckpoints: ClickCheckpointRepository;
  readonly contentPillars: ContentPillarRepository;
  readonly domains: DomainRepository;
  readonly events: EventRepository;
  readonly groups: GroupRepository;
  readonly idempotencyRecords: IdempotencyRepository;
  readonly inspirationQuestions: InspirationQuestionRepository;
  readonly links: LinkRepository;
  readonly members: MemberRepository;
  readonly shares: ShareRepository;
  readonly tags: TagRepository;
  readonly verifiedSlugs: VerifiedSlugRepository;
  readonly visitorKeys: VisitorKeyRepository;
  readonly webhooks: WebhookRepository;
  readonly workspaces: WorkspaceRepository;
  readonly unitOfWork: UnitOfWork<Storage>;
  /**
   * Adds a listener, which is called with the ID of the workspace after each transaction of this process that has added
   * events. It is not called for the events of other processes, nor if the outcome of a commit is unknown.
   */
  onEventsCommitted(listener: (workspaceId: string) => void): void;
  /**
   * The clock that all processes share. Use it for times that one process stores and other processes compare (a lease,
   * an expiry). Until the storage has reported its time, this is the clock of the process.
   */
  readonly clock: Clock;
  /** Resolves if the storage is available. Otherwise rejects with an error that names what is missing. */
  checkReady(): Promise<void>;
}

export interface ApplicationOptions {
  /** The options of short links. By default, short links are off: the `link` of each `ShareView` is `null`. */
  readonly links?: LinkOptions | undefined;
  /** The records that verify domains. By default, each lookup fails. */
  readonly domainRecords?: DomainRecords | undefined;
  /** The options of webhooks. By default, each attempt fails. */
  readonly webhooks?: WebhookOptions | undefined;
}

const NO_SENDER: WebhookSender = {
  createSecret: () => '',
  findUrlProblem: () => undefined,
  send: async () => ({ status: null, problem: 'connection refused', durationMs: 0 }),
};

const NO_RECORDS: DomainRecords = { findTxtRecords: async () => ({ outcome: 'failed', code: 'ENOTIMP' }) };

/**
 * All use cases of the product on one storage. A use case that takes the ID of a record rejects with `not_found` if the
 * workspace does not have the record.
 */
export class Application {
  readonly analytics: AnalyticsService;
  readonly apiKeys: ApiKeyService;
  readonly campaigns: CampaignService;
  readonly contentPillars: ContentPillarService;
  readonly domains: DomainService;
  readonly events: EventService;
  readonly groups: GroupService;
  readonly inspirationQuestions: InspirationQuestionService;
  readonly links: LinkService;
  readonly members: MemberService;
  readonly shares: ShareService;
  readonly tags: TagService;
  readonly webhooks: WebhookService;
  readonly workspaces: WorkspaceService;
  private readonly idempotency: IdempotencyService;

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
    private readonly options: ApplicationOptions = {},
  ) {
    const { apiKeys, campaigns, contentPillars, domains, groups, links, members, shares, tags } = storage;
    const { verifiedSlugs, visitorKeys, unitOfWork, clock } = storage;
    const { domainRecords = NO_RECORDS, webhooks = { sender: NO_SENDER } } = options;
    const newEvent = createEventFactory(system, clock);
    this.analytics = new AnalyticsService(storage, system, clock);
    this.apiKeys = new ApiKeyService(apiKeys, members, unitOfWork, system, clock);
    this.campaigns = new CampaignService(campaigns, storage, unitOfWork, system, newEvent);
    this.contentPillars = new ContentPillarService(contentPillars, system);
    this.domains = new DomainService(domains, verifiedSlugs, domainRecords, unitOfWork, system, newEvent);
    this.events = new EventService(storage.events, clock);
    this.groups = new GroupService(groups, system);
    this.inspirationQuestions = new InspirationQuestionService(storage.inspirationQuestions, groups, system);
    this.links = new LinkService(links, domains, verifiedSlugs, visitorKeys, system, clock);
    this.members = new MemberService(members, groups, unitOfWork, system, clock, newEvent);
    this.shares = new ShareService(
      campaigns,
      shares,
      members,
      domains,
      unitOfWork,
      system,
      clock,
      newEvent,
      options.links,
    );
    this.tags = new TagService(tags, system);
    this.webhooks = new WebhookService(storage, unitOfWork, system, clock, newEvent, webhooks);
    this.workspaces = new WorkspaceService(storage.workspaces, system);
    this.idempotency = new IdempotencyService(storage.idempotencyRecords, system, clock);
  }

  checkReady(): Promise<void> {
    return this.storage.checkReady();
  }

  /** Returns the same use cases at the time of another clock, to create records of the past. */
  withClock(clock: Clock): Application {
    return new Application({ ...this.storage, clock }, { ...this.system, now: () => clock.now() }, this.options);
  }

  /**
   * Makes the changes of `work` only once for an idempotency key. One transaction stores the response and the changes
   * of `work`, and a repeated request gets the stored response. If `work` rejects, nothing is stored. Also rejects as
   * `acquire` and `complete` of `IdempotencyService` do.
   *
   * If `isAtomic` is `false`, `work` runs outside of a transaction, and the response is stored after it. If the process
   * ends between the two, a repeated request runs `work` again.
   */
  async runOnce<R extends StoredResponse>(
    request: IdempotentRequest,
    work: (app: Application) => Promise<R>,
    isAtomic = true,
  ): Promise<R & { readonly replayed: boolean }> {
    const acquired = await this.idempotency.acquire(request);
    if ('response' in acquired) return { ...(acquired.response as R), replayed: true };
    const { lockOwner } = acquired;
    const runAndStore = async (app: Application) => {
      const response = await work(app);
      await app.idempotency.complete(request, lockOwner, response);
      return { ...response, replayed: false };
    };
    try {
      if (!isAtomic) return await runAndStore(this);
      return await this.storage.unitOfWork.run((transaction) =>
        runAndStore(new Application(transaction, this.system, this.options)),
      );
    } catch (error) {
      // The lock expires after LOCK_TTL_MS even if the release fails.
      await this.idempotency.release(request, lockOwner).catch(doNothing);
      throw error;
    }
  }
}
