import { CoreError, type CoreErrorKind } from '../../core/shared/core-error.ts';
import { type ErrorCode, getErrorAnchor } from '../api/errors.ts';

const codeOf: Record<CoreErrorKind, ErrorCode> = {
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  invitation_expired: 'invite_expired',
  not_found: 'not_found',
  invalid: 'unprocessable_entity',
  conflict: 'conflict',
};

/** What HTTP itself refuses. */
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

/** Refuses what is too much at the moment: it can be tried again in a second. */
export function overloaded(message: string): HttpError {
  return new HttpError('rate_limit_exceeded', message, ['Retry-After', '1']);
}

/** Turns what was thrown into what is answered: whatever is not foreseen tells nothing of the inside. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof CoreError) {
    const code = codeOf[error.kind];
    return new HttpError(code, error.message, code === 'unauthorized' ? ['WWW-Authenticate', 'Bearer'] : []);
  }
  return new HttpError(
    'internal_server_error',
    'Something went wrong here: try again, and tell us the X-Request-Id if it stays.',
  );
}

/** The error object. */
export function errorBody({ code, message }: HttpError, docsUrl: string): string {
  return JSON.stringify({ error: { code, message, doc_url: `${docsUrl}/errors#${getErrorAnchor(code)}` } });
}
