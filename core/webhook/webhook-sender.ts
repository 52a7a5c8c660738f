import type { Event, EventType } from '../event/event.ts';

/** The problems of an attempt: `''` is none, and `status` is a response without a 2xx status. */
export const WEBHOOK_PROBLEMS = [
  '',
  'timeout',
  'connection refused',
  'connection reset',
  'name not found',
  'tls',
  'address not allowed',
  'status',
] as const;
export type WebhookProblem = (typeof WEBHOOK_PROBLEMS)[number];

/** A message to a webhook: an event, or a test. */
export interface WebhookMessage extends Pick<Event, 'id' | 'sequence' | 'createdAt'> {
  readonly type: EventType | 'webhook.test';
  readonly data: object;
}

export interface WebhookOutcome {
  /** The status of the response, or `null` without a response. */
  readonly status: number | null;
  readonly problem: WebhookProblem;
  /** The time after which the receiver asks to try again. */
  readonly retryAfterMs?: number | undefined;
  readonly durationMs: number;
}

/** Sends messages to webhooks. */
export interface WebhookSender {
  /** Returns a new random secret that signs messages. */
  createSecret(): string;
  /** Returns the problem of a URL to which messages must not be sent, or `undefined`. */
  findUrlProblem(url: string): string | undefined;
  /** Sends a message once. Does not reject: the outcome has the problem. Takes at most `WEBHOOK_TIMEOUT_MS`. */
  send(webhook: { readonly url: string; readonly secret: string }, message: WebhookMessage): Promise<WebhookOutcome>;
}
