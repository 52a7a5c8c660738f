import { LRUCache } from 'lru-cache';
import { doNothing } from '../../core/shared/do-nothing.ts';

export interface LoadingCacheOptions<V> {
  /** The maximum number of cached keys. The key that was used least recently is evicted first. */
  readonly maxEntryCount: number;
  /** A value of this age is loaded again in the background when it is used. */
  readonly refreshAgeMs: number;
  /** A value of this age is not used. The age of a value includes the time to load it. */
  readonly maxAgeMs: number;
  /** Whether a value never changes, so that it has no maximum age. */
  isImmutable?(value: V): boolean;
}

interface Entry<V> {
  readonly value: V;
  /** The start of the load, in milliseconds of the monotonic clock. */
  readonly loadStartedAt: number;
}

/** Caches loaded values. Simultaneous calls for one key share a load. A load that rejects is not cached. */
export class LoadingCache<V> {
  private readonly entries: LRUCache<string, Entry<V>, () => V | Promise<V>>;

  constructor(private readonly options: LoadingCacheOptions<V>) {
    this.entries = new LRUCache({
      max: options.maxEntryCount,
      fetchMethod: async (_key, _entry, { context: load }) => {
        const loadStartedAt = performance.now();
        return { value: await load(), loadStartedAt };
      },
      // If a load fails, the cached value is used until it is too old. If a key is evicted, its load still has a
      // result.
      noDeleteOnFetchRejection: true,
      ignoreFetchAbort: true,
    });
  }

  /** Returns the value of a key, without a promise if it is cached. Rejects if the load of the value rejects. */
  get(key: string, load: () => V | Promise<V>): V | Promise<V> {
    const now = performance.now();
    const entry = this.entries.get(key);
    if (!entry || this.getAge(entry, now) >= this.options.maxAgeMs) return this.reload(key, load, now);
    if (this.getAge(entry, now) >= this.options.refreshAgeMs) this.reload(key, load, now).catch(doNothing);
    return entry.value;
  }

  /** Loads a value. If an earlier call has started its load too long before `now`, loads it once more. */
  private async reload(key: string, load: () => V | Promise<V>, now: number): Promise<V> {
    const entry = await this.entries.forceFetch(key, { context: load, forceRefresh: true });
    return this.getAge(entry, now) < this.options.maxAgeMs ? entry.value : this.reload(key, load, performance.now());
  }

  private getAge({ value, loadStartedAt }: Entry<V>, now: number): number {
    return this.options.isImmutable?.(value) ? 0 : now - loadStartedAt;
  }
}
