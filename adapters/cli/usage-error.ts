/** Wrong usage or invalid settings. Each line names a problem and how to fix it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}
