import type { EntityChange } from '../shared/repository.ts';
import type { ApiKey } from './api-key.ts';

/** The API keys of all workspaces, including revoked and expired keys. */
export interface ApiKeyRepository {
  findById(workspaceId: string, id: string): Promise<ApiKey | undefined>;
  /**
   * Returns the key whose secret has this hash, in any workspace. The lookup takes as long for an unknown hash as for a
   * known one, so that an attacker cannot measure which keys exist.
   */
  findByHash(hash: string): Promise<ApiKey | undefined>;
  iterate(workspaceId: string): AsyncIterable<ApiKey>;
  /** Adds a key. It writes twice, so call it in a transaction. */
  add(key: ApiKey): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<ApiKey>): Promise<ApiKey | undefined>;
}
