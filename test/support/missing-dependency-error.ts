/** A test needs a program that this machine does not have. The test is skipped and reported. If `CI` is set, it fails. */
export class MissingDependencyError extends Error {
  override readonly name = 'MissingDependencyError';
}
