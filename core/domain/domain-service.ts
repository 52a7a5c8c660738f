import { applyChanges } from '../shared/changes.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { formatTimestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition } from '../shared/record-store.ts';
import type { System } from '../shared/system.ts';
import { buildSearchText, fold } from '../shared/text.ts';
import {
  buildDefaultPlaceholder,
  type Domain,
  type DomainRecordStore,
  domainSchema,
  type VerifiedSlugStore,
} from './domain.ts';

/** The fields of a domain to create, archive or unarchive. The slug must be normalized. */
export interface DomainRequest {
  readonly slug: string;
  readonly expiredUrl?: string | undefined;
  readonly archived?: boolean | undefined;
  readonly placeholder?: string | undefined;
}

export interface DomainQuery extends PageRequest {
  readonly includeArchived: boolean;
  readonly search?: string | undefined;
}

/** `primary` says whether this domain of the workspace has been live (not archived) for the longest time. */
export type DomainView = Domain & { readonly primary: boolean };

/** The part of `Storage` that `DomainService` uses. */
export interface DomainStorage {
  readonly domains: DomainRecordStore;
  readonly verifiedSlugs: VerifiedSlugStore;
  runInTransaction<T>(work: (storage: DomainStorage) => Promise<T>): Promise<T>;
}

/** The use cases of domains. */
export class DomainService {
  constructor(
    private readonly storage: DomainStorage,
    private readonly system: System,
  ) {}

  /**
   * Creates a domain. If the workspace has the slug and `archived` is given, updates the existing domain instead: archives or
   * unarchives it, and sets the other given fields. Rejects with `conflict` if the workspace has the slug and `archived` is not
   * given. Creating or unarchiving a domain also rejects with `conflict` if another workspace has a live, verified domain with
   * this slug.
   */
  async createOrArchive(
    workspaceId: string,
    request: DomainRequest,
  ): Promise<{ domain: DomainView; created: boolean }> {
    return this.storage.runInTransaction(async (storage) => {
      const existing = await findDomain(storage, workspaceId, request.slug);
      if (existing && request.archived === undefined) {
        throw new CoreError('conflict', domainSchema.unique.slug as string);
      }
      const domain = existing
        ? await this.update(storage, existing, request)
        : await this.create(storage, workspaceId, request);
      return { domain: toView(domain, await findPrimaryId(storage, workspaceId)), created: !existing };
    });
  }

  /** Returns a page of the domains that match all filters, newest first. */
  async list(workspaceId: string, { includeArchived, search, ...page }: DomainQuery): Promise<Page<DomainView>> {
    const where: Condition<Domain>[] = [{ field: 'archived', in: includeArchived ? [false, true] : [false] }];
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    const listQuery = { where, by: 'createdAt', order: 'desc' } as const;
    const { items, hasNext } = await readPage(this.storage.domains, workspaceId, listQuery, page);
    const primaryId = await findPrimaryId(this.storage, workspaceId);
    return { items: items.map((domain) => toView(domain, primaryId)), hasNext };
  }

  /** Iterates over all domains, including archived domains, in creation order. */
  async *iterate(workspaceId: string): AsyncGenerator<DomainView> {
    const primaryId = await findPrimaryId(this.storage, workspaceId);
    for await (const domain of iterateById((after, take) => this.storage.domains.listById(workspaceId, after, take))) {
      yield toView(domain, primaryId);
    }
  }

  /**
   * Marks a domain as verified. Rejects with `not_found` if the workspace does not have it, and with `conflict` if another
   * workspace has a live, verified domain with its slug.
   */
  async verify(workspaceId: string, id: string): Promise<DomainView> {
    return this.storage.runInTransaction(async (storage) => {
      const current = requireFound(await storage.domains.get(workspaceId, id), 'domain');
      await requireUnclaimed(storage, current);
      if (!current.verified && !current.archived) await claimSlug(storage, current);
      const now = this.system.now();
      const verified = await storage.domains.update(workspaceId, id, (it) => applyChanges(it, { verified: true }, now));
      return toView(requireFound(verified, 'domain'), await findPrimaryId(storage, workspaceId));
    });
  }

  private async create(storage: DomainStorage, workspaceId: string, request: DomainRequest): Promise<Domain> {
    const { slug, expiredUrl = '', archived = false, placeholder = buildDefaultPlaceholder(slug) } = request;
    const now = formatTimestamp(this.system.now());
    const domain: Domain = {
      id: this.system.newId(),
      workspaceId,
      slug,
      verified: false,
      archived,
      placeholder,
      expiredUrl,
      notFoundUrl: '',
      liveSince: now,
      searchText: buildSearchText(slug, this.system.toUnicode(slug)),
      createdAt: now,
      updatedAt: now,
    };
    await requireUnclaimed(storage, domain);
    await storage.domains.add(domain);
    return domain;
  }

  private async update(
    storage: DomainStorage,
    existing: Domain,
    { expiredUrl, placeholder, archived }: DomainRequest,
  ): Promise<Domain> {
    const isUnarchived = existing.archived && !archived;
    if (isUnarchived) await requireUnclaimed(storage, existing);
    if (isUnarchived && existing.verified) await claimSlug(storage, existing);
    if (!existing.archived && archived && existing.verified) await storage.verifiedSlugs.remove(existing.slug);
    const now = this.system.now();
    const liveSince = isUnarchived ? formatTimestamp(now) : undefined;
    const change = (it: Domain): Domain => applyChanges(it, { archived, expiredUrl, placeholder, liveSince }, now);
    return requireFound(await storage.domains.update(existing.workspaceId, existing.id, change), 'domain');
  }
}

/** Returns the view of a domain. An archived domain is not primary, even if it was live when `primaryId` was read. */
function toView(domain: Domain, primaryId: string | undefined): DomainView {
  return { ...domain, primary: !domain.archived && domain.id === primaryId };
}

async function findPrimaryId({ domains }: DomainStorage, workspaceId: string): Promise<string | undefined> {
  const where: Condition<Domain>[] = [{ field: 'archived', is: false }];
  const [primary] = await domains.list(workspaceId, { where, by: 'liveSince', order: 'asc', skip: 0, take: 1 });
  return primary?.id;
}

async function findDomain({ domains }: DomainStorage, workspaceId: string, slug: string): Promise<Domain | undefined> {
  const where: Condition<Domain>[] = [{ field: 'slug', is: slug }];
  const [domain] = await domains.list(workspaceId, { where, by: 'createdAt', order: 'asc', skip: 0, take: 1 });
  return domain;
}

/** Rejects with `conflict` if another workspace has a live, verified domain with the slug of this domain. */
async function requireUnclaimed({ verifiedSlugs }: DomainStorage, { slug, workspaceId }: Domain): Promise<void> {
  const claim = await verifiedSlugs.get(slug);
  if (claim && claim.workspaceId !== workspaceId) {
    throw new CoreError('conflict', 'Another workspace has verified this domain. Use another domain.');
  }
}

async function claimSlug({ verifiedSlugs }: DomainStorage, { id, slug, workspaceId }: Domain): Promise<void> {
  await verifiedSlugs.add({ id: slug, workspaceId, domainId: id });
}
