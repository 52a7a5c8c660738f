import type { EventType } from '../event/event.ts';
import { WEBHOOK_LEASE_MS } from '../limits.ts';
import { applyChanges, type Changes } from '../shared/changes.ts';
import { DAY_MS, formatTimestamp } from '../shared/date.ts';
import type { Entity } from '../shared/entity.ts';
import type { WebhookOutcome, WebhookProblem } from './webhook-sender.ts';

/** The receiver of the events of a workspace: a cursor over them, and the state of its deliveries. */
export interface Webhook extends Entity {
  readonly label: string;
  readonly url: string;
  /** The types of the events to deliver. If there are none, events of all types are delivered. */
  readonly types: readonly EventType[];
  /** The secret that signs the deliveries. Only the response that creates the webhook shows it. */
  readonly secret: string;
  readonly enabled: boolean;
  /** The sequence of the last event that was delivered, or that was skipped because of its type. */
  readonly after: number;
  readonly failingSince: string | null;
  /** The number of failed attempts since the last success. */
  readonly failureCount: number;
  /** The status of the last response, or `null` if the last attempt got none. */
  readonly lastStatus: number | null;
  readonly lastProblem: WebhookProblem;
  readonly nextAttemptAt: string | null;
  /** The lease of the attempt in progress. No other attempt starts until it is released or expires. */
  readonly lease: { readonly owner: string; readonly expiresAt: number } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

type SettableFields = Pick<Webhook, 'label' | 'url' | 'types'>;

export type NewWebhookFields = Changes<SettableFields> & Pick<Webhook, 'url'>;

export type WebhookChange = Changes<SettableFields & Pick<Webhook, 'enabled' | 'after'>>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** The delays before a retry, by the number of failures. The last one repeats. */
const RETRY_DELAYS_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS] as const;
/** A webhook that fails for this time is disabled. */
const FAILURE_TIMEOUT_MS = 5 * DAY_MS;
/** The statuses whose response can ask to wait longer. */
const BUSY_STATUSES: readonly (number | null)[] = [429, 503];
const GONE_STATUS = 410;

const NOT_FAILING = { failingSince: null, failureCount: 0, nextAttemptAt: null } as const;

/** Returns a new webhook, which begins after the event with the sequence `after`. */
export function newWebhook(
  workspaceId: string,
  id: string,
  { url, types = [], label = '' }: NewWebhookFields,
  secret: string,
  after: number,
  now: number,
): Webhook {
  const [createdAt, state] = [formatTimestamp(now), { ...NOT_FAILING, lastStatus: null, lastProblem: '' } as const];
  const fields = { id, workspaceId, label, url, types, secret, enabled: true, after };
  return { ...fields, ...state, lease: null, createdAt, updatedAt: createdAt };
}

/**
 * Changes a webhook. If `url` or `after` changes, or if `enabled` is `true`, the webhook counts as not failing, and its
 * next event is sent at once. An `after` beyond the newest event becomes the newest one.
 */
export function changeWebhook(webhook: Webhook, change: WebhookChange, newest: number, now: number): Webhook {
  const { url = webhook.url, enabled } = change;
  const after = change.after === undefined ? webhook.after : Math.min(change.after, newest);
  const isRestarted = enabled || url !== webhook.url || after !== webhook.after;
  const state = isRestarted ? NOT_FAILING : enabled === false ? { nextAttemptAt: null } : {};
  return applyChanges(webhook, { ...change, after, ...state }, now);
}

/**
 * Returns the delay before a retry. `jitter` is a random number from 0 to 1. `retryAfterMs` is the delay that the
 * receiver asks for: at most, it doubles the delay.
 */
export function computeRetryDelay(failureCount: number, jitter: number, retryAfterMs = 0): number {
  const index = Math.min(failureCount, RETRY_DELAYS_MS.length) - 1;
  const delayMs = (RETRY_DELAYS_MS[index] as number) * (0.8 + 0.4 * jitter);
  return Math.min(Math.max(delayMs, retryAfterMs), 2 * delayMs);
}

/**
 * Returns the time until an attempt may start: until the next retry, and until the lease of another attempt expires. A
 * time that is longer than possible shows that the clock was set back, so it is ignored.
 */
export function getWaitMs({ nextAttemptAt, failureCount, lease }: Webhook, now: number): number {
  const retryMs = nextAttemptAt === null ? 0 : Date.parse(nextAttemptAt) - now;
  const maxRetryMs = computeRetryDelay(failureCount || 1, 1, Number.POSITIVE_INFINITY);
  const leaseMs = lease ? lease.expiresAt - now : 0;
  // Each process only estimates the time of the storage, so the lease may seem to be longer.
  const maxLeaseMs = 2 * WEBHOOK_LEASE_MS;
  return Math.max(0, retryMs > maxRetryMs ? 0 : retryMs, leaseMs > maxLeaseMs ? 0 : leaseMs);
}

/** Returns whether an attempt that began with the webhook `snapshot` still applies to the current webhook. */
function isSameTarget(current: Webhook, snapshot: Webhook): boolean {
  return current.url === snapshot.url && current.after === snapshot.after;
}

/** Returns whether the next event of the current webhook is that of `snapshot`. */
function hasSameNextEvent(current: Webhook, snapshot: Webhook): boolean {
  return isSameTarget(current, snapshot) && current.types.join() === snapshot.types.join();
}

/** Gives the lease to an attempt, if the attempt may start and the webhook has not changed since `snapshot`. */
export function acquireLease(current: Webhook, snapshot: Webhook, owner: string, now: number): Webhook {
  if (!current.enabled || !hasSameNextEvent(current, snapshot) || getWaitMs(current, now) > 0) return current;
  return { ...current, lease: { owner, expiresAt: now + WEBHOOK_LEASE_MS } };
}

/** Moves a webhook past events that it does not deliver, unless the webhook has changed since `snapshot`. */
export function skipTo(current: Webhook, snapshot: Webhook, sequence: number): Webhook {
  return hasSameNextEvent(current, snapshot) ? { ...current, after: sequence } : current;
}

/** An attempt to deliver the event with the sequence `sequence`. */
export interface Attempt extends WebhookOutcome {
  readonly sequence: number;
  /** A random number from 0 to 1. */
  readonly jitter: number;
}

/**
 * Records an attempt that began with the webhook `acquired`, and releases its lease. An attempt that has lost its lease
 * changes nothing. If the URL or the position of the webhook has changed meanwhile, the outcome is ignored.
 */
export function recordAttempt(current: Webhook, acquired: Webhook, attempt: Attempt, now: number): Webhook {
  const { sequence, jitter, status, problem, retryAfterMs } = attempt;
  if (current.lease?.owner !== acquired.lease?.owner) return current;
  if (!isSameTarget(current, acquired)) return { ...current, lease: null };
  const recorded = { ...current, lease: null, lastStatus: status, lastProblem: problem };
  if (problem === '') return { ...recorded, ...NOT_FAILING, after: sequence };
  const failureCount = current.failureCount + 1;
  const failingSince = current.failingSince ?? formatTimestamp(now);
  // Without the number of failures, a clock that jumps forward would disable a webhook.
  const isExhausted = failureCount > RETRY_DELAYS_MS.length && now - Date.parse(failingSince) >= FAILURE_TIMEOUT_MS;
  const failed = { ...recorded, failingSince, failureCount, nextAttemptAt: null };
  if (isExhausted || status === GONE_STATUS) return applyChanges(failed, { enabled: false }, now);
  const delayMs = computeRetryDelay(failureCount, jitter, BUSY_STATUSES.includes(status) ? retryAfterMs : 0);
  return current.enabled ? { ...failed, nextAttemptAt: formatTimestamp(now + delayMs) } : failed;
}
