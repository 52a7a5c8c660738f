import { hash } from 'node:crypto';
import pLimit from 'p-limit';
import { isApiKeySecret } from '../../core/access/api-key.ts';
import { type ApiKeyService, createInvalidKeyError } from '../../core/access/api-key-service.ts';
import type { AuthenticatedCaller } from '../../core/access/permissions.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { LoadingCache } from '../node/loading-cache.ts';

/**
 * The time for which a caller is cached. A revoked key must stop working in every process within 5 seconds. These 5
 * seconds include this time and the time to look the key up again.
 */
export const API_KEY_CACHE_TTL_MS = 3_000;
const MAX_CALLER_COUNT = 10_000;
/**
 * The maximum number of uses of keys that wait to be recorded. While there are so many, further uses are not recorded.
 */
const MAX_WAITING_USE_COUNT = 1_000;

interface CachedCaller {
  readonly caller: AuthenticatedCaller;
  /** The time at which the key expires, in milliseconds of the monotonic clock. */
  readonly expiresAt: number;
}

/** Authenticates callers, and caches them by the hash of their secret, so that not every request reads the storage. */
export class ApiKeyCache {
  private readonly callers = new LoadingCache<CachedCaller>({
    maxEntryCount: MAX_CALLER_COUNT,
    refreshAgeMs: API_KEY_CACHE_TTL_MS,
    maxAgeMs: API_KEY_CACHE_TTL_MS,
  });
  /** Uses are written one after another, so that they occupy only one connection of the storage. */
  private readonly limitRecording = pLimit(1);

  constructor(
    private readonly apiKeys: ApiKeyService,
    /** A secret that need not have the format of random secrets, because the operator chose it. */
    private readonly chosenSecret: string | undefined,
  ) {}

  /** Returns the caller with a secret. Rejects with `unauthenticated` if its key is unknown, revoked or expired. */
  async authenticate(secret: string): Promise<AuthenticatedCaller> {
    // A wrong checksum shows without a lookup that the key does not exist.
    if (!isApiKeySecret(secret) && secret !== this.chosenSecret) throw createInvalidKeyError();
    const load = () => this.load(secret);
    const cached = await this.callers.get(hash('sha256', secret), load);
    // The next request of a member who has accepted the invitation must succeed, in every process.
    const { caller, expiresAt } = hasOpenInvitation(cached) ? await load() : cached;
    if (expiresAt <= performance.now()) throw createInvalidKeyError();
    return caller;
  }

  /** Resolves when all uses of keys are recorded or dropped. */
  async settle(): Promise<void> {
    await this.limitRecording(() => undefined);
  }

  private async load(secret: string): Promise<CachedCaller> {
    const { caller, remainingMs, isUseDue } = await this.apiKeys.authenticate(secret);
    if (isUseDue && this.limitRecording.pendingCount < MAX_WAITING_USE_COUNT) this.recordUse(caller);
    return { caller, expiresAt: performance.now() + remainingMs };
  }

  /** Records a use in the background. If that fails, the use is dropped: the next lookup of the key records its use. */
  private recordUse({ workspaceId, keyId }: AuthenticatedCaller): void {
    this.limitRecording(() => this.apiKeys.recordUse(workspaceId, keyId)).catch(doNothing);
  }
}

function hasOpenInvitation({ caller: { member } }: CachedCaller): boolean {
  return member !== undefined && member.invitation !== 'accepted';
}
