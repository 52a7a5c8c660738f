/**
 * Wrong usage of the command line, invalid settings, or a file or a database that cannot be used. Each line names a
 * problem and, if it is not obvious, how to fix it. A line does not contain the value of a setting that may be a
 * secret.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}
