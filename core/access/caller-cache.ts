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

const MAX_ENTRY_COUNT = 10_000;

/**
 * Caches callers by the hash of their secret for `ttlMs`, so that not every request reads the storage. A revocation or a
 * change of a member in another process takes effect after this time. Requests that arrive during a load share its
 * result. Rejections are not cached.
 */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly ttlMs: number,
    /** Milliseconds of a monotonic clock. */
    private readonly now: () => number,
  ) {}

  async get(hash: string, load: () => Promise<CachedCaller>): Promise<CachedCaller> {
    const now = this.now();
    const entry = this.entries.get(hash);
    if (entry && now - entry.loadedAt < this.ttlMs) return entry.loaded;
    const loaded = load();
    if (this.ttlMs > 0) this.store(hash, { loaded, loadedAt: now });
    return loaded;
  }

  /** Returns whether the key of a hash is cached (expired entries included), or is being looked up. */
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
