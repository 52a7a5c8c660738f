import type { components } from './schema.ts';

type Event = components['schemas']['Event'];

/** The body of a request to a webhook: an event, or the test event. */
export type WebhookEvent = Omit<Event, 'type'> & { readonly type: Event['type'] | 'webhook.test' };

/** The headers of a request, such as those of `Request` or of Node's `IncomingMessage`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The request does not have a valid signature. Respond with status 400. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/** The maximum difference between the time of the request and the clock. */
const TOLERANCE_SECONDS = 300;

/**
 * Verifies a request to a webhook (Standard Webhooks 1.0), and returns its event. `body` is the raw body, and `secret`
 * that of the webhook. Rejects with a `WebhookVerificationError` if no signature is valid, or if the request is more
 * than five minutes old.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name];
    if (typeof value !== 'string') throw new WebhookVerificationError(`The header ${name} is missing.`);
    return value;
  }) as [string, string, string];
  // The difference is `NaN` if the timestamp is not a number.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    throw new WebhookVerificationError('The header webhook-timestamp is invalid, or differs too much from the clock.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const keyBytes = decodeBase64(secret.replace(/^whsec_/, ''));
  const key = await crypto.subtle.importKey('raw', keyBytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
  for (const [, signature = ''] of signatures.matchAll(/(?<!\S)v1,([A-Za-z0-9+/]{43}=)(?!\S)/g)) {
    // The comparison takes the same time for each signature.
    if (await crypto.subtle.verify('HMAC', key, decodeBase64(signature), signed)) return JSON.parse(text);
  }
  throw new WebhookVerificationError('No signature is valid. Check the secret, and that the body is unchanged.');
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
