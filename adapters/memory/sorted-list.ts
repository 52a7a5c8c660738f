const BLOCK = 512;

/** Values in order, kept in blocks, so that an insertion or a deletion moves a block at most, however long the list. */
export class SortedList<T> {
  private readonly blocks: T[][] = [];
  private length = 0;

  constructor(private readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.length;
  }

  add(value: T): void {
    this.length++;
    const at = Math.min(this.blockOf(value), this.blocks.length - 1);
    const block = this.blocks[at];
    if (!block) {
      this.blocks.push([value]);
      return;
    }
    block.splice(
      partition(block, (other) => this.compare(other, value) < 0),
      0,
      value,
    );
    if (block.length > BLOCK) this.blocks.splice(at + 1, 0, block.splice(BLOCK / 2));
  }

  /** Deletes a value that is in the list. */
  delete(value: T): void {
    const at = this.blockOf(value);
    const block = this.blocks[at] as T[];
    block.splice(
      partition(block, (other) => this.compare(other, value) < 0),
      1,
    );
    if (block.length === 0) this.blocks.splice(at, 1);
    this.length--;
  }

  /** How many values lie before a boundary; `isBefore` is true for these and false for all that follow. */
  rank(isBefore: (value: T) => boolean): number {
    const at = partition(this.blocks, (block) => isBefore(block.at(-1) as T));
    const block = this.blocks[at];
    let rank = block ? partition(block, isBefore) : 0;
    for (let i = 0; i < at; i++) rank += (this.blocks[i] as T[]).length;
    return rank;
  }

  /** The values of the ranks from `start` up to `end`, that one excluded. */
  *ascending(start: number, end: number): Generator<T> {
    let rank = 0;
    for (const block of this.blocks) {
      if (rank >= end) return;
      if (rank + block.length > start) {
        for (let i = Math.max(0, start - rank); i < block.length && rank + i < end; i++) yield block[i] as T;
      }
      rank += block.length;
    }
  }

  /** The same values from the last to the first. */
  *descending(start: number, end: number): Generator<T> {
    let rank = this.length;
    for (let at = this.blocks.length - 1; at >= 0 && rank > start; at--) {
      const block = this.blocks[at] as T[];
      rank -= block.length;
      if (rank < end) {
        for (let i = Math.min(block.length, end - rank) - 1; i >= 0 && rank + i >= start; i--) yield block[i] as T;
      }
    }
  }

  /** The block that holds the value, or would. */
  private blockOf(value: T): number {
    return partition(this.blocks, (block) => this.compare(block.at(-1) as T, value) < 0);
  }
}

/** The number of values at the beginning for which `isBefore` is true; it is false for all after them. */
function partition<T>(values: readonly T[], isBefore: (value: T) => boolean): number {
  // Most records are new and come last.
  if (values.length > 0 && isBefore(values.at(-1) as T)) return values.length;
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(values[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
