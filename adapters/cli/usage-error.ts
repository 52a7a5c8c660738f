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

/** Returns why a file cannot be used, for a `UsageError`. */
export function describeFileError(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return FILE_PROBLEMS[code] ?? message;
}

const FILE_PROBLEMS: Record<string, string> = { EEXIST: 'the file already exists', ENOENT: 'no such file or folder' };
