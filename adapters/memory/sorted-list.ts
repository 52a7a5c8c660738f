import type { Contains, Field, Range } from '../../core/shared/record-store.ts';
import { runInOwnIteration, Trigrams } from './trigrams.ts';

const MAX_BLOCK_LENGTH = 128;

/** The minimum and the maximum of a field in a block. */
type Extent = readonly [number, number];

/** Filters of a scan. Blocks that do not overlap all ranges are skipped, and values that cannot contain all terms. */
export interface BlockFilter<T> {
  readonly ranges?: readonly Range<T>[];
  readonly terms?: readonly Contains<T>[];
}

/** A sorted list in blocks, so that an insertion or a deletion moves at most the values of one block. */
export class SortedList<T> {
  private readonly blocks: T[][] = [];
  private readonly extents = new WeakMap<T[], Map<Field<T>, Extent>>();
  /** The trigrams of a field in a block, or the state before they exist. A change of the block clears them. */
  private readonly trigrams = new WeakMap<T[], Map<Field<T>, Trigrams | 'searched' | 'awaited'>>();
  private length = 0;

  constructor(private readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.length;
  }

  add(value: T): void {
    this.length++;
    const at = Math.min(this.findBlock(value), this.blocks.length - 1);
    const block = this.blocks[at] ?? [];
    const index = findPartitionPoint(block, (other) => this.compare(other, value) < 0);
    // Most records are new and come last. They fill the last block before a new block starts.
    if (at < 0 || index === MAX_BLOCK_LENGTH) {
      this.blocks.push([value]);
      return;
    }
    block.splice(index, 0, value);
    this.clearSummaries(block);
    if (block.length > MAX_BLOCK_LENGTH)
      this.blocks.splice(at, 1, block.slice(0, MAX_BLOCK_LENGTH / 2), block.slice(MAX_BLOCK_LENGTH / 2));
  }

  /** Deletes a value that is in the list. */
  delete(value: T): void {
    const at = this.findBlock(value);
    const block = this.blocks[at] as T[];
    block.splice(
      findPartitionPoint(block, (other) => this.compare(other, value) < 0),
      1,
    );
    this.clearSummaries(block);
    if (block.length === 0) this.blocks.splice(at, 1);
    this.length--;
  }

  /** Returns the number of values for which `isBefore` is true. They must come before all other values. */
  countBefore(isBefore: (value: T) => boolean): number {
    const at = findPartitionPoint(this.blocks, (block) => isBefore(block.at(-1) as T));
    const block = this.blocks[at];
    let rank = block ? findPartitionPoint(block, isBefore) : 0;
    for (let i = 0; i < at; i++) rank += (this.blocks[i] as T[]).length;
    return rank;
  }

  /** Iterates over the values from rank `start` to `end` (exclusive), without values that the filter excludes. */
  *iterateAscending(start: number, end: number, { ranges = [], terms = [] }: BlockFilter<T> = {}): Generator<T> {
    let rank = 0;
    for (const block of this.blocks) {
      if (rank >= end) return;
      if (rank + block.length > start && this.overlaps(block, ranges)) {
        const [from, to] = [Math.max(0, start - rank), Math.min(block.length, end - rank)];
        if (terms.length === 0) for (let i = from; i < to; i++) yield block[i] as T;
        else for (const i of this.findCandidates(block, terms, from, to)) yield block[i] as T;
      }
      rank += block.length;
    }
  }

  /** Iterates over the same values in descending order. */
  *iterateDescending(start: number, end: number, { ranges = [], terms = [] }: BlockFilter<T> = {}): Generator<T> {
    let rank = this.length;
    for (let at = this.blocks.length - 1; at >= 0 && rank > start; at--) {
      const block = this.blocks[at] as T[];
      rank -= block.length;
      if (rank < end && this.overlaps(block, ranges)) {
        const [from, to] = [Math.max(0, start - rank), Math.min(block.length, end - rank)];
        if (terms.length === 0) for (let i = to - 1; i >= from; i--) yield block[i] as T;
        else for (const i of this.findCandidates(block, terms, from, to).reverse()) yield block[i] as T;
      }
    }
  }

  /** Returns how many values from rank `start` to `end` are in blocks that overlap all ranges. */
  count(start: number, end: number, { ranges = [] }: BlockFilter<T> = {}): number {
    if (ranges.length === 0) return Math.max(0, end - start);
    let rank = 0;
    let count = 0;
    for (const block of this.blocks) {
      const inside = Math.min(block.length, end - rank) - Math.max(0, start - rank);
      if (inside > 0 && this.overlaps(block, ranges)) count += inside;
      rank += block.length;
    }
    return count;
  }

  private overlaps(block: T[], ranges: readonly Range<T>[]): boolean {
    return ranges.every(({ field, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }) => {
      const [minimum, maximum] = this.getExtent(block, field);
      return minimum <= to && maximum >= from;
    });
  }

  /** Computes the extent at its first use after a change of the block. */
  private getExtent(block: T[], field: Field<T>): Extent {
    const extents = this.extents.get(block) ?? new Map<Field<T>, Extent>();
    const known = extents.get(field);
    if (known) return known;
    const values = block.map((value) => value[field] as number);
    const extent = [Math.min(...values), Math.max(...values)] as const;
    this.extents.set(block, extents.set(field, extent));
    return extent;
  }

  /** Returns the indexes of a block from `from` to `to` (exclusive) whose values may contain all terms. */
  private findCandidates(block: T[], terms: readonly Contains<T>[], from: number, to: number): number[] {
    const known = terms.flatMap(({ field, contains }) => this.getTrigrams(block, field)?.mayContain(contains) ?? []);
    const indexes: number[] = [];
    if (known.some((words) => words.every((word) => word === 0))) return indexes;
    for (let at = from; at < to; at++) {
      if (known.every((words) => ((words[at >>> 5] as number) >>> (at & 31)) & 1)) indexes.push(at);
    }
    return indexes;
  }

  /**
   * Returns the trigrams of a block if they exist. They cost as much as several searches, so the second search of a block
   * schedules them in an iteration of the event loop of their own. A change of the block before that drops them.
   */
  private getTrigrams(block: T[], field: Field<T>): Trigrams | undefined {
    const byField = this.trigrams.get(block) ?? new Map<Field<T>, Trigrams | 'searched' | 'awaited'>();
    const known = byField.get(field);
    if (known instanceof Trigrams) return known;
    this.trigrams.set(block, byField.set(field, known === undefined ? 'searched' : 'awaited'));
    if (known === 'searched') {
      runInOwnIteration(() => byField.set(field, new Trigrams(block.map((value) => value[field] as string))));
    }
    return undefined;
  }

  private clearSummaries(block: T[]): void {
    this.extents.delete(block);
    this.trigrams.delete(block);
  }

  /** Returns the index of the block that contains the value, or to which it can be added. */
  private findBlock(value: T): number {
    return findPartitionPoint(this.blocks, (block) => this.compare(block.at(-1) as T, value) < 0);
  }
}

/** Returns the number of values for which `isBefore` is true. They must come before all other values. */
function findPartitionPoint<T>(values: readonly T[], isBefore: (value: T) => boolean): number {
  // Most records are new and come last, so check the end first.
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
