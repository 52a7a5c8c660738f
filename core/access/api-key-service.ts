import { MIN_LAST_USED_INTERVAL_MS } from '../limits.ts';
import { withInvitation } from '../member/member.ts';
import type { MemberRepository } from '../member/member-repository.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Clock, System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import {
  type ApiKey,
  createApiKeySecret,
  hashSecret,
  type NewApiKeyFields,
  newApiKey,
  SECRET_RANDOM_LENGTH,
} from './api-key.ts';
import type { ApiKeyRepository } from './api-key-repository.ts';
import type { AuthenticatedCaller } from './permissions.ts';

export interface Authentication {
  readonly caller: AuthenticatedCaller;
  /** The time until the key expires. */
  readonly remainingMs: number;
  /** Whether the use of the key should be recorded (`recordUse`). */
  readonly isUseDue: boolean;
}

export class ApiKeyService {
  constructor(
    private readonly apiKeys: ApiKeyRepository,
    private readonly members: MemberRepository,
    private readonly unitOfWork: UnitOfWork<{ readonly apiKeys: ApiKeyRepository }>,
    private readonly system: System,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
  ) {}

  /**
   * Creates a key. Only this result contains its secret. Rejects with `invalid` if `expiresAt` is not in the future.
   */
  async create(workspaceId: string, fields: NewApiKeyFields): Promise<{ apiKey: ApiKey; secret: string }> {
    const { newId, newRandomText, now, sha256 } = this.system;
    const secret = fields.secret ?? createApiKeySecret(newRandomText(SECRET_RANDOM_LENGTH));
    const apiKey = newApiKey(workspaceId, newId(), { ...fields, secret }, sha256, now());
    const { memberId } = apiKey;
    if (memberId !== null) requireFound(await this.members.findById(workspaceId, memberId), 'member');
    await this.unitOfWork.run(({ apiKeys }) => apiKeys.add(apiKey));
    return { apiKey, secret };
  }

  /** Revokes a key permanently. Revoking a revoked key changes nothing. */
  async revoke(workspaceId: string, id: string): Promise<ApiKey> {
    const revokedAt = formatTimestamp(this.system.now());
    const revoke = (key: ApiKey): ApiKey => (key.revokedAt === null ? { ...key, revokedAt } : key);
    return requireFound(await this.apiKeys.update(workspaceId, id, revoke), 'API key');
  }

  async get(workspaceId: string, id: string): Promise<ApiKey> {
    return requireFound(await this.apiKeys.findById(workspaceId, id), 'API key');
  }

  iterate(workspaceId: string): AsyncIterable<ApiKey> {
    return this.apiKeys.iterate(workspaceId);
  }

  /**
   * Authenticates a secret. Rejects with `unauthenticated` if the key is unknown, revoked or expired, or if its member
   * does not exist.
   */
  async authenticate(secret: string): Promise<Authentication> {
    const key = await this.apiKeys.findByHash(hashSecret(secret, this.system.sha256));
    if (!key || key.revokedAt !== null) throw createInvalidKeyError();
    const now = this.storageClock.now();
    const remainingMs = key.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt) - now;
    if (remainingMs <= 0) throw createInvalidKeyError();
    const { workspaceId, id: keyId, access } = key;
    const member = key.memberId === null ? undefined : await this.members.findById(workspaceId, key.memberId);
    if (key.memberId !== null && !member) throw createInvalidKeyError();
    const caller = { workspaceId, keyId, access, member: member && withInvitation(member, now) };
    return { caller, remainingMs, isUseDue: isUseDue(key, now) };
  }

  /** Records that a key is used now, if its last recorded use is old enough. */
  async recordUse(workspaceId: string, id: string): Promise<void> {
    const now = this.storageClock.now();
    const change = (key: ApiKey): ApiKey => (isUseDue(key, now) ? { ...key, lastUsedAt: formatTimestamp(now) } : key);
    await this.apiKeys.update(workspaceId, id, change);
  }
}

function isUseDue({ lastUsedAt }: ApiKey, now: number): boolean {
  return lastUsedAt === null || now - Date.parse(lastUsedAt) >= MIN_LAST_USED_INTERVAL_MS;
}

export function createInvalidKeyError(): CoreError {
  return new CoreError('unauthenticated', 'The API key is unknown, revoked or expired. Use a valid key.');
}
