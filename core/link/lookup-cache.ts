import { doNothing } from '../shared/do-nothing.ts';

/** The age from which an entry is loaded again in the background when it is used. */
const REFRESH_AGE_MS = 1_000;
/**
 * A change of a campaign or a domain affects its links within five seconds. So no older entry is used, even if the storage
 * is unavailable.
 */
export const MAX_CACHE_AGE_MS = 5_000;
/** At most this many keys with a value are cached, and at most this many without a value. The key that was loaded least recently is removed first. */
const MAX_ENTRY_COUNT = 10_000;
/** The maximum number of simultaneous loads, so that unknown keys cannot overload the storage. Further loads wait. */
export const MAX_LOAD_COUNT = 100;
/** The maximum number of loads that wait. */
export const MAX_WAITING_COUNT = 1_000;

interface Entry<V> {
  readonly value: V | undefined;
  /** The start of the load, in milliseconds of the monotonic clock. */
  readonly loadStartedAt: number;
}

/**
 * Caches one kind of values that short links need: links, campaigns or domains. Caches values for up to five seconds, or without a
 * maximum age if they never change. Simultaneous requests of one key share a load. Keys without a value are cached apart, so that
 * many unknown keys do not remove values.
 */
export class LookupCache<V> {
  private readonly values = new Map<string, Entry<V>>();
  private readonly absences = new Map<string, Entry<V>>();
  /** The loads that wait or run. */
  private readonly loads = new Map<string, Promise<V | undefined>>();
  private readonly waiting: (() => void)[] = [];
  private runningCount = 0;

  constructor(
    private readonly load: (key: string) => Promise<V | undefined>,
    /** Milliseconds of a monotonic clock. */
    private readonly now: () => number,
    /** Whether values never change. A key without a value is still loaded again, because its value can be added later. */
    private readonly options: { readonly isImmutable?: boolean } = {},
  ) {}

  /**
   * Returns the value of a key, without a promise if it is cached. Rejects if the load fails or takes too long, or if too many
   * loads wait.
   */
  get(key: string): V | undefined | Promise<V | undefined> {
    const entry = this.values.get(key) ?? this.absences.get(key);
    if (this.options.isImmutable && entry?.value !== undefined) return entry.value;
    const age = entry ? this.now() - entry.loadStartedAt : Number.POSITIVE_INFINITY;
    if (!entry || age >= MAX_CACHE_AGE_MS) return this.joinOrStartLoad(key);
    // If the load fails, the entry is used until it is too old.
    if (age >= REFRESH_AGE_MS && this.loads.size < MAX_LOAD_COUNT) this.joinOrStartLoad(key).catch(doNothing);
    return entry.value;
  }

  /** Returns the result of the load of a key that waits or runs. If there is none, starts a load. */
  private async joinOrStartLoad(key: string): Promise<V | undefined> {
    const existing = this.loads.get(key);
    if (existing) return existing;
    if (this.loads.size >= MAX_LOAD_COUNT + MAX_WAITING_COUNT) {
      throw new Error('Too many short links are being looked up at once.');
    }
    const load = this.loadWhenSlotIsFree(key).finally(() => this.loads.delete(key));
    this.loads.set(key, load);
    return load;
  }

  private async loadWhenSlotIsFree(key: string): Promise<V | undefined> {
    while (this.runningCount >= MAX_LOAD_COUNT) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.runningCount++;
    try {
      const loadStartedAt = this.now();
      const value = await this.load(key);
      // A load can read a campaign and then its domain. The campaign may be as old as the start of the load, so after a long
      // load, the value is too old to be used.
      if (this.now() - loadStartedAt >= MAX_CACHE_AGE_MS) throw new Error('The look-up of a short link took too long.');
      this.store(key, { value, loadStartedAt });
      return value;
    } finally {
      this.runningCount--;
      this.waiting.shift()?.();
    }
  }

  private store(key: string, entry: Entry<V>): void {
    this.values.delete(key);
    this.absences.delete(key);
    const entries = entry.value === undefined ? this.absences : this.values;
    entries.set(key, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_ENTRY_COUNT) entries.delete(oldest as string);
  }
}
