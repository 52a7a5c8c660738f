/** A pseudorandom number generator (Mulberry32): the same seed gives the same sequence. Not for secrets. */
export class SeededRandom {
  constructor(private state: number) {}

  /** Returns an integer from 0 to `end` - 1. */
  nextIntegerBelow(end: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  /** Returns an integer from `first` to `last`, both included. */
  nextIntegerBetween(first: number, last: number): number {
    return first + this.nextIntegerBelow(last - first + 1);
  }

  /** Returns one of the values. */
  pick<T>(values: readonly T[]): T {
    return values[this.nextIntegerBelow(values.length)] as T;
  }

  /** Returns 0 to `maxCount` of the values, without repetition. */
  pickSome<T>(values: readonly T[], maxCount: number): T[] {
    const remaining = [...values];
    const count = Math.min(this.nextIntegerBetween(0, maxCount), remaining.length);
    return Array.from({ length: count }, () => remaining.splice(this.nextIntegerBelow(remaining.length), 1)[0] as T);
  }
}
