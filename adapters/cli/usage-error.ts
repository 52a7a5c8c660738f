/**
 * Wrong usage of the command line, or invalid settings. Each line names a problem and how to fix it. It does not contain the value of a
 * setting, because that may be a secret.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}
