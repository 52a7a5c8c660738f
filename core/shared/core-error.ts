/** The reason for which a use case rejects. The API has an error code for each kind (adapters/api/errors.ts). */
export type CoreErrorKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'invitation_expired'
  | 'not_found'
  | 'invalid'
  | 'conflict'
  | 'busy';

/** The cause of an error, if a program can act on it. The API documents each cause (adapters/api/errors.ts). */
export type CoreErrorCause =
  | 'read_only_key'
  | 'key_without_member'
  | 'not_admin'
  | 'invitation_pending'
  | 'key_outlives_yours'
  | 'key_ended'
  | 'too_many_keys'
  | 'too_many_webhooks'
  | 'already_created'
  | 'name_taken'
  | 'email_taken'
  | 'last_admin'
  | 'invitation_accepted'
  | 'domain_taken'
  | 'domain_verified_elsewhere'
  | 'domain_archived'
  | 'status_transition'
  | 'campaign_not_running'
  | 'not_draft'
  | 'concurrent_changes'
  | 'idempotency_key_in_use'
  | 'idempotency_key_reused'
  | 'list_too_slow'
  | 'verifications_busy';

/** The problem of one field, for example the path `resources.0.url` and the problem `must be a string`. */
export interface FieldError {
  readonly path: string;
  readonly problem: string;
}

/** The error with which a use case rejects a call. Its message is for the caller. */
export class CoreError extends Error {
  override readonly name = 'CoreError';

  constructor(
    readonly kind: CoreErrorKind,
    message: string,
    readonly causeName?: CoreErrorCause,
    /** The invalid fields that the message lists. */
    readonly fields: readonly FieldError[] = [],
  ) {
    super(message);
  }

  /** Whether the same call can succeed later. */
  get isTransient(): boolean {
    return (
      this.kind === 'busy' || this.causeName === 'concurrent_changes' || this.causeName === 'idempotency_key_in_use'
    );
  }
}

/**
 * The error of a repository that cannot read or store anything for now. The same call can succeed later. Its message is
 * for operators.
 */
export class StorageUnavailable extends Error {
  override readonly name: string = 'StorageUnavailable';
}

/** Returns whether the same call can succeed later. */
export function isTransientError(error: unknown): boolean {
  return error instanceof StorageUnavailable || (error instanceof CoreError && error.isTransient);
}

const MAX_FIELD_ERROR_COUNT = 10;

/**
 * Creates the error of invalid fields. Its message lists up to ten fields as `path: problem`, and the number of further
 * fields, joined by `; `.
 */
export function createInvalidFieldsError(errors: readonly FieldError[], causeName?: CoreErrorCause): CoreError {
  const lines = errors.slice(0, MAX_FIELD_ERROR_COUNT).map(({ path, problem }) => `${path}: ${problem}`);
  const furtherCount = errors.length - lines.length;
  if (furtherCount > 0) lines.push(`and ${furtherCount} more invalid ${furtherCount === 1 ? 'field' : 'fields'}`);
  return new CoreError('invalid', lines.join('; '), causeName, errors);
}

/** Throws `not_found` if the record is `undefined`. */
export function requireFound<T>(record: T | undefined, recordName: string): T {
  if (record === undefined) throw createNotFoundError(recordName);
  return record;
}

/**
 * Creates the error for an ID that is unknown, malformed, deleted, or of another workspace. It is the same in all these
 * cases, so that it does not reveal whether another workspace has the ID.
 */
export function createNotFoundError(recordName: string): CoreError {
  return new CoreError('not_found', `No such ${recordName} in this workspace. Check the ID.`);
}
