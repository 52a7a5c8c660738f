import { setTimeout as delay } from 'node:timers/promises';
import type { Usage } from '../../../core/access/rate-limiter.ts';
import { createRateLimitError } from '../rate-limit-headers.ts';

/** The pause after the look-up of an invalid key, per address. So an address causes at most 50 such look-ups per second. */
const LOOKUP_INTERVAL_MS = 20;
/** The maximum number of key look-ups that wait, per address. If all keys are invalid, the last one waits for four seconds. */
const MAX_WAITING_LOOKUP_COUNT = 200;
const MAX_ADDRESS_COUNT = 10_000;

/**
 * The addresses that have exceeded the limit of rejected credentials, each until its rate limit window ends. Keys from such an
 * address are looked up one after another. So requests with a valid key are still served, and a flood of invalid keys costs the
 * storage little.
 */
export class LimitedAddresses {
  private readonly addresses = new Map<string, LimitedAddress>();

  /** Notes that an address is over its limit. */
  add(address: string, usage: Usage): void {
    const existing = this.addresses.get(address);
    if (existing) existing.usage = usage;
    else this.addresses.set(address, new LimitedAddress(usage));
    const [oldest] = this.addresses.keys();
    if (this.addresses.size > MAX_ADDRESS_COUNT) this.addresses.delete(oldest as string);
  }

  /** Returns the address if it is over its limit. Calls `getAddress` only if any address is over its limit. */
  find(getAddress: () => string): LimitedAddress | undefined {
    if (this.addresses.size === 0) return undefined;
    const address = getAddress();
    const limited = this.addresses.get(address);
    if (limited && limited.resetsInMs > 0) return limited;
    this.addresses.delete(address);
    return undefined;
  }
}

/** An address that is over its limit. */
export class LimitedAddress {
  private waitingCount = 0;
  private lastLookup: Promise<unknown> = Promise.resolve();
  private usageSince = performance.now();

  constructor(private current: Usage) {}

  set usage(usage: Usage) {
    this.current = usage;
    this.usageSince = performance.now();
  }

  /** Milliseconds until the limit no longer applies, or 0 or less if it no longer applies. */
  get resetsInMs(): number {
    return this.current.resetsInMs - (performance.now() - this.usageSince);
  }

  /** Runs a look-up after all earlier ones. Rejects with 429 at once if too many wait. */
  async runLookup<T>(lookUp: () => Promise<T>): Promise<T> {
    if (this.waitingCount >= MAX_WAITING_LOOKUP_COUNT) throw this.createRateLimitError();
    this.waitingCount++;
    const result = this.lastLookup.then(lookUp);
    const settled = result.finally(() => this.waitingCount--);
    this.lastLookup = settled.catch(() => delay(LOOKUP_INTERVAL_MS));
    return settled;
  }

  /** Returns the error for a rejected credential from this address. */
  createRateLimitError(): Error {
    return createRateLimitError('rejected credentials from this address', {
      ...this.current,
      resetsInMs: Math.max(0, this.resetsInMs),
    });
  }
}
