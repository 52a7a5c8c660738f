import { Resolver } from 'node:dns/promises';
import pLimit from 'p-limit';
import type { DomainRecordLookup, DomainRecords } from '../../core/domain/domain-records.ts';
import { withTimeout } from './with-timeout.ts';

/** The timeout of the first try of a name server. Later tries may wait longer. */
const TRY_TIMEOUT_MS = 2_000;
const MAX_TRY_COUNT = 2;

interface LookupLimits {
  readonly maxCount: number;
  readonly maxWaitMs: number;
  readonly timeoutMs: number;
}

/**
 * Creates the lookups of TXT records over DNS. `servers` are addresses of resolvers, with ports if needed, such as
 * `192.0.2.1` and `[2001:db8::1]:5353`. Without them, the resolvers of the operating system are used. At most
 * `maxCount` lookups run at a time. A lookup waits up to `maxWaitMs` for others, and then takes up to `timeoutMs`.
 */
export function createDnsDomainRecords(
  servers: readonly string[] | undefined,
  { maxCount, maxWaitMs, timeoutMs }: LookupLimits,
): DomainRecords {
  const limit = pLimit(maxCount);
  return {
    async findTxtRecords(name) {
      const start = new Promise<() => void>((resolve) => limit(() => new Promise<void>(resolve)));
      const end = await withTimeout(start, maxWaitMs, () => new Error('busy')).catch(() => undefined);
      if (!end) {
        start.then((endLate) => endLate());
        return { outcome: 'busy' };
      }
      try {
        return await lookUp(name, servers, timeoutMs);
      } finally {
        end();
      }
    },
  };
}

const TIMEOUT_ERROR = Object.assign(new Error('The lookup took too long.'), { code: 'ETIMEOUT' });
/** The codes of a name that does not exist, and of a name without TXT records. */
const NO_RECORD_CODES = ['ENOTFOUND', 'ENODATA'];

/** Looks up a name with a resolver of its own, which has no answers or problems of earlier lookups. */
async function lookUp(
  name: string,
  servers: readonly string[] | undefined,
  timeoutMs: number,
): Promise<DomainRecordLookup> {
  const resolver = new Resolver({ timeout: TRY_TIMEOUT_MS, tries: MAX_TRY_COUNT });
  if (servers) resolver.setServers(servers);
  try {
    const records = await withTimeout(resolver.resolveTxt(name), timeoutMs, () => TIMEOUT_ERROR);
    return { outcome: 'found', records };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return NO_RECORD_CODES.includes(code) ? { outcome: 'none' } : { outcome: 'failed', code };
  } finally {
    resolver.cancel();
  }
}
