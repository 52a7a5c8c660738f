import { CoreError } from '../../core/shared/core-error.ts';
import { type ErrorCode, getErrorAnchor, getErrorCode } from '../api/errors.ts';

/** An error with a code of the API, and headers for its response. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly headers: readonly string[] = [],
  ) {
    super(message);
  }
}

/**
 * Creates the error for a request that is rejected because of the current load. The request can be retried after one
 * second.
 */
export function createOverloadError(message: string): HttpError {
  return new HttpError('rate_limit_exceeded', message, ['Retry-After', '1']);
}

/**
 * Converts a thrown value to the error of the response. An unexpected error becomes a 500 that reveals no internals.
 */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof CoreError) {
    const code = getErrorCode(error.kind);
    return new HttpError(code, error.message, code === 'unauthorized' ? ['WWW-Authenticate', 'Bearer'] : []);
  }
  return new HttpError(
    'internal_server_error',
    'Something went wrong: try again, and report the X-Request-Id if the error persists.',
  );
}

/** Returns the response body for an error: the error object as JSON. */
export function toErrorBody({ code, message }: HttpError, docsUrl: string): string {
  return JSON.stringify({ error: { code, message, doc_url: `${docsUrl}/errors#${getErrorAnchor(code)}` } });
}
