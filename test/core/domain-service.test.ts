import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { Application, type Storage } from '../../core/application.ts';
import type { DomainRequest } from '../../core/domain/domain.ts';
import type { DomainRecordLookup, DomainRecords } from '../../core/domain/domain-records.ts';
import type { DomainVerification } from '../../core/domain/domain-service.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { OTHER, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const SLUG = 'links.example.com';
const VERIFIED_ELSEWHERE = {
  kind: 'conflict',
  message: 'Another workspace has verified this domain. Use another domain.',
};

async function createOrArchive({ app }: TestCore, workspaceId: string, request: DomainRequest) {
  return app.domains.createOrArchive(workspaceId, request);
}

/** Creates a domain and verifies it. */
async function createVerified(core: TestCore, workspaceId: string, slug = SLUG) {
  const { domain } = await createOrArchive(core, workspaceId, { slug });
  return core.app.domains.markVerified(workspaceId, domain.id);
}

/** Returns the slugs of the primary domains of the workspace: one, or none if no domain is live. */
async function listPrimarySlugs({ app }: TestCore): Promise<string[]> {
  const { items } = await app.domains.list(OWN, { includeArchived: true, page: 1, pageSize: 50 });
  return items.filter(({ primary }) => primary).map(({ slug }) => slug);
}

/** Returns a storage in which no domain can be updated. */
function withFailingUpdates(storage: Storage): Storage {
  const update = () => Promise.reject(new Error('The update fails.'));
  return {
    ...storage,
    domains: { ...storage.domains, update },
    unitOfWork: { run: (work) => storage.unitOfWork.run((transaction) => work(withFailingUpdates(transaction))) },
  };
}

suite('an update of a domain', {
  'releases the slug when archiving a verified domain, and claims the slug when unarchiving the domain': async () => {
    const core = testCore();
    const { id } = await createVerified(core, OWN);
    await core.app.domains.update(OWN, id, { archived: true });
    const other = await createVerified(core, OTHER);
    await assert.rejects(core.app.domains.update(OWN, id, { archived: false, expiredUrl: '' }), VERIFIED_ELSEWHERE);
    await core.app.domains.update(OWN, id, { archived: true, expiredUrl: 'https://a.b' });
    await core.app.domains.update(OTHER, other.id, { archived: true });
    assert.equal((await core.app.domains.update(OWN, id, { archived: false })).verified, true);
    await assert.rejects(core.app.domains.update(OTHER, other.id, { archived: false }), VERIFIED_ELSEWHERE);
  },
});

suite('the primary domain', {
  'is the domain with the smallest ID if several domains have been live for the same time': async () => {
    const ids = ['3', '1', '2'];
    const core = testCore({ newId: () => ids.shift() as string });
    for (const slug of ['a.example', 'b.example', 'c.example']) await createOrArchive(core, OWN, { slug });
    assert.deepEqual(await listPrimarySlugs(core), ['b.example']);
  },
});

suite('the verification of a domain', {
  'is stored, and changes nothing if it is repeated': async () => {
    const core = testCore();
    const { domain } = await createOrArchive(core, OWN, { slug: SLUG });
    core.clock.now += SECOND;
    const expected = { ...domain, verified: true, updatedAt: formatTimestamp(core.clock.now) };
    assert.deepEqual(await core.app.domains.markVerified(OWN, domain.id), expected);
    core.clock.now += SECOND;
    assert.deepEqual(await core.app.domains.markVerified(OWN, domain.id), expected);
  },

  'is kept when the domain is archived and unarchived': async () => {
    const core = testCore();
    await createVerified(core, OWN);
    for (const archived of [true, false]) {
      assert.equal((await createOrArchive(core, OWN, { slug: SLUG, archived })).domain.verified, true);
    }
  },

  'does not claim the slug if it fails': async () => {
    const core = testCore();
    const { domain } = await createOrArchive(core, OWN, { slug: SLUG });
    const app = new Application(withFailingUpdates(core.storage), createNodeSystem());
    await assert.rejects(app.domains.markVerified(OWN, domain.id), /The update fails/);
    assert.equal((await createVerified(core, OTHER)).verified, true);
  },
});

/** Creates a domain, and verifies it with a lookup, during which the domain changes. */
async function verifyDuring(
  lookup: (id: string) => DomainRecordLookup,
  change: (core: TestCore, id: string) => Promise<unknown>,
): Promise<{ core: TestCore; id: string; verification: Promise<DomainVerification> }> {
  const domainRecords: DomainRecords = {
    async findTxtRecords() {
      await change(core, domain.id);
      return lookup(domain.id);
    },
  };
  const core = testCore({}, { domainRecords });
  const { domain } = await createOrArchive(core, OWN, { slug: SLUG });
  return { core, id: domain.id, verification: core.app.domains.verify(OWN, domain.id) };
}

const findId = (id: string): DomainRecordLookup => ({ outcome: 'found', records: [[id]] });
const findNothing = (): DomainRecordLookup => ({ outcome: 'none' });

suite('a verification with a lookup', {
  'is rejected if the domain is archived during the lookup, and changes nothing': async () => {
    for (const lookup of [findId, findNothing]) {
      const { core, id, verification } = await verifyDuring(lookup, ({ app }, domainId) =>
        app.domains.update(OWN, domainId, { archived: true }),
      );
      await assert.rejects(verification, { kind: 'conflict', causeName: 'domain_archived' });
      assert.equal((await core.app.domains.get(OWN, id)).verified, false);
    }
  },

  'is rejected if another workspace verifies the domain during the lookup': async () => {
    const { core, id, verification } = await verifyDuring(findId, (changed) => createVerified(changed, OTHER));
    await assert.rejects(verification, VERIFIED_ELSEWHERE);
    assert.equal((await core.app.domains.get(OWN, id)).verified, false);
  },

  'does not take back a verification during the lookup': async () => {
    const { verification } = await verifyDuring(findNothing, ({ app }, id) => app.domains.markVerified(OWN, id));
    const { verified, problem } = await verification;
    assert.deepEqual({ verified, problem }, { verified: true, problem: '' });
  },

  'is rejected as busy if there are too many lookups': async () => {
    const { verification } = await verifyDuring(
      () => ({ outcome: 'busy' }),
      async () => undefined,
    );
    await assert.rejects(verification, { kind: 'busy', isTransient: true });
  },
});

suite('a slug that another workspace has too', {
  'blocks unarchiving and verification if the other workspace has a live, verified domain with this slug': async () => {
    const core = testCore();
    const { domain: live } = await createOrArchive(core, OWN, { slug: SLUG });
    await createVerified(core, OTHER);
    await assert.rejects(core.app.domains.markVerified(OWN, live.id), VERIFIED_ELSEWHERE);
    await createOrArchive(core, OWN, { slug: SLUG, archived: false });
    const { domain: archived } = await createOrArchive(core, OWN, { slug: SLUG, archived: true });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
    await assert.rejects(core.app.domains.markVerified(OWN, live.id), VERIFIED_ELSEWHERE);
    const { primary, ...stored } = archived;
    assert.deepEqual(await core.storage.domains.findById(OWN, live.id), stored);
  },

  'is available while the verified domain of the other workspace is archived': async () => {
    const core = testCore();
    const { domain } = await createOrArchive(core, OTHER, { slug: SLUG, archived: true });
    await core.app.domains.markVerified(OTHER, domain.id);
    const { created } = await createOrArchive(core, OWN, { slug: SLUG, archived: true });
    assert.equal(created, true);
    await createOrArchive(core, OTHER, { slug: SLUG, archived: false });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
  },

  'is verified by only one of two concurrent verifications': async () => {
    const core = testCore();
    const own = (await createOrArchive(core, OWN, { slug: SLUG })).domain;
    const other = (await createOrArchive(core, OTHER, { slug: SLUG })).domain;
    const outcomes = await Promise.allSettled([
      core.app.domains.markVerified(OWN, own.id),
      core.app.domains.markVerified(OTHER, other.id),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  },
});
