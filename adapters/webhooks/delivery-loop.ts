import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import { doNothing } from '../../core/shared/do-nothing.ts';
import type { Webhook } from '../../core/webhook/webhook.ts';
import type { Delivery, WebhookService } from '../../core/webhook/webhook-service.ts';

/** The time between two checks of each workspace that is known to have webhooks, and of the first search. */
const CHECK_INTERVAL_MS = 5_000;
/** The time between two searches for workspaces that have webhooks. */
const SEARCH_INTERVAL_MS = 60_000;
/** The minimum time between two checks of a workspace. The first event of a burst is sent at once. */
const MIN_CHECK_INTERVAL_MS = 100;
/** The maximum number of workspaces that are checked at the same time. */
const MAX_CHECK_COUNT = 8;
/** The maximum numbers of attempts at the same time. Webhooks that fail have their own, so they delay no others. */
const MAX_ATTEMPT_COUNT = 1_000;
const MAX_FAILING_ATTEMPT_COUNT = 200;
/** The time that attempts in progress get when the process stops. */
const STOP_TIMEOUT_MS = 5_000;

/** Observes the attempts of this process, and the errors of the storage. */
export interface WebhookObserver {
  onAttempt?(delivery: Delivery): void;
  onCheck?(): void;
  onError?(error: unknown): void;
}

/** The use cases of `WebhookService` that the loop needs. */
export type Deliveries = Pick<WebhookService, 'findWorkspaceIds' | 'findPending' | 'deliverNext'>;

/**
 * Delivers events to webhooks. Several processes can run this loop on one storage: each attempt has a lease. A webhook
 * gets one event at a time, and many webhooks get events at the same time.
 */
export class DeliveryLoop {
  /** The workspaces that are known to have webhooks, or to have had some since this process started. */
  private readonly workspaceIds = new Set<string>();
  /** The time of the next search, on the monotonic clock. */
  private nextSearchAt = 0;
  /** The keys of running work, and whether to run it again afterwards. */
  private readonly active = new Map<string, boolean>();
  private readonly running = new Set<Promise<void>>();
  private readonly limitCheck = pLimit(MAX_CHECK_COUNT);
  private readonly limitAttempt = pLimit(MAX_ATTEMPT_COUNT);
  private readonly limitFailingAttempt = pLimit(MAX_FAILING_ATTEMPT_COUNT);
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(
    private readonly webhooks: Deliveries,
    private readonly observers: readonly WebhookObserver[],
  ) {}

  /** Starts the loop. Does not wait for the storage. */
  start(): void {
    this.poll();
    this.timer = setInterval(() => this.poll(), CHECK_INTERVAL_MS).unref();
  }

  /** Checks the known workspaces. If it is time for it, also searches for workspaces that have webhooks. */
  poll(): void {
    if (performance.now() >= this.nextSearchAt) this.run('search', () => this.search());
    for (const id of this.workspaceIds) this.check(id);
  }

  /** Sends the new events of a workspace, if the workspace is known to have webhooks. */
  onEvents(workspaceId: string): void {
    if (this.workspaceIds.has(workspaceId)) this.check(workspaceId);
  }

  /** Serves a workspace in which a webhook was created or changed. */
  onChange(workspaceId: string): void {
    this.workspaceIds.add(workspaceId);
    this.check(workspaceId);
  }

  /** Starts no more attempts. Waits for those in progress, up to `STOP_TIMEOUT_MS`. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.timer);
    await Promise.race([Promise.all(this.running), delay(STOP_TIMEOUT_MS, undefined, { ref: false })]);
  }

  private async search(): Promise<void> {
    const found = await this.webhooks.findWorkspaceIds();
    this.nextSearchAt = performance.now() + SEARCH_INTERVAL_MS;
    for (const id of found) if (!this.workspaceIds.has(id)) this.onChange(id);
  }

  /** Serves the webhooks of a workspace that have not got all events. */
  private check(workspaceId: string): void {
    this.run(workspaceId, async () => {
      const pending = await this.limitCheck(() => this.webhooks.findPending(workspaceId));
      for (const observer of this.observers) observer.onCheck?.();
      for (const { webhook, waitMs } of pending) {
        if (waitMs === 0) this.serve(webhook);
        // Later attempts are planned by later checks.
        else if (waitMs <= CHECK_INTERVAL_MS) setTimeout(() => this.check(workspaceId), waitMs).unref();
      }
      await delay(MIN_CHECK_INTERVAL_MS);
    });
  }

  /** Delivers events to a webhook until an attempt fails, or until there are no more. Then plans the next attempt. */
  private serve(webhook: Webhook): void {
    if (this.active.has(webhook.id)) return;
    const limit = webhook.failingSince === null ? this.limitAttempt : this.limitFailingAttempt;
    const deliver = async () => {
      for (let next: Webhook | undefined = webhook; next && !this.isStopping; ) {
        const delivery: Delivery | undefined = await this.webhooks.deliverNext(next, Math.random());
        if (delivery) for (const observer of this.observers) observer.onAttempt?.(delivery);
        next = delivery?.outcome.problem === '' ? delivery.webhook : undefined;
      }
    };
    this.run(
      webhook.id,
      () => limit(deliver),
      () => this.check(webhook.workspaceId),
    );
  }

  /** Runs work for a key, one at a time. If it already runs, runs it again afterwards. */
  private run(key: string, work: () => Promise<void>, onSuccess: () => void = doNothing): void {
    if (this.isStopping) return;
    const isActive = this.active.has(key);
    this.active.set(key, isActive);
    if (isActive) return;
    const report = (error: unknown) => {
      // Without a success, the next poll repeats the work.
      if (!this.isStopping) for (const observer of this.observers) observer.onError?.(error);
      return doNothing;
    };
    const running = work()
      .then(() => onSuccess, report)
      .then((onEnd) => {
        const shouldRepeat = this.active.get(key);
        this.active.delete(key);
        this.running.delete(running);
        onEnd();
        if (shouldRepeat) this.run(key, work);
      });
    this.running.add(running);
  }
}
