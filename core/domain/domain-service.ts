import { applyChanges } from '../shared/changes.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import { DOMAIN_TAKEN, type Domain, type DomainChange, type DomainRequest, newDomain } from './domain.ts';
import type { DomainFilter, DomainRepository } from './domain-repository.ts';
import type { VerifiedSlugRepository } from './verified-slug-repository.ts';

/**
 * `primary` says whether this is the domain of the workspace that has been live (not archived) for the longest time.
 */
export type DomainView = Domain & { readonly primary: boolean };

export type DomainQuery = DomainFilter & PageRequest;

interface DomainRepositories {
  readonly domains: DomainRepository;
  readonly verifiedSlugs: VerifiedSlugRepository;
}

export class DomainService {
  constructor(
    private readonly domains: DomainRepository,
    private readonly unitOfWork: UnitOfWork<DomainRepositories>,
    private readonly system: System,
  ) {}

  /**
   * Creates a domain. If the workspace has the slug and `archived` is given, updates the existing domain instead:
   * archives or unarchives it, and sets the other given fields. Rejects with `conflict` if the workspace has the slug
   * and `archived` is not given. Creating or unarchiving a domain also rejects with `conflict` if another workspace has
   * a live, verified domain with this slug.
   */
  async createOrArchive(
    workspaceId: string,
    request: DomainRequest,
  ): Promise<{ domain: DomainView; created: boolean }> {
    return this.unitOfWork.run(async (repositories) => {
      const { domains, verifiedSlugs } = repositories;
      const { slug, ...change } = request;
      const [existing] = await domains.findBySlugs(workspaceId, [slug]);
      if (existing) {
        if (change.archived === undefined) throw new CoreError('conflict', ...DOMAIN_TAKEN);
        const changed = await this.applyChange(repositories, existing, change);
        return { domain: await readView(domains, changed), created: false };
      }
      const domain = newDomain(workspaceId, this.system.newId(), request, this.system.now());
      await requireAvailable(verifiedSlugs, domain);
      await domains.add(domain);
      return { domain: await readView(domains, domain), created: true };
    });
  }

  /**
   * Updates a domain. Rejects with `conflict` if the change unarchives the domain and another workspace has a live,
   * verified domain with its slug.
   */
  async update(workspaceId: string, id: string, change: DomainChange): Promise<DomainView> {
    return this.unitOfWork.run(async (repositories) => {
      const existing = requireFound(await repositories.domains.findById(workspaceId, id), 'domain');
      return readView(repositories.domains, await this.applyChange(repositories, existing, change));
    });
  }

  async get(workspaceId: string, id: string): Promise<DomainView> {
    return readView(this.domains, requireFound(await this.domains.findById(workspaceId, id), 'domain'));
  }

  async getBySlug(workspaceId: string, slug: string): Promise<DomainView> {
    const { domains } = this;
    const [domain] = await domains.findBySlugs(workspaceId, [slug]);
    return readView(domains, requireFound(domain, 'domain'));
  }

  async list(workspaceId: string, query: DomainQuery): Promise<Page<DomainView>> {
    const { items, hasNext } = await this.domains.findPage(workspaceId, query, query);
    const primaryId = await this.domains.findPrimaryId(workspaceId);
    return { items: items.map((domain) => toView(domain, primaryId)), hasNext };
  }

  async *iterate(workspaceId: string): AsyncGenerator<DomainView> {
    const primaryId = await this.domains.findPrimaryId(workspaceId);
    for await (const domain of this.domains.iterate(workspaceId)) yield toView(domain, primaryId);
  }

  /**
   * Marks a domain as verified. Rejects with `conflict` if another workspace has a live, verified domain with its slug.
   */
  async markVerified(workspaceId: string, id: string): Promise<DomainView> {
    return this.unitOfWork.run(async ({ domains, verifiedSlugs }) => {
      const current = requireFound(await domains.findById(workspaceId, id), 'domain');
      await requireAvailable(verifiedSlugs, current);
      if (!current.verified && !current.archived) await verifiedSlugs.add(current);
      const now = this.system.now();
      const verified = await domains.update(workspaceId, id, (it) => applyChanges(it, { verified: true }, now));
      return readView(domains, requireFound(verified, 'domain'));
    });
  }

  private async applyChange(
    { domains, verifiedSlugs }: DomainRepositories,
    existing: Domain,
    change: DomainChange,
  ): Promise<Domain> {
    const { archived = existing.archived } = change;
    const becomesLive = existing.archived && !archived;
    if (becomesLive) await requireAvailable(verifiedSlugs, existing);
    // `verifiedSlugs` has only the slugs of domains that are live.
    if (becomesLive && existing.verified) await verifiedSlugs.add(existing);
    if (!existing.archived && archived && existing.verified) await verifiedSlugs.remove(existing.slug);
    const now = this.system.now();
    const liveSince = becomesLive ? formatTimestamp(now) : undefined;
    const apply = (it: Domain): Domain => applyChanges(it, { ...change, liveSince }, now);
    return requireFound(await domains.update(existing.workspaceId, existing.id, apply), 'domain');
  }
}

/** Returns the view of a domain. An archived domain is not primary, even if it was live when `primaryId` was read. */
function toView(domain: Domain, primaryId: string | undefined): DomainView {
  return { ...domain, primary: !domain.archived && domain.id === primaryId };
}

async function readView(domains: DomainRepository, domain: Domain): Promise<DomainView> {
  return toView(domain, await domains.findPrimaryId(domain.workspaceId));
}

/** Rejects with `conflict` if another workspace has a live, verified domain with the slug of this domain. */
async function requireAvailable(verifiedSlugs: VerifiedSlugRepository, { slug, workspaceId }: Domain): Promise<void> {
  const verified = await verifiedSlugs.find(slug);
  if (verified && verified.workspaceId !== workspaceId) {
    const message = 'Another workspace has verified this domain. Use another domain.';
    throw new CoreError('conflict', message, 'domain_verified_elsewhere');
  }
}
