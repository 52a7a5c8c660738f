import type { Page, PageRequest } from '../shared/page.ts';
import type { EntityChange } from '../shared/repository.ts';
import type { ApiKey } from './api-key.ts';

export interface ApiKeyFilter {
  readonly memberId?: string | undefined;
  readonly includeEnded: boolean;
}

/** The API keys of all workspaces, including revoked and expired keys. */
export interface ApiKeyRepository {
  findById(workspaceId: string, id: string): Promise<ApiKey | undefined>;
  /**
   * Returns the key whose secret has this hash, in any workspace. The lookup takes as long for an unknown hash as for a
   * known one, so that an attacker cannot measure which keys exist.
   */
  findByHash(hash: string): Promise<ApiKey | undefined>;
  /** Returns a page of the keys, newest first. `now` decides which keys have ended. */
  findPage(workspaceId: string, filter: ApiKeyFilter, now: number, page: PageRequest): Promise<Page<ApiKey>>;
  /**
   * Returns the number of keys of a member, or without a member, that count for the limits. It writes a record, so that
   * of two simultaneous transactions that begin with this call for the same member, one sees the changes of the other.
   */
  countForUpdate(workspaceId: string, memberId: string | null, now: number): Promise<number>;
  /** Adds a key. It writes twice, so call it in a transaction. */
  add(key: ApiKey): Promise<void>;
  update(workspaceId: string, id: string, change: EntityChange<ApiKey>): Promise<ApiKey | undefined>;
}
