import type { VerifiedSlug, VerifiedSlugRepository } from '../../core/domain/verified-slug-repository.ts';
import type { GlobalRecordStore } from './record-store.ts';

/**
 * A verified slug. Its `id` is the slug. IDs are unique over all workspaces, so a slug belongs to one workspace only.
 */
export interface StoredVerifiedSlug extends Omit<VerifiedSlug, 'slug'> {
  readonly id: string;
}

export function createVerifiedSlugRepository(store: GlobalRecordStore<StoredVerifiedSlug>): VerifiedSlugRepository {
  return {
    async find(slug) {
      const record = await store.get(slug);
      return record && { slug, workspaceId: record.workspaceId, domainId: record.domainId };
    },
    add: (domain) => store.add({ id: domain.slug, workspaceId: domain.workspaceId, domainId: domain.id }),
    remove: async (slug) => void (await store.remove(slug)),
  };
}
