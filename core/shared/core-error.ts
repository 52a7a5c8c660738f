/** The reason for which a use case rejects. The API has an error code for each kind (adapters/api/errors.ts). */
export type CoreErrorKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'invitation_expired'
  | 'not_found'
  | 'invalid'
  | 'conflict';

/** The problem of one field, for example the path `resources.0.url` and the problem `must be a string`. */
export interface FieldError {
  readonly path: string;
  readonly problem: string;
}

/** The only error that the core throws. Its message is a text for the caller. */
export class CoreError extends Error {
  override readonly name = 'CoreError';

  constructor(
    readonly kind: CoreErrorKind,
    message: string,
    /** Whether the same call can succeed later. */
    readonly isTransient = false,
  ) {
    super(message);
  }
}

const MAX_FIELD_ERROR_COUNT = 10;

/** Creates the error of invalid fields. Its message lists up to ten fields as `path: problem`, joined by `; `. */
export function createInvalidFieldsError(errors: readonly FieldError[]): CoreError {
  const lines = errors.slice(0, MAX_FIELD_ERROR_COUNT).map(({ path, problem }) => `${path}: ${problem}`);
  return new CoreError('invalid', lines.join('; '));
}

/** Returns the record, or throws the error of `createNotFoundError` if it is `undefined`. */
export function requireFound<T>(record: T | undefined, recordName: string): T {
  if (record === undefined) throw createNotFoundError(recordName);
  return record;
}

/**
 * Creates the error of an ID that is unknown, malformed, deleted, or of another workspace: the same for all of them.
 */
export function createNotFoundError(recordName: string): CoreError {
  return new CoreError('not_found', `No ${recordName} of this workspace has this ID. Check the ID.`);
}
