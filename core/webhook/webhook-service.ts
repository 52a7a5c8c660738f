import type { Event, EventFactory } from '../event/event.ts';
import type { EventRepository } from '../event/event-repository.ts';
import { MAX_WEBHOOK_COUNT } from '../limits.ts';
import { CoreError, createInvalidFieldsError, createNotFoundError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Clock, System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import {
  acquireLease,
  changeWebhook,
  getWaitMs,
  type NewWebhookFields,
  newWebhook,
  recordAttempt,
  skipTo,
  type Webhook,
  type WebhookChange,
} from './webhook.ts';
import type { WebhookRepository } from './webhook-repository.ts';
import type { WebhookOutcome, WebhookSender } from './webhook-sender.ts';

export interface WebhookOptions {
  readonly sender: WebhookSender;
  /** Called with the ID of the workspace if a webhook was created or changed, perhaps before the commit. */
  onChange?(workspaceId: string): void;
}

/** The outcome of a test. */
export type WebhookTest = WebhookOutcome & { readonly delivered: boolean };

/** An attempt to deliver an event. */
export interface Delivery {
  /** The webhook after the attempt. */
  readonly webhook: Webhook;
  readonly event: Event;
  readonly outcome: WebhookOutcome;
  /** Whether the attempt has disabled the webhook. */
  readonly isDisabled: boolean;
}

interface Repositories {
  readonly webhooks: WebhookRepository;
  readonly events: EventRepository;
}

export class WebhookService {
  constructor(
    private readonly repositories: Repositories,
    private readonly unitOfWork: UnitOfWork<Repositories>,
    private readonly system: Pick<System, 'newId'>,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
    private readonly newEvent: EventFactory,
    private readonly options: WebhookOptions,
  ) {}

  /**
   * Creates a webhook that gets the events after the newest one. Rejects with `invalid` if the URL is not allowed, and
   * with `conflict` if there are too many webhooks.
   */
  async create(workspaceId: string, fields: NewWebhookFields): Promise<Webhook> {
    this.requireAllowedUrl(fields.url);
    const secret = this.options.sender.createSecret();
    const created = await this.unitOfWork.run(async ({ webhooks, events }) => {
      const count = await webhooks.countForUpdate(workspaceId);
      if (count >= MAX_WEBHOOK_COUNT) {
        const message = `This workspace already has ${count} webhooks. Delete one first.`;
        throw new CoreError('conflict', message, 'too_many_webhooks');
      }
      const [after, now] = [await events.findNewestSequence(workspaceId), this.storageClock.now()];
      const webhook = newWebhook(workspaceId, this.system.newId(), fields, secret, after, now);
      await webhooks.add(webhook);
      return webhook;
    });
    this.options.onChange?.(workspaceId);
    return created;
  }

  /** Updates a webhook. Rejects with `invalid` if the URL is not allowed. */
  async update(workspaceId: string, id: string, change: WebhookChange): Promise<Webhook> {
    if (change.url !== undefined) this.requireAllowedUrl(change.url);
    const { webhooks, events } = this.repositories;
    const [newest, now] = [await events.findNewestSequence(workspaceId), this.storageClock.now()];
    const apply = (webhook: Webhook): Webhook => changeWebhook(webhook, change, newest, now);
    const changed = requireFound(await webhooks.update(workspaceId, id, apply), 'webhook');
    this.options.onChange?.(workspaceId);
    return changed;
  }

  async get(workspaceId: string, id: string): Promise<Webhook> {
    return requireFound(await this.repositories.webhooks.findById(workspaceId, id), 'webhook');
  }

  list(workspaceId: string, page: PageRequest): Promise<Page<Webhook>> {
    return this.repositories.webhooks.findPage(workspaceId, page);
  }

  async remove(workspaceId: string, id: string): Promise<void> {
    const isRemoved = await this.unitOfWork.run(({ webhooks }) => webhooks.remove(workspaceId, id));
    if (!isRemoved) throw createNotFoundError('webhook');
  }

  /** Sends a test once. It changes nothing of the webhook. Do not call this in a transaction, because it takes long. */
  async test(workspaceId: string, id: string): Promise<WebhookTest> {
    const webhook = await this.get(workspaceId, id);
    const createdAt = formatTimestamp(this.storageClock.now());
    const message = { id: this.system.newId(), sequence: 0, type: 'webhook.test', createdAt, data: {} } as const;
    const outcome = await this.options.sender.send(webhook, message);
    return { ...outcome, delivered: outcome.problem === '' };
  }

  /** Returns the workspaces that have webhooks. */
  findWorkspaceIds(): Promise<ReadonlySet<string>> {
    return this.repositories.webhooks.findWorkspaceIds();
  }

  /** Returns the enabled webhooks that have not got all events, and the time until the next attempt of each. */
  async findPending(workspaceId: string): Promise<readonly { readonly webhook: Webhook; readonly waitMs: number }[]> {
    const { webhooks, events } = this.repositories;
    const { items } = await webhooks.findPage(workspaceId, { page: 1, pageSize: MAX_WEBHOOK_COUNT });
    if (items.length === 0) return [];
    const [newest, now] = [await events.findNewestSequence(workspaceId), this.storageClock.now()];
    const pending = items.filter(({ enabled, after }) => enabled && after < newest);
    return pending.map((webhook) => ({ webhook, waitMs: getWaitMs(webhook, now) }));
  }

  /**
   * Makes one attempt to deliver the next event of its types to a webhook, and moves the webhook past other events.
   * Returns `undefined` without an attempt: if there is no such event, if another attempt has the lease, or if the
   * webhook has changed. `jitter` is a random number from 0 to 1.
   */
  async deliverNext(snapshot: Webhook, jitter: number): Promise<Delivery | undefined> {
    const { workspaceId, id, after, types } = snapshot;
    const { webhooks, events } = this.repositories;
    const startedAt = this.storageClock.now();
    const { items, newestSequence } = await events.findPage(workspaceId, { after, types, pageSize: 1 }, startedAt);
    const [event] = items;
    if (!event) {
      if (newestSequence > after) await webhooks.update(workspaceId, id, (it) => skipTo(it, snapshot, newestSequence));
      return undefined;
    }
    const owner = this.system.newId();
    const acquired = await webhooks.update(workspaceId, id, (it) => acquireLease(it, snapshot, owner, startedAt));
    if (acquired?.lease?.owner !== owner) return undefined;
    const outcome = await this.options.sender.send(acquired, event);
    const attempt = { ...outcome, sequence: event.sequence, jitter };
    const recordIn = async (repositories: Repositories) => {
      const now = this.storageClock.now();
      let isDisabled = false;
      const record = (it: Webhook): Webhook => {
        const recorded = recordAttempt(it, acquired, attempt, now);
        isDisabled = it.enabled && !recorded.enabled;
        return recorded;
      };
      const webhook = await repositories.webhooks.update(workspaceId, id, record);
      if (!webhook) return undefined;
      if (isDisabled) await repositories.events.add(this.newEvent(workspaceId, 'webhook.disabled', { webhookId: id }));
      return { webhook, event, outcome, isDisabled };
    };
    // Only a failure can disable the webhook, and so change two records.
    return outcome.problem === '' ? recordIn(this.repositories) : this.unitOfWork.run(recordIn);
  }

  private requireAllowedUrl(url: string): void {
    const problem = this.options.sender.findUrlProblem(url);
    if (problem !== undefined) throw createInvalidFieldsError([{ path: 'url', problem }]);
  }
}
