import pLimit from 'p-limit';
import type { LinkLookups } from '../../core/link/link-service.ts';
import { LoadingCache } from '../node/loading-cache.ts';
import { withTimeout } from '../node/with-timeout.ts';

/**
 * A change of a campaign or a domain affects its links within five seconds. So no older value is used, even if the
 * storage is unavailable.
 */
export const MAX_CACHE_AGE_MS = 5_000;
const CACHE_OPTIONS = { maxEntryCount: 20_000, refreshAgeMs: 1_000, maxAgeMs: MAX_CACHE_AGE_MS };
/** The maximum number of simultaneous lookups, so that unknown keys cannot overload the storage. Further ones wait. */
export const MAX_LOOKUP_COUNT = 100;
/** The maximum number of lookups that wait. */
export const MAX_WAITING_COUNT = 1_000;
/** The maximum time that a request waits for a lookup. After that, the lookup goes on for later requests. */
const LOOKUP_TIMEOUT_MS = 2_000;

/** Caches the lookups of links, campaigns and domains, including those that find nothing. */
export function createCachedLookups(lookups: LinkLookups): LinkLookups {
  const limit = pLimit(MAX_LOOKUP_COUNT);
  const createCache = <Args extends string[], V>(
    find: (...args: Args) => V | undefined | Promise<V | undefined>,
    { isImmutable = false } = {},
  ) => {
    // A missing record is looked up again, because it can be added later.
    const cache = new LoadingCache<V | undefined>({
      ...CACHE_OPTIONS,
      isImmutable: (value) => isImmutable && value !== undefined,
    });
    return (...args: Args) => {
      const value = cache.get(args.join(' '), () => {
        if (limit.pendingCount >= MAX_WAITING_COUNT) throw new Error('Too many short links are looked up at once.');
        return limit(() => find(...args));
      });
      return value instanceof Promise ? withTimeout(value, LOOKUP_TIMEOUT_MS, createTimeoutError) : value;
    };
  };
  return {
    findLink: createCache((key: string) => lookups.findLink(key), { isImmutable: true }),
    findCampaign: createCache((workspaceId: string, id: string) => lookups.findCampaign(workspaceId, id)),
    findDomain: createCache((slug: string) => lookups.findDomain(slug)),
  };
}

function createTimeoutError(): Error {
  return new Error('The lookup of a short link took too long.');
}
