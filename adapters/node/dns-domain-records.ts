import { Resolver } from 'node:dns/promises';
import pLimit from 'p-limit';
import type { DomainRecordLookup, DomainRecords } from '../../core/domain/domain-records.ts';
import { withTimeout } from './with-timeout.ts';

/** The timeout of the first try of a name server. Later tries may wait longer. */
const TRY_TIMEOUT_MS = 2_000;
const MAX_TRY_COUNT = 2;

/** The limits of the lookups of a process. */
interface LookupLimits {
  /** The maximum number of lookups at a time. */
  readonly maxCount: number;
  /** The maximum time to wait until other lookups have ended. */
  readonly maxWaitMs: number;
  /** The maximum time of a lookup, without waiting for others. */
  readonly timeoutMs: number;
}

/** With these limits, 30 lookups that begin together all have an outcome, even if no name server answers. */
export const LOOKUP_LIMITS: LookupLimits = { maxCount: 10, maxWaitMs: 12_000, timeoutMs: 5_000 };

/**
 * Creates the lookups of TXT records over DNS. `servers` are addresses of resolvers, with ports if needed, such as
 * `192.0.2.1` and `[2001:db8::1]:5353`. By default, the resolvers of the operating system are used.
 */
export function createDnsDomainRecords(servers?: readonly string[], limits = LOOKUP_LIMITS): DomainRecords {
  const { maxCount, maxWaitMs, timeoutMs } = limits;
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
