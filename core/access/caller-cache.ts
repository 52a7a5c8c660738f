import type { Caller } from './caller.ts';

/** A caller, and the time at which its key expires (milliseconds since the epoch). */
export interface CachedCaller {
  readonly caller: Caller;
  readonly expiresAt: number;
}

interface Entry {
  readonly loaded: Promise<CachedCaller>;
  /** Milliseconds of the monotonic clock. */
  readonly loadedAt: number;
}

/**
 * The time for which a server caches the caller of a key. A revoked key must stop working in every process within 5 seconds.
 * These 5 seconds include this time and the time to look the key up again.
 */
export const CALLER_CACHE_TTL_MS = 3_000;

const MAX_ENTRY_COUNT = 10_000;

/**
 * Caches callers by the hash of their secret for `ttlMs`, so that not every request reads the storage. If another process revokes
 * a key or changes a member, the change takes effect after at most `ttlMs`. An entry is cached from the start of its load, so
 * requests that arrive during a load share its result. If a load takes longer than `ttlMs`, the next request starts another one.
 * A load that rejects is not cached.
 */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly ttlMs: number,
    /** Milliseconds of a monotonic clock. */
    private readonly now: () => number,
  ) {}

  get(hash: string, load: () => Promise<CachedCaller>): Promise<CachedCaller> {
    const now = this.now();
    const entry = this.entries.get(hash);
    if (entry && now - entry.loadedAt < this.ttlMs) return entry.loaded;
    const loaded = load();
    if (this.ttlMs > 0) this.store(hash, { loaded, loadedAt: now });
    return loaded;
  }

  /** Returns whether a hash has an entry, even if the entry has expired or is still being loaded. */
  has(hash: string): boolean {
    return this.entries.has(hash);
  }

  clear(): void {
    this.entries.clear();
  }

  private store(hash: string, entry: Entry): void {
    this.entries.delete(hash);
    this.entries.set(hash, entry);
    const oldest = this.entries.keys().next().value as string;
    if (this.entries.size > MAX_ENTRY_COUNT) this.entries.delete(oldest);
    entry.loaded.catch(() => this.entries.get(hash) === entry && this.entries.delete(hash));
  }
}
