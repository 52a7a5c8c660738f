import type { EventFactory } from '../event/event.ts';
import type { EventRepository } from '../event/event-repository.ts';
import { applyChanges } from '../shared/changes.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import type { Page, PageRequest } from '../shared/page.ts';
import type { System } from '../shared/system.ts';
import type { UnitOfWork } from '../shared/unit-of-work.ts';
import { DOMAIN_TAKEN, type Domain, type DomainChange, type DomainRequest, newDomain } from './domain.ts';
import type { DomainRecords } from './domain-records.ts';
import type { DomainFilter, DomainRepository } from './domain-repository.ts';
import { type ExpectedRecord, findVerificationProblem, getExpectedRecord } from './domain-verification.ts';
import type { VerifiedSlugRepository } from './verified-slug-repository.ts';

/**
 * `primary` says whether this is the domain of the workspace that has been live (not archived) for the longest time.
 */
export type DomainView = Domain & { readonly primary: boolean };

export type DomainQuery = DomainFilter & PageRequest;

/** Whether a domain is verified, and the record that verifies it. */
export interface DomainVerification {
  readonly domainId: string;
  readonly verified: boolean;
  readonly record: ExpectedRecord;
  /** Why the lookup of this call did not verify the domain. `''` if it did, or without a lookup. */
  readonly problem: string;
}

interface DomainRepositories {
  readonly domains: DomainRepository;
  readonly events: EventRepository;
  readonly verifiedSlugs: VerifiedSlugRepository;
}

export class DomainService {
  constructor(
    private readonly domains: DomainRepository,
    private readonly verifiedSlugs: VerifiedSlugRepository,
    private readonly records: DomainRecords,
    private readonly unitOfWork: UnitOfWork<DomainRepositories>,
    private readonly system: System,
    private readonly newEvent: EventFactory,
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

  /**
   * Marks a domain as verified, without a lookup. Rejects with `conflict` if another workspace has a live, verified
   * domain with its slug.
   */
  async markVerified(workspaceId: string, id: string): Promise<DomainView> {
    return this.unitOfWork.run(async (repositories) => {
      const current = requireFound(await repositories.domains.findById(workspaceId, id), 'domain');
      return readView(repositories.domains, await this.applyVerification(repositories, current));
    });
  }

  /** Returns whether a domain is verified, and the record that verifies it. Looks nothing up. */
  async getVerification(workspaceId: string, id: string): Promise<DomainVerification> {
    return toVerification(requireFound(await this.domains.findById(workspaceId, id), 'domain'));
  }

  /**
   * Looks up the expected record of a domain, and marks the domain as verified if it finds the record. A verified
   * domain stays verified without a lookup. Rejects with `conflict` if the domain is archived, or if another workspace
   * has a live, verified domain with its slug. Rejects with `busy` if there are too many lookups. The lookup can take
   * long, so do not call this in a transaction.
   */
  async verify(workspaceId: string, id: string): Promise<DomainVerification> {
    const domain = requireLive(await this.domains.findById(workspaceId, id));
    if (domain.verified) return toVerification(domain);
    await requireAvailable(this.verifiedSlugs, domain);
    const expected = getExpectedRecord(domain);
    const lookup = await this.records.findTxtRecords(expected.name);
    if (lookup.outcome === 'busy') {
      const message = 'Too many domains are being verified at the same time. Retry in a moment.';
      throw new CoreError('busy', message, 'verifications_busy');
    }
    const problem = findVerificationProblem(expected, lookup);
    // The domain may have been verified or archived during the lookup, so it is read again.
    if (problem !== '') return toVerification(requireLive(await this.domains.findById(workspaceId, id)), problem);
    return this.unitOfWork.run(async (repositories) => {
      const current = requireLive(await repositories.domains.findById(workspaceId, id));
      return toVerification(await this.applyVerification(repositories, current));
    });
  }

  private async applyVerification(repositories: DomainRepositories, existing: Domain): Promise<Domain> {
    const { domains, verifiedSlugs, events } = repositories;
    const { id, workspaceId } = existing;
    await requireAvailable(verifiedSlugs, existing);
    if (!existing.verified && !existing.archived) await verifiedSlugs.add(existing);
    const now = this.system.now();
    const apply = (it: Domain): Domain => applyChanges(it, { verified: true }, now);
    if (!existing.verified) await events.add(this.newEvent(workspaceId, 'domain.verified', { domainId: id }));
    return requireFound(await domains.update(workspaceId, id, apply), 'domain');
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

function toVerification(domain: Domain, problem = ''): DomainVerification {
  const { id, verified } = domain;
  return { domainId: id, verified, record: getExpectedRecord(domain), problem: verified ? '' : problem };
}

async function readView(domains: DomainRepository, domain: Domain): Promise<DomainView> {
  return toView(domain, await domains.findPrimaryId(domain.workspaceId));
}

/** Returns a domain that can be verified. Throws `not_found` if there is none, and `conflict` if it is archived. */
function requireLive(domain: Domain | undefined): Domain {
  const found = requireFound(domain, 'domain');
  if (!found.archived) return found;
  throw new CoreError('conflict', 'This domain is archived. Unarchive it, then verify it.', 'domain_archived');
}

/** Rejects with `conflict` if another workspace has a live, verified domain with the slug of this domain. */
async function requireAvailable(verifiedSlugs: VerifiedSlugRepository, { slug, workspaceId }: Domain): Promise<void> {
  const verified = await verifiedSlugs.find(slug);
  if (verified && verified.workspaceId !== workspaceId) {
    const message = 'Another workspace has verified this domain. Use another domain.';
    throw new CoreError('conflict', message, 'domain_verified_elsewhere');
  }
}
