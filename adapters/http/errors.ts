import { CoreError, isTransientError } from '../../core/shared/core-error.ts';
import { type ErrorCauseName, type ErrorCode, errors, getErrorAnchor, getErrorCode } from '../api/errors.ts';

/** The value of `Retry-After` for errors without a known end. */
const RETRY_AFTER_SECONDS = 1;

/** An error with a code of the API. */
export class HttpError extends Error {
  override readonly name = 'HttpError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly causeName?: ErrorCauseName,
    /** The value of `Retry-After`. It is set only if the same request can succeed later. */
    readonly retryAfterSeconds?: number,
  ) {
    super(message);
  }
}

/** Creates an error after which the same request can succeed in a moment. */
export function createTransientError(code: ErrorCode, message: string, causeName?: ErrorCauseName): HttpError {
  return new HttpError(code, message, causeName, RETRY_AFTER_SECONDS);
}

/**
 * Converts a thrown value to the error of the response. An unexpected error becomes a 500 that reveals no internals.
 */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const isCoreError = error instanceof CoreError;
  return new HttpError(
    isCoreError ? getErrorCode(error.kind) : 'internal_server_error',
    isCoreError ? error.message : errors.internal_server_error.example,
    isCoreError ? error.causeName : undefined,
    isTransientError(error) ? RETRY_AFTER_SECONDS : undefined,
  );
}

/** Returns the headers that the response for an error has in addition to those of other responses. */
export function createErrorHeaders({ code, retryAfterSeconds }: HttpError): string[] {
  return [
    ...(code === 'unauthorized' ? ['WWW-Authenticate', 'Bearer'] : []),
    ...(retryAfterSeconds === undefined ? [] : ['Retry-After', `${retryAfterSeconds}`]),
  ];
}

/** Returns the response body for an error: the error object as JSON. */
export function toErrorBody({ code, message, causeName }: HttpError, docsUrl: string): string {
  return JSON.stringify({ error: { code, message, doc_url: `${docsUrl}/errors#${getErrorAnchor(code, causeName)}` } });
}
