/** Why a use case refused. Each adapter maps every kind to its own protocol. */
export type CoreErrorKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'invitation_expired'
  | 'not_found'
  | 'invalid'
  | 'conflict';

/** What is wrong with one field: `path` as in `resources.0.url`, `problem` as in `must be a string`. */
export interface FieldError {
  readonly path: string;
  readonly problem: string;
}

/** The one error that the core throws; its message is a sentence for the caller. */
export class CoreError extends Error {
  override readonly name = 'CoreError';

  constructor(
    readonly kind: CoreErrorKind,
    message: string,
  ) {
    super(message);
  }
}

const MAX_FIELD_ERROR_COUNT = 10;

/** Refuses fields: the message names each of them, ten at most, as `path: problem` joined by `; `. */
export function invalidFields(faults: readonly FieldError[]): CoreError {
  const named = faults.slice(0, MAX_FIELD_ERROR_COUNT).map(({ path, problem }) => `${path}: ${problem}`);
  return new CoreError('invalid', named.join('; '));
}

/** Returns the record, or refuses with `not_found`: unknown, malformed, deleted and foreign ids all look alike. */
export function requireFound<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new CoreError('not_found', `There is no ${what} with this id in the workspace.`);
  return record;
}
