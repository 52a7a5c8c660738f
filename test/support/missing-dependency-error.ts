/**
 * A test needs a program that this machine does not have. The test is skipped and reported. If `CI` is set, it fails, unless the
 * program is optional: `.ci/run` does not install it.
 */
export class MissingDependencyError extends Error {
  override readonly name = 'MissingDependencyError';
  readonly isOptional: boolean;

  constructor(message: string, { isOptional = false } = {}) {
    super(message);
    this.isOptional = isOptional;
  }
}
