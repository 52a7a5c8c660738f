/**
 * The error of a process that cannot start: a setting is invalid, or a file, a database or a port cannot be used. Each
 * line names a problem and, if it is not obvious, how to fix it. No line has the value of a setting that may be a
 * secret.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}
