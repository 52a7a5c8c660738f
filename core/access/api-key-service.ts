import { MAX_KEY_COUNT_PER_MEMBER, MAX_KEY_COUNT_WITHOUT_MEMBER, MIN_LAST_USED_INTERVAL_MS } from '../limits.ts';
import { withInvitation } from '../member/member.ts';
import type { MemberRepository } from '../member/member-repository.ts';
import { CoreError, createInvalidFieldsError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { Clock, System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import {
  type ApiKey,
  createApiKeySecret,
  endRotated,
  findKeyExpiryErrors,
  hashSecret,
  type NewApiKeyFields,
  newApiKey,
  outlives,
  revoke,
  SECRET_RANDOM_LENGTH,
} from './api-key.ts';
import type { ApiKeyFilter, ApiKeyRepository } from './api-key-repository.ts';
import type { AuthenticatedCaller } from './permissions.ts';

export interface Authentication {
  readonly caller: AuthenticatedCaller;
  /** The time until the key expires. */
  readonly remainingMs: number;
  /** Whether the use of the key should be recorded (`recordUse`). */
  readonly isUseDue: boolean;
}

/** A new key with its secret, which nothing else contains. */
export interface CreatedApiKey {
  readonly apiKey: ApiKey;
  readonly secret: string;
}

interface Repositories {
  readonly apiKeys: ApiKeyRepository;
  readonly members: MemberRepository;
}

/** The ID of the caller's own key is `undefined` for the operator. */
export class ApiKeyService {
  constructor(
    private readonly apiKeys: ApiKeyRepository,
    private readonly members: MemberRepository,
    private readonly unitOfWork: UnitOfWork<Repositories>,
    private readonly system: System,
    /** The clock that all processes share. */
    private readonly storageClock: Clock,
  ) {}

  /**
   * Creates a key. Rejects with `invalid` if the member does not exist, or if `expiresAt` is not in the future or is
   * later than that of the caller's own key. Rejects with `conflict` if there are too many keys.
   */
  async create(workspaceId: string, fields: NewApiKeyFields, callerKeyId?: string): Promise<CreatedApiKey> {
    const created = this.newKey(workspaceId, fields);
    const { memberId, expiresAt } = created.apiKey;
    return this.unitOfWork.run(async ({ apiKeys, members }) => {
      const now = this.storageClock.now();
      const count = await apiKeys.countForUpdate(workspaceId, memberId, now);
      const isMemberKnown = memberId === null || (await members.findById(workspaceId, memberId));
      const errors = [
        ...(isMemberKnown ? [] : [{ path: 'memberId', problem: 'must be the ID of a member of this workspace' }]),
        ...findKeyExpiryErrors(expiresAt, await findCallerKey(apiKeys, workspaceId, callerKeyId), now),
      ];
      if (errors.length > 0) throw createInvalidFieldsError(errors);
      if (count >= (memberId === null ? MAX_KEY_COUNT_WITHOUT_MEMBER : MAX_KEY_COUNT_PER_MEMBER)) {
        const owner = memberId === null ? 'workspace has already' : 'member already has';
        const kind = memberId === null ? ' without a member' : '';
        throw new CoreError('conflict', `This ${owner} ${count} API keys${kind}. Delete one first.`, 'too_many_keys');
      }
      await apiKeys.add(created.apiKey);
      return created;
    });
  }

  /**
   * Replaces a key by a new one with the same label, member, access and expiry. The old key works for `graceSeconds`
   * more, if it does not end before. Rejects with `forbidden` if it expires later than the caller's own key, and with
   * `conflict` if it has ended or is rotated already.
   */
  async rotate(workspaceId: string, id: string, graceSeconds: number, callerKeyId?: string): Promise<CreatedApiKey> {
    return this.unitOfWork.run(async ({ apiKeys }) => {
      const current = requireFound(await apiKeys.findById(workspaceId, id), 'API key');
      if (outlives(current.expiresAt, await findCallerKey(apiKeys, workspaceId, callerKeyId))) {
        const message = 'This API key expires later than yours. Use a key that expires as late, or does not expire.';
        throw new CoreError('forbidden', message, 'key_outlives_yours');
      }
      const now = this.storageClock.now();
      await apiKeys.update(workspaceId, id, (key) => endRotated(key, graceSeconds * 1000, now));
      const created = this.newKey(workspaceId, current);
      await apiKeys.add(created.apiKey);
      return created;
    });
  }

  /** Revokes a key permanently. Revoking a revoked key changes nothing. */
  async revoke(workspaceId: string, id: string): Promise<ApiKey> {
    const revokedAt = formatTimestamp(this.storageClock.now());
    return requireFound(await this.apiKeys.update(workspaceId, id, (key) => revoke(key, revokedAt)), 'API key');
  }

  async get(workspaceId: string, id: string): Promise<ApiKey> {
    return requireFound(await this.apiKeys.findById(workspaceId, id), 'API key');
  }

  list(workspaceId: string, query: ApiKeyFilter & PageRequest): Promise<Page<ApiKey>> {
    return this.apiKeys.findPage(workspaceId, query, this.storageClock.now(), query);
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

  private newKey(workspaceId: string, fields: NewApiKeyFields): CreatedApiKey {
    const { newId, newRandomText, sha256 } = this.system;
    const secret = fields.secret ?? createApiKeySecret(newRandomText(SECRET_RANDOM_LENGTH));
    return { apiKey: newApiKey(workspaceId, newId(), { ...fields, secret }, sha256, this.storageClock.now()), secret };
  }
}

/**
 * Returns the key of the caller. Callers are cached for some seconds, so the key may have been revoked meanwhile. Then
 * rejects with `unauthenticated`, because a revoked key must not create another one that outlasts it.
 */
async function findCallerKey(apiKeys: ApiKeyRepository, workspaceId: string, id: string | undefined) {
  const key = id === undefined ? undefined : await apiKeys.findById(workspaceId, id);
  if (key && key.revokedAt !== null) throw createInvalidKeyError();
  return key;
}

function isUseDue({ lastUsedAt }: ApiKey, now: number): boolean {
  return lastUsedAt === null || now - Date.parse(lastUsedAt) >= MIN_LAST_USED_INTERVAL_MS;
}

export function createInvalidKeyError(): CoreError {
  return new CoreError('unauthenticated', 'The API key is unknown, revoked or expired. Use a valid key.');
}
