import type { Caller } from './caller.ts';

/** A caller, and when the key ends that told of it (milliseconds since the epoch). */
export interface CachedCaller {
  readonly caller: Caller;
  readonly expiresAt: number;
}

interface Entry {
  readonly caller: Promise<CachedCaller>;
  readonly loadedAt: number;
}

const MAX_ENTRY_COUNT = 10_000;

/**
 * Remembers for `keptMs` whose key has a hash, so that not every request asks the storage: a key that was revoked and a
 * member who was changed by another process count after that time. Requests that come while one asks wait for its
 * answer. Refusals are not remembered.
 */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly ttlMs: number,
    /** Milliseconds of a monotonic clock. */
    private readonly now: () => number,
  ) {}

  async get(hash: string, ask: () => Promise<CachedCaller>): Promise<CachedCaller> {
    const now = this.now();
    const entry = this.entries.get(hash);
    if (entry && now - entry.loadedAt < this.ttlMs) return entry.caller;
    const known = ask();
    if (this.ttlMs > 0) this.store(hash, { caller: known, loadedAt: now });
    return known;
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
    entry.caller.catch(() => this.entries.get(hash) === entry && this.entries.delete(hash));
  }
}
