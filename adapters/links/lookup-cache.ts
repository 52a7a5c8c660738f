import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import type { LinkLookups } from '../../core/link/link-service.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { withTimeout } from '../node/with-timeout.ts';

/** The age from which a value is loaded again in the background when it is used. */
const REFRESH_AGE_MS = 1_000;
/**
 * A change of a campaign or a domain affects its links within five seconds. So no older value is used, even if the
 * storage is unavailable.
 */
export const MAX_CACHE_AGE_MS = 5_000;
/** The maximum time that a request waits for a load. */
const LOAD_TIMEOUT_MS = 2_000;
/** The maximum number of cached keys, with or without a value. The key that was used least recently is evicted first. */
export const MAX_ENTRY_COUNT = 20_000;
/** The maximum number of simultaneous loads, so that unknown keys cannot overload the storage. Further loads wait. */
export const MAX_LOAD_COUNT = 100;
/** The maximum number of loads that wait. */
export const MAX_WAITING_COUNT = 1_000;

type Cached<V> = V | undefined | Promise<V | undefined>;
type Limit = ReturnType<typeof pLimit>;

interface Entry<V> {
  readonly value: V | undefined;
  /** The start of the load, in milliseconds of the monotonic clock. */
  readonly loadStartedAt: number;
}

/** Caches the lookups of links, campaigns and domains. Links never change. */
export function createCachedLookups(lookups: LinkLookups): LinkLookups {
  const limit = pLimit(MAX_LOAD_COUNT);
  const findCampaign = cacheLookup(limit, (key) => lookups.findCampaign(...(key.split(' ') as [string, string])));
  return {
    findLink: cacheLookup(limit, (key) => lookups.findLink(key), { isImmutable: true }),
    findCampaign: (workspaceId, campaignId) => findCampaign(`${workspaceId} ${campaignId}`),
    findDomain: cacheLookup(limit, (slug) => lookups.findDomain(slug)),
  };
}

/**
 * Returns a function that loads values, and caches them for up to five seconds, or without a maximum age if they are
 * immutable. A key without a value is always loaded again, because its value can be added later. Simultaneous calls for
 * one key share a load. The function returns a cached value without a promise. It rejects if a load fails or takes too
 * long, or if too many loads wait.
 */
export function cacheLookup<V>(
  limit: Limit,
  load: (key: string) => Cached<V>,
  { isImmutable = false } = {},
): (key: string) => Cached<V> {
  const cache = new LRUCache<string, Entry<V>>({
    max: MAX_ENTRY_COUNT,
    // If a load fails, the cached value is used until it is too old.
    noDeleteOnFetchRejection: true,
    // A load whose key is evicted still has a result.
    ignoreFetchAbort: true,
    async fetchMethod(key) {
      if (limit.pendingCount >= MAX_WAITING_COUNT) throw new Error('Too many short links are being looked up at once.');
      return limit(async () => {
        const entry = { loadStartedAt: performance.now(), value: await load(key) };
        // The value may be as old as the start of the load.
        if (getAge(entry) >= MAX_CACHE_AGE_MS) throw new Error('The lookup of a short link took too long.');
        return entry;
      });
    },
  });
  const reload = async (key: string) => {
    const loading = cache.forceFetch(key, { forceRefresh: true });
    // After the timeout, the load goes on, so that a later request can use its value.
    return (await withTimeout(loading, LOAD_TIMEOUT_MS, () => new Error('The lookup of a short link took too long.')))
      .value;
  };
  return (key) => {
    const entry = cache.get(key);
    if (!entry) return reload(key);
    const age = isImmutable && entry.value !== undefined ? 0 : getAge(entry);
    if (age >= MAX_CACHE_AGE_MS) return reload(key);
    if (age >= REFRESH_AGE_MS) reload(key).catch(doNothing);
    return entry.value;
  };
}

function getAge({ loadStartedAt }: Entry<unknown>): number {
  return performance.now() - loadStartedAt;
}
