import { setTimeout as delay } from 'node:timers/promises';
import type { Usage } from '../../../core/access/rate-limiter.ts';
import { createOverloadError } from '../errors.ts';

/** The pause after the lookup of an invalid key, per address. So an address causes at most 50 such lookups per second. */
const LOOKUP_INTERVAL_MS = 20;
/** The maximum number of key lookups that wait, per address. If all keys are invalid, the last lookup waits for four seconds. */
const MAX_WAITING_LOOKUP_COUNT = 200;
const MAX_ADDRESS_COUNT = 10_000;

const TOO_MANY_LOOKUPS_ERROR = createOverloadError(
  'Too many keys from this address wait to be checked, because it sent too many rejected credentials: use valid keys, and retry in one second.',
);

/**
 * The addresses that have exceeded a limit, each until its rate limit window ends. The server of short links limits the requests for
 * unknown links. The API server limits the rejected credentials, and looks up the keys from an address over this limit one after
 * another. So requests with a valid key are still served, and a flood of invalid keys costs the storage little.
 */
export class LimitedAddresses {
  private readonly addresses = new Map<string, LimitedAddress>();

  /** Notes that an address is over its limit. */
  add(address: string, { resetsInMs }: Usage): void {
    const limited = this.addresses.get(address) ?? new LimitedAddress();
    limited.until = performance.now() + resetsInMs;
    this.addresses.set(address, limited);
    const [oldest] = this.addresses.keys();
    if (this.addresses.size > MAX_ADDRESS_COUNT) this.addresses.delete(oldest as string);
  }

  /** Returns the state of an address if it is over its limit. Calls `getAddress` only if any address is over its limit. */
  findByAddress(getAddress: () => string): LimitedAddress | undefined {
    if (this.addresses.size === 0) return undefined;
    const address = getAddress();
    const limited = this.addresses.get(address);
    if (limited && limited.until > performance.now()) return limited;
    this.addresses.delete(address);
    return undefined;
  }
}

class LimitedAddress {
  /** The time until which the address is over its limit. */
  until = 0;
  private waitingCount = 0;
  private lastLookup: Promise<unknown> = Promise.resolve();

  /** Runs a lookup after all earlier ones. Rejects with 429 at once if too many lookups wait. */
  async runLookup<T>(lookUp: () => Promise<T>): Promise<T> {
    if (this.waitingCount >= MAX_WAITING_LOOKUP_COUNT) throw TOO_MANY_LOOKUPS_ERROR;
    this.waitingCount++;
    const result = this.lastLookup.then(lookUp).finally(() => this.waitingCount--);
    this.lastLookup = result.catch(() => delay(LOOKUP_INTERVAL_MS));
    return result;
  }
}
