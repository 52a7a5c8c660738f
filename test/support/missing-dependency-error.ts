/**
 * A test needs something that this machine does not have, such as a program. The test is skipped and reported. If `CI`
 * is set, the test fails instead. `isOptional` is for what `.ci/run` does not install: the test is then skipped even if
 * `CI` is set.
 */
export class MissingDependencyError extends Error {
  override readonly name = 'MissingDependencyError';
  readonly isOptional: boolean;

  constructor(message: string, { isOptional = false } = {}) {
    super(message);
    this.isOptional = isOptional;
  }
}
