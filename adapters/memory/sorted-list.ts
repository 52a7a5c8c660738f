import type { Field, Range } from '../../core/shared/records.ts';

const BLOCK = 128;

/** The least and the greatest of a field in a block. */
type Extent = readonly [number, number];

/** Values in order, kept in blocks, so that an insertion or a deletion moves a block at most, however long the list. */
export class SortedList<T> {
  private readonly blocks: T[][] = [];
  private readonly extents = new WeakMap<T[], Map<Field<T>, Extent>>();
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
    this.extents.delete(block);
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
    this.extents.delete(block);
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

  /**
   * The values of the ranks from `start` up to `end`, that one excluded, but for those in blocks that do not reach
   * into all of the `ranges`.
   */
  *ascending(start: number, end: number, ranges: readonly Range<T>[] = []): Generator<T> {
    let rank = 0;
    for (const block of this.blocks) {
      if (rank >= end) return;
      if (rank + block.length > start && this.reaches(block, ranges)) {
        for (let i = Math.max(0, start - rank); i < block.length && rank + i < end; i++) yield block[i] as T;
      }
      rank += block.length;
    }
  }

  /** The same values from the last to the first. */
  *descending(start: number, end: number, ranges: readonly Range<T>[] = []): Generator<T> {
    let rank = this.length;
    for (let at = this.blocks.length - 1; at >= 0 && rank > start; at--) {
      const block = this.blocks[at] as T[];
      rank -= block.length;
      if (rank < end && this.reaches(block, ranges)) {
        for (let i = Math.min(block.length, end - rank) - 1; i >= 0 && rank + i >= start; i--) yield block[i] as T;
      }
    }
  }

  /** How many values these are. */
  count(start: number, end: number, ranges: readonly Range<T>[] = []): number {
    if (ranges.length === 0) return Math.max(0, end - start);
    let rank = 0;
    let count = 0;
    for (const block of this.blocks) {
      const inside = Math.min(block.length, end - rank) - Math.max(0, start - rank);
      if (inside > 0 && this.reaches(block, ranges)) count += inside;
      rank += block.length;
    }
    return count;
  }

  private reaches(block: T[], ranges: readonly Range<T>[]): boolean {
    return ranges.every(({ field, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
      const [least, greatest] = this.extentOf(block, field);
      return least <= to && greatest >= from;
    });
  }

  /** It is found when it is first asked for after the block has changed. */
  private extentOf(block: T[], field: Field<T>): Extent {
    const extents = this.extents.get(block) ?? new Map<Field<T>, Extent>();
    const known = extents.get(field);
    if (known) return known;
    const values = block.map((value) => value[field] as number);
    const extent = [Math.min(...values), Math.max(...values)] as const;
    this.extents.set(block, extents.set(field, extent));
    return extent;
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
