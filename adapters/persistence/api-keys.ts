import { type ApiKey, getEnd, revoke } from '../../core/access/api-key.ts';
import type { ApiKeyRepository } from '../../core/access/api-key-repository.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { Condition, GlobalRecordStore, RecordStore } from './record-store.ts';
import { createRepository, readPage } from './repository.ts';
import { defineSchema } from './schema.ts';

interface ApiKeyColumns {
  /** The member, or `''`. */
  readonly owner: string;
  /** As `getEnd`, but finite. */
  readonly endsAt: number;
}

export type ApiKeyRecord = ApiKey & ApiKeyColumns;

export const apiKeySchema = defineSchema<ApiKey, ApiKeyColumns>({
  derived: {
    owner: ({ memberId }) => memberId ?? '',
    endsAt: (key) => Math.min(getEnd(key), Number.MAX_SAFE_INTEGER),
  },
  columns: { owner: 'text', endsAt: 'number', isRotated: 'boolean', createdAt: 'text' },
  indexes: [['createdAt'], ['endsAt'], ['owner', 'createdAt'], ['owner', 'endsAt']],
  defaults: { isRotated: false },
});

/** The record that all creations of keys for a member, or without a member, write. So they see each other's keys. */
export interface ApiKeyOwner extends Entity {
  readonly writeCount: number;
}

export const apiKeyOwnerSchema = defineSchema<ApiKeyOwner>({});

/** The workspace and the ID of an API key, by the hash of its secret. Authentication knows only the secret. */
export interface Credential {
  /** The SHA-256 hash of the secret, in hexadecimal. */
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
}

/** The maximum number of working keys that a list sorts. If there are more, it reads the keys in its order. */
const MAX_SORTED_KEY_COUNT = 1_000;

/** A key to look up for an unknown hash, so that the lookup takes as long as that of a known hash (timing attack). */
const DUMMY_KEY = { workspaceId: '', keyId: '' };

export function createApiKeyRepository(
  store: RecordStore<ApiKeyRecord>,
  owners: RecordStore<ApiKeyOwner>,
  credentials: GlobalRecordStore<Credential>,
): ApiKeyRepository {
  const { add, ...others } = createRepository(store, apiKeySchema);
  return {
    async add(key) {
      await add(key);
      await credentials.add({ id: key.hash, workspaceId: key.workspaceId, keyId: key.id });
    },
    async findByHash(hash) {
      const { workspaceId, keyId } = (await credentials.get(hash)) ?? DUMMY_KEY;
      return others.findById(workspaceId, keyId);
    },
    async findPage(workspaceId, { memberId, includeEnded }, now, request) {
      const read = (where: readonly Condition<ApiKeyRecord>[]) =>
        readPage(store, workspaceId, { where, by: 'createdAt', order: 'desc' }, request, apiKeySchema.toEntity);
      const where: Condition<ApiKeyRecord>[] = memberId === undefined ? [] : [{ field: 'owner', in: [memberId] }];
      if (includeEnded) return read(where);
      where.push({ field: 'endsAt', from: now + 1 });
      // Usually, few keys work, and an index finds them. So the keys that have ended make the list no slower.
      const query = {
        where,
        by: 'endsAt',
        order: 'desc',
        skip: 0,
        take: MAX_SORTED_KEY_COUNT + 1,
        fields: ['id'],
      } as const;
      const working = await store.list(workspaceId, query);
      return read(working.length > MAX_SORTED_KEY_COUNT ? where : [{ field: 'id', in: working.map(({ id }) => id) }]);
    },
    async countForUpdate(workspaceId, memberId, now) {
      const owner = memberId ?? '';
      await writeOwner(owners, workspaceId, owner);
      return store.count(workspaceId, [
        { field: 'owner', in: [owner] },
        { field: 'isRotated', in: [false] },
        { field: 'endsAt', from: now + 1 },
      ]);
    },
    ...others,
  };
}

function writeOwner(owners: RecordStore<ApiKeyOwner>, workspaceId: string, owner: string): Promise<number> {
  // The member can be unknown, even one of another workspace.
  return owners.increment(workspaceId, `${workspaceId}/${owner}`, 'writeCount');
}

const REVOKED_KEY_COUNT = 1_000;

/** Revokes all keys of a member, also those that a simultaneous transaction adds. Call it in a transaction. */
export async function revokeKeys(
  store: RecordStore<ApiKeyRecord>,
  owners: RecordStore<ApiKeyOwner>,
  workspaceId: string,
  memberId: string,
  revokedAt: string,
): Promise<void> {
  await writeOwner(owners, workspaceId, memberId);
  const repository = createRepository(store, apiKeySchema);
  const where: Condition<ApiKeyRecord>[] = [
    { field: 'owner', in: [memberId] },
    { field: 'endsAt', from: 1 },
  ];
  const query = { where, by: 'endsAt', order: 'asc', skip: 0, take: REVOKED_KEY_COUNT, fields: ['id'] } as const;
  for (;;) {
    const keys = await store.list(workspaceId, query);
    if (keys.length === 0) return;
    const ids = keys.map(({ id }) => id);
    await repository.updateMany(workspaceId, ids, (key) => revoke(key, revokedAt));
  }
}
