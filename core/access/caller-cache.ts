import type { Caller } from './caller.ts';

/** A caller, and when the key ends that told of it (milliseconds since the epoch). */
export interface KnownCaller {
  readonly caller: Caller;
  readonly endsAt: number;
}

interface Entry {
  readonly known: Promise<KnownCaller>;
  readonly askedAt: number;
}

const MOST_ENTRIES = 10_000;

/**
 * Remembers for `keptMs` whose key has a hash, so that not every request asks the storage: a key that was revoked and a
 * member who was changed by another process count after that time. Requests that come while one asks wait for its
 * answer. Refusals are not remembered.
 */
export class CallerCache {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly keptMs: number,
    /** Milliseconds of a monotonic clock. */
    private readonly now: () => number,
  ) {}

  async get(hash: string, ask: () => Promise<KnownCaller>): Promise<KnownCaller> {
    const now = this.now();
    const entry = this.entries.get(hash);
    if (entry && now - entry.askedAt < this.keptMs) return entry.known;
    const known = ask();
    if (this.keptMs > 0) this.remember(hash, { known, askedAt: now });
    return known;
  }

  /** Returns whether the key of a hash is cached (expired entries included), or is being looked up. */
  has(hash: string): boolean {
    return this.entries.has(hash);
  }

  forgetAll(): void {
    this.entries.clear();
  }

  private remember(hash: string, entry: Entry): void {
    this.entries.delete(hash);
    this.entries.set(hash, entry);
    const oldest = this.entries.keys().next().value as string;
    if (this.entries.size > MOST_ENTRIES) this.entries.delete(oldest);
    entry.known.catch(() => this.entries.get(hash) === entry && this.entries.delete(hash));
  }
}
