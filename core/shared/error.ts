/** Why a use case refused. Each adapter maps every kind to its own protocol. */
export type DomainErrorKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'invitation_expired'
  | 'not_found'
  | 'invalid'
  | 'conflict';

/** What is wrong with one field: `path` as in `resources.0.url`, `problem` as in `must be a string`. */
export interface Fault {
  readonly path: string;
  readonly problem: string;
}

/** The one error that the core throws; its message is a sentence for the caller. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly kind: DomainErrorKind,
    message: string,
  ) {
    super(message);
  }
}

const MOST_FAULTS = 10;

/** Refuses fields: the message names each of them, ten at most, as `path: problem` joined by `; `. */
export function invalid(faults: readonly Fault[]): DomainError {
  const named = faults.slice(0, MOST_FAULTS).map(({ path, problem }) => `${path}: ${problem}`);
  return new DomainError('invalid', named.join('; '));
}

/** Returns the record, or refuses with `not_found`: unknown, malformed, deleted and foreign ids all look alike. */
export function found<T>(record: T | undefined, what: string): T {
  if (record === undefined) throw new DomainError('not_found', `There is no ${what} with this id in the workspace.`);
  return record;
}
