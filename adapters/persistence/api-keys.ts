import type { ApiKey } from '../../core/access/api-key.ts';
import type { ApiKeyRepository } from '../../core/access/api-key-repository.ts';
import type { GlobalRecordStore, RecordStore } from './record-store.ts';
import { createRepository } from './repository.ts';
import { defineSchema } from './schema.ts';

export const apiKeySchema = defineSchema<ApiKey>({
  columns: { memberId: 'text', createdAt: 'text' },
  indexes: [['memberId', 'createdAt']],
});

/** The workspace and the ID of an API key, by the hash of its secret. Authentication knows only the secret. */
export interface Credential {
  /** The SHA-256 hash of the secret, in hexadecimal. */
  readonly id: string;
  readonly workspaceId: string;
  readonly keyId: string;
}

/** A key to look up for an unknown hash, so that the lookup takes as long as that of a known hash (timing attack). */
const DUMMY_KEY = { workspaceId: '', keyId: '' };

export function createApiKeyRepository(
  store: RecordStore<ApiKey>,
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
    ...others,
  };
}
