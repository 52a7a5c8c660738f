import type { Contains, Field, Range } from '../../core/shared/record-store.ts';
import { inItsTurn, Trigrams } from './trigrams.ts';

const BLOCK = 128;

/** The least and the greatest of a field in a block. */
type Extent = readonly [number, number];

/** What a walk looks for: it passes by blocks that do not reach into all ranges, and values that cannot have all terms. */
export interface Sought<T> {
  readonly ranges?: readonly Range<T>[];
  readonly terms?: readonly Contains<T>[];
}

/** Values in order, kept in blocks, so that an insertion or a deletion moves a block at most, however long the list. */
export class SortedList<T> {
  private readonly blocks: T[][] = [];
  private readonly extents = new WeakMap<T[], Map<Field<T>, Extent>>();
  /** Of the texts of a field in a block, or how far it is from having them; nothing of a block that has changed. */
  private readonly trigrams = new WeakMap<T[], Map<Field<T>, Trigrams | 'searched' | 'awaited'>>();
  private length = 0;

  constructor(private readonly compare: (a: T, b: T) => number) {}

  get size(): number {
    return this.length;
  }

  add(value: T): void {
    this.length++;
    const at = Math.min(this.blockOf(value), this.blocks.length - 1);
    const block = this.blocks[at] ?? [];
    const place = partition(block, (other) => this.compare(other, value) < 0);
    // Most records are new and come last: they fill the blocks, of which only the last one can end before them.
    if (at < 0 || place === BLOCK) {
      this.blocks.push([value]);
      return;
    }
    block.splice(place, 0, value);
    this.forget(block);
    if (block.length > BLOCK) this.blocks.splice(at, 1, block.slice(0, BLOCK / 2), block.slice(BLOCK / 2));
  }

  /** Deletes a value that is in the list. */
  delete(value: T): void {
    const at = this.blockOf(value);
    const block = this.blocks[at] as T[];
    block.splice(
      partition(block, (other) => this.compare(other, value) < 0),
      1,
    );
    this.forget(block);
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

  /** The values of the ranks from `start` up to `end`, that one excluded, but for those that cannot be what is sought. */
  *ascending(start: number, end: number, { ranges = [], terms = [] }: Sought<T> = {}): Generator<T> {
    let rank = 0;
    for (const block of this.blocks) {
      if (rank >= end) return;
      if (rank + block.length > start && this.reaches(block, ranges)) {
        const [from, to] = [Math.max(0, start - rank), Math.min(block.length, end - rank)];
        if (terms.length === 0) for (let i = from; i < to; i++) yield block[i] as T;
        else for (const i of this.candidates(block, terms, from, to)) yield block[i] as T;
      }
      rank += block.length;
    }
  }

  /** The same values from the last to the first. */
  *descending(start: number, end: number, { ranges = [], terms = [] }: Sought<T> = {}): Generator<T> {
    let rank = this.length;
    for (let at = this.blocks.length - 1; at >= 0 && rank > start; at--) {
      const block = this.blocks[at] as T[];
      rank -= block.length;
      if (rank < end && this.reaches(block, ranges)) {
        const [from, to] = [Math.max(0, start - rank), Math.min(block.length, end - rank)];
        if (terms.length === 0) for (let i = to - 1; i >= from; i--) yield block[i] as T;
        else for (const i of this.candidates(block, terms, from, to).reverse()) yield block[i] as T;
      }
    }
  }

  /** How many values of these ranks are in blocks that reach into all of the ranges. */
  count(start: number, end: number, { ranges = [] }: Sought<T> = {}): number {
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

  /** The places of a block from one up to another, that one excluded, whose values may have all of the terms. */
  private candidates(block: T[], terms: readonly Contains<T>[], from: number, to: number): number[] {
    const known = terms.flatMap(({ field, contains }) => this.trigramsOf(block, field)?.mayContain(contains) ?? []);
    const places: number[] = [];
    if (known.some((words) => words.every((word) => word === 0))) return places;
    for (let at = from; at < to; at++) {
      if (known.every((words) => ((words[at >>> 5] as number) >>> (at & 31)) & 1)) places.push(at);
    }
    return places;
  }

  /**
   * They cost as much as some searches: a block that is searched again gets them in a turn of its own, unless it changes
   * before, which drops the map that they go into.
   */
  private trigramsOf(block: T[], field: Field<T>): Trigrams | undefined {
    const byField = this.trigrams.get(block) ?? new Map<Field<T>, Trigrams | 'searched' | 'awaited'>();
    const known = byField.get(field);
    if (known instanceof Trigrams) return known;
    this.trigrams.set(block, byField.set(field, known === undefined ? 'searched' : 'awaited'));
    if (known === 'searched') {
      inItsTurn(() => byField.set(field, new Trigrams(block.map((value) => value[field] as string))));
    }
    return undefined;
  }

  private forget(block: T[]): void {
    this.extents.delete(block);
    this.trigrams.delete(block);
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
