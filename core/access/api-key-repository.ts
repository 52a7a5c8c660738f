import type { Repository } from '../shared/repository.ts';
import type { ApiKey } from './api-key.ts';

export interface ApiKeyRepository extends Pick<Repository<ApiKey>, 'findById' | 'iterate' | 'update'> {
  /** Adds a key. It writes twice, so call it in a transaction. */
  add(key: ApiKey): Promise<void>;
  /**
   * Returns the key whose secret has this hash, in any workspace. The lookup takes as long for an unknown hash as for a
   * known one, so that an attacker cannot measure which keys exist.
   */
  findByHash(hash: string): Promise<ApiKey | undefined>;
}
