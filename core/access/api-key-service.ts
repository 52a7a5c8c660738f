import { CoreError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { doNothing } from '../shared/do-nothing.ts';
import type { System } from '../shared/system.ts';
import type { Storage } from '../storage.ts';
import { type ApiKey, createApiKeySecret, isApiKeySecret, type NewApiKeyFields, newApiKey } from './api-key.ts';
import type { Caller } from './caller.ts';
import type { CachedCaller, CallerCache } from './caller-cache.ts';

/** The minimum time between two writes of the last use of a key. */
const MIN_LAST_USED_INTERVAL_MS = 60_000;
/**
 * The maximum number of keys whose last use is being recorded. While there are so many, uses of other keys are not
 * recorded.
 */
const MAX_PENDING_USE_COUNT = 1_000;

/** The use cases of API keys: creation, revocation and authentication. */
export class ApiKeyService {
  /** The IDs of the keys whose last use is being recorded. */
  private readonly pendingUses = new Set<string>();
  private lastRecording: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly storage: Storage,
    private readonly system: System,
    private readonly callers: CallerCache,
    /**
     * The secret that the operator chose for an API key. It may have any format. All other secrets have the format that
     * `isApiKeySecret` checks.
     */
    private readonly operatorChosenSecret: string | undefined,
  ) {}

  /**
   * Creates a key. Only this result contains its secret. Rejects with `invalid` if `expiresAt` is not in the future.
   */
  async create(workspaceId: string, fields: NewApiKeyFields): Promise<{ apiKey: ApiKey; secret: string }> {
    const secret = fields.secret ?? createApiKeySecret(this.system.newSecret());
    const hash = this.system.sha256(secret);
    const apiKey = newApiKey(workspaceId, this.system.newId(), { ...fields, secret }, hash, this.system.now());
    const { memberId } = apiKey;
    if (memberId !== null) requireFound(await this.storage.members.findById(workspaceId, memberId), 'member');
    await this.storage.runInTransaction(({ apiKeys }) => apiKeys.add(apiKey));
    return { apiKey, secret };
  }

  /** Revokes a key permanently. Revoking a revoked key changes nothing. */
  async revoke(workspaceId: string, id: string): Promise<ApiKey> {
    const revokedAt = formatTimestamp(this.system.now());
    const revoke = (key: ApiKey): ApiKey => (key.revokedAt === null ? { ...key, revokedAt } : key);
    const revoked = requireFound(await this.storage.apiKeys.update(workspaceId, id, revoke), 'API key');
    this.callers.clear();
    return revoked;
  }

  async get(workspaceId: string, id: string): Promise<ApiKey> {
    return requireFound(await this.storage.apiKeys.findById(workspaceId, id), 'API key');
  }

  /** Iterates over all keys, including revoked and expired keys, in the order of their IDs. */
  iterate(workspaceId: string): AsyncIterable<ApiKey> {
    return this.storage.apiKeys.iterate(workspaceId);
  }

  /**
   * Authenticates a secret. Rejects with `unauthenticated` if the key is unknown, revoked or expired, or if its member
   * does not exist. Records the use of the key in the background, so that requests that only read succeed while the
   * storage accepts no writes.
   */
  async authenticate(secret: string): Promise<Caller> {
    if (!this.isWellFormed(secret)) throw createInvalidKeyError();
    const hash = this.system.sha256(secret);
    const { caller, expiresAt } = await this.callers.get(hash, () => this.findCaller(hash));
    // A cached key can have expired. Unlike `system.now`, the clock of the storage is the same for all processes.
    if (expiresAt <= this.storage.now()) throw createInvalidKeyError();
    return caller;
  }

  /**
   * Returns whether `authenticate` would look up a well-formed secret that the cache has no entry for. An entry that
   * has expired or is being loaded counts, too: it shows that the key was valid before, or that its lookup is already
   * running.
   */
  isFirstLookup(secret: string): boolean {
    return this.isWellFormed(secret) && !this.callers.has(this.system.sha256(secret));
  }

  /** Waits until the pending uses of keys are stored or dropped. Never rejects. */
  async flush(): Promise<void> {
    await this.lastRecording;
  }

  private async findCaller(hash: string): Promise<CachedCaller> {
    const key = await this.storage.apiKeys.findByHash(hash);
    if (!key || key.revokedAt !== null) throw createInvalidKeyError();
    const expiresAt = key.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt);
    const now = this.storage.now();
    if (expiresAt <= now) throw createInvalidKeyError();
    const { workspaceId, id: keyId } = key;
    const member = key.memberId === null ? undefined : await this.storage.members.findById(workspaceId, key.memberId);
    if (key.memberId !== null && !member) throw createInvalidKeyError();
    if (shouldRecordUse(key, now)) this.recordUse(key, now);
    return { caller: { workspaceId, keyId, access: key.access, member }, expiresAt };
  }

  private isWellFormed(secret: string): boolean {
    return isApiKeySecret(secret) || secret === this.operatorChosenSecret;
  }

  /**
   * Records a use in the background. Uses are written one after another, so that they occupy only one connection of the
   * storage. A failed write is dropped: the next lookup of the key writes again.
   */
  private recordUse({ workspaceId, id }: ApiKey, now: number): void {
    if (this.pendingUses.has(id) || this.pendingUses.size >= MAX_PENDING_USE_COUNT) return;
    this.pendingUses.add(id);
    const lastUsedAt = formatTimestamp(now);
    const change = (key: ApiKey): ApiKey => (shouldRecordUse(key, now) ? { ...key, lastUsedAt } : key);
    this.lastRecording = this.lastRecording
      .then(() => this.storage.apiKeys.update(workspaceId, id, change))
      .catch(doNothing)
      .then(() => this.pendingUses.delete(id));
  }
}

function shouldRecordUse({ lastUsedAt }: ApiKey, now: number): boolean {
  return lastUsedAt === null || now - Date.parse(lastUsedAt) >= MIN_LAST_USED_INTERVAL_MS;
}

function createInvalidKeyError(): CoreError {
  return new CoreError('unauthenticated', 'The API key is unknown, revoked or expired. Use a valid key.');
}
