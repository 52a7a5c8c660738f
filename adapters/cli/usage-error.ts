/** Wrong usage or settings: what is wrong and what to do, a line for each. */
export class UsageError extends Error {
  override readonly name = 'Misuse';

  constructor(readonly lines: readonly string[]) {
    super(lines.join('\n'));
  }
}
