import { withChanges } from '../shared/changes.ts';
import { CoreError, requireFound } from '../shared/core-error.ts';
import { timestamp } from '../shared/date.ts';
import { iterateById } from '../shared/iterate-by-id.ts';
import { type Page, type PageRequest, readPage } from '../shared/page.ts';
import type { Condition } from '../shared/record-store.ts';
import type { System } from '../shared/system.ts';
import { fold, searchText } from '../shared/text.ts';
import {
  type Domain,
  type DomainRepository,
  defaultPlaceholder,
  domainSchema,
  type VerifiedSlugStore,
} from './domain.ts';

/** A domain to be made, archived or unarchived; the slug in its normal form. */
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

/** `primary`: the domain has been live longest of the workspace's live ones. */
export type DomainView = Domain & { readonly primary: boolean };

export interface DomainStorage {
  readonly domains: DomainRepository;
  readonly verifiedSlugs: VerifiedSlugStore;
  runInTransaction<T>(work: (storage: DomainStorage) => Promise<T>): Promise<T>;
}

export class DomainService {
  constructor(
    private readonly storage: DomainStorage,
    private readonly system: System,
  ) {}

  /**
   * Makes a domain or, of a slug that is here already and with `archived` given, makes that one so and takes over the
   * other fields. Refuses with `conflict` a slug that is here where `archived` is not given, and a new claim or an
   * unarchiving of a slug that another workspace has verified in a live domain.
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

  /** Newest first. */
  async list(workspaceId: string, { includeArchived, search, ...page }: DomainQuery): Promise<Page<DomainView>> {
    const where: Condition<Domain>[] = [{ field: 'archived', in: includeArchived ? [false, true] : [false] }];
    if (search) where.push({ field: 'searchText', contains: fold(search) });
    const listing = { where, by: 'createdAt', order: 'desc' } as const;
    const { items, hasNext } = await readPage(this.storage.domains, workspaceId, listing, page);
    const primary = await findPrimaryId(this.storage, workspaceId);
    return { items: items.map((domain) => toView(domain, primary)), hasNext };
  }

  /** Every domain, also an archived one, in the order of their making. */
  async *iterate(workspaceId: string): AsyncGenerator<DomainView> {
    const primary = await findPrimaryId(this.storage, workspaceId);
    for await (const domain of iterateById((after, take) => this.storage.domains.listById(workspaceId, after, take))) {
      yield toView(domain, primary);
    }
  }

  /** Refuses with `conflict` while another workspace has the slug verified in a live domain. */
  async verify(workspaceId: string, id: string): Promise<DomainView> {
    return this.storage.runInTransaction(async (storage) => {
      const current = requireFound(await storage.domains.get(workspaceId, id), 'domain');
      await requireUnclaimed(storage, current);
      if (!current.verified && !current.archived) await claimSlug(storage, current);
      const now = this.system.now();
      const verified = await storage.domains.update(workspaceId, id, (it) => withChanges(it, { verified: true }, now));
      return toView(requireFound(verified, 'domain'), await findPrimaryId(storage, workspaceId));
    });
  }

  private async create(storage: DomainStorage, workspaceId: string, request: DomainRequest): Promise<Domain> {
    const { slug, expiredUrl = '', archived = false, placeholder = defaultPlaceholder(slug) } = request;
    const now = timestamp(this.system.now());
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
      searchText: searchText(slug, this.system.toUnicode(slug)),
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
    const unarchives = existing.archived && !archived;
    if (unarchives) await requireUnclaimed(storage, existing);
    if (unarchives && existing.verified) await claimSlug(storage, existing);
    if (!existing.archived && archived && existing.verified) await storage.verifiedSlugs.remove(existing.slug);
    const now = this.system.now();
    const liveSince = unarchives ? timestamp(now) : undefined;
    const change = (it: Domain): Domain => withChanges(it, { archived, expiredUrl, placeholder, liveSince }, now);
    return requireFound(await storage.domains.update(existing.workspaceId, existing.id, change), 'domain');
  }
}

/** The record may be older than what is known of the primary one. */
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

async function requireUnclaimed({ verifiedSlugs }: DomainStorage, { slug, workspaceId }: Domain): Promise<void> {
  const held = await verifiedSlugs.get(slug);
  if (held && held.workspaceId !== workspaceId) {
    throw new CoreError('conflict', 'Another workspace has verified this domain.');
  }
}

async function claimSlug({ verifiedSlugs }: DomainStorage, { id, slug, workspaceId }: Domain): Promise<void> {
  await verifiedSlugs.add({ id: slug, workspaceId, domainId: id });
}
