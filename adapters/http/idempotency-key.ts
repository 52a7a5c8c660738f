import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { IDEMPOTENCY_KEY_PATTERN } from '../../core/idempotency/idempotency.ts';
import { IDEMPOTENCY_KEY_LENGTH } from '../../core/limits.ts';
import { HttpError } from './errors.ts';

/** Returns the `Idempotency-Key` header, or `undefined` if it was not sent. Throws `bad_request` if it is not valid. */
export function readIdempotencyKey(request: Request): string | undefined {
  const key = request.get('Idempotency-Key');
  if (key === undefined || IDEMPOTENCY_KEY_PATTERN.test(key)) return key;
  const { min, max } = IDEMPOTENCY_KEY_LENGTH;
  throw new HttpError(
    'bad_request',
    `The Idempotency-Key is not valid. Send one header with ${min} to ${max} visible ASCII characters.`,
  );
}

/** Computes a hash of a JSON value. The hash does not depend on the order of field names. */
export function computeFingerprint(value: unknown): string {
  const sortNames = (_: string, inner: unknown): unknown =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner;
  return createHash('sha256').update(JSON.stringify(value, sortNames)).digest('hex');
}
