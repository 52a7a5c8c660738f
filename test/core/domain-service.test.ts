import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { DOMAIN_TAKEN, type DomainRequest } from '../../core/domain/domain.ts';
import { DomainService } from '../../core/domain/domain-service.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import type { Storage } from '../../core/storage.ts';
import { NOON, OTHER, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
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
  return core.app.domains.verify(workspaceId, domain.id);
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
    runInTransaction: (work) => storage.runInTransaction((transaction) => work(withFailingUpdates(transaction))),
  };
}

suite('a new domain', {
  'is live and not verified, and has a placeholder with its slug': async () => {
    const core = testCore();
    const { domain, created } = await createOrArchive(core, OWN, { slug: SLUG });
    const { id, ...fields } = domain;
    assert.ok(created && id);
    assert.deepEqual(fields, {
      workspaceId: OWN,
      slug: SLUG,
      verified: false,
      primary: true,
      archived: false,
      placeholder: 'https://links.example.com/your-link',
      expiredUrl: '',
      notFoundUrl: '',
      liveSince: formatTimestamp(NOON),
      createdAt: formatTimestamp(NOON),
      updatedAt: formatTimestamp(NOON),
    });
  },

  'is rejected if the workspace already has its slug': async () => {
    const core = testCore();
    await createOrArchive(core, OWN, { slug: SLUG });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG }), {
      kind: 'conflict',
      message: DOMAIN_TAKEN,
    });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG, expiredUrl: '' }), { kind: 'conflict' });
    assert.equal((await createOrArchive(core, OTHER, { slug: SLUG })).created, true);
    await createOrArchive(core, OWN, { slug: SLUG, archived: true });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG }), { kind: 'conflict' });
  },
});

suite('an update of a domain', {
  'changes the given fields, keeps the others, and sets updatedAt if anything changes': async () => {
    const core = testCore();
    const { domain: created } = await createOrArchive(core, OWN, { slug: SLUG });
    const steps = [
      [{}, {}],
      [{ notFoundUrl: 'https://a.b' }, { notFoundUrl: 'https://a.b' }],
      [{ notFoundUrl: 'https://a.b', archived: false }, {}],
      [{ archived: true }, { archived: true, primary: false }],
      [{ expiredUrl: 'https://a.b' }, { expiredUrl: 'https://a.b' }],
      [
        { archived: false, placeholder: '' },
        { archived: false, placeholder: '', primary: true },
      ],
      [{ archived: false, placeholder: '', notFoundUrl: '' }, { notFoundUrl: '' }],
    ] as const;
    let expected = created;
    for (const [change, changes] of steps) {
      core.clock.now += SECOND;
      const now = formatTimestamp(core.clock.now);
      const isChanged = Object.keys(changes).length > 0;
      const liveSince = 'archived' in changes && !changes.archived ? now : expected.liveSince;
      expected = { ...expected, ...changes, liveSince, updatedAt: isChanged ? now : expected.updatedAt };
      assert.deepEqual(await core.app.domains.update(OWN, created.id, change), expected, JSON.stringify(change));
      assert.deepEqual(await core.app.domains.get(OWN, created.id), expected);
    }
  },

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
  'is the domain that has been live for the longest time': async () => {
    const core = testCore();
    const steps: readonly (readonly [DomainRequest, string[]])[] = [
      [{ slug: 'a.example', archived: true }, []],
      [{ slug: 'b.example' }, ['b.example']],
      [{ slug: 'c.example' }, ['b.example']],
      [{ slug: 'a.example', archived: false }, ['b.example']],
      [{ slug: 'b.example', archived: true }, ['c.example']],
      [{ slug: 'b.example', archived: false }, ['c.example']],
      [{ slug: 'c.example', archived: false, placeholder: '' }, ['c.example']],
      [{ slug: 'c.example', archived: true }, ['a.example']],
      [{ slug: 'a.example', archived: true }, ['b.example']],
      [{ slug: 'b.example', archived: true }, []],
    ];
    for (const [request, expected] of steps) {
      core.clock.now += SECOND;
      const { domain } = await createOrArchive(core, OWN, request);
      assert.deepEqual(await listPrimarySlugs(core), expected, JSON.stringify(request));
      assert.equal(domain.primary, expected[0] === request.slug);
    }
  },

  'is the domain with the smallest ID if several domains have been live for the same time': async () => {
    const ids = ['3', '1', '2'];
    const core = testCore({ newId: () => ids.shift() as string });
    for (const slug of ['a.example', 'b.example', 'c.example']) await createOrArchive(core, OWN, { slug });
    assert.deepEqual(await listPrimarySlugs(core), ['b.example']);
  },

  'is not a domain of another workspace': async () => {
    const core = testCore();
    await createOrArchive(core, OTHER, { slug: 'a.example' });
    core.clock.now += SECOND;
    await createOrArchive(core, OWN, { slug: 'b.example' });
    assert.deepEqual(await listPrimarySlugs(core), ['b.example']);
  },

  'is marked in the list, whichever page it is on': async () => {
    const core = testCore();
    for (const slug of ['a.example', 'b.example']) {
      await createOrArchive(core, OWN, { slug });
      core.clock.now += SECOND;
    }
    const listPage = (page: number) => core.app.domains.list(OWN, { includeArchived: false, page, pageSize: 1 });
    assert.deepEqual([(await listPage(1)).items[0]?.primary, (await listPage(2)).items[0]?.primary], [false, true]);
  },
});

suite('the verification of a domain', {
  'is stored, and changes nothing if it is repeated': async () => {
    const core = testCore();
    const { domain } = await createOrArchive(core, OWN, { slug: SLUG });
    core.clock.now += SECOND;
    const expected = { ...domain, verified: true, updatedAt: formatTimestamp(core.clock.now) };
    assert.deepEqual(await core.app.domains.verify(OWN, domain.id), expected);
    core.clock.now += SECOND;
    assert.deepEqual(await core.app.domains.verify(OWN, domain.id), expected);
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
    const domains = new DomainService(withFailingUpdates(core.storage), createNodeSystem());
    await assert.rejects(domains.verify(OWN, domain.id), /The update fails/);
    assert.equal((await createVerified(core, OTHER)).verified, true);
  },
});

suite('a slug that another workspace has too', {
  'is available while no workspace has verified it': async () => {
    const core = testCore();
    await createOrArchive(core, OTHER, { slug: SLUG });
    for (const archived of [false, true, false]) await createOrArchive(core, OWN, { slug: SLUG, archived });
  },

  'is not available, even for an archived domain, if the other workspace has a live, verified domain with this slug':
    async () => {
      const core = testCore();
      await createVerified(core, OTHER);
      for (const archived of [undefined, false, true]) {
        await assert.rejects(createOrArchive(core, OWN, { slug: SLUG, archived }), VERIFIED_ELSEWHERE);
      }
      assert.equal(await core.engine.domains.count(OWN, []), 0);
      assert.equal((await createOrArchive(core, OWN, { slug: 'other.example.com' })).created, true);
    },

  'blocks unarchiving and verification if the other workspace has a live, verified domain with this slug': async () => {
    const core = testCore();
    const { domain: live } = await createOrArchive(core, OWN, { slug: SLUG });
    await createVerified(core, OTHER);
    await assert.rejects(core.app.domains.verify(OWN, live.id), VERIFIED_ELSEWHERE);
    await createOrArchive(core, OWN, { slug: SLUG, archived: false });
    const { domain: archived } = await createOrArchive(core, OWN, { slug: SLUG, archived: true });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
    await assert.rejects(core.app.domains.verify(OWN, live.id), VERIFIED_ELSEWHERE);
    const { primary, ...stored } = archived;
    assert.deepEqual(await core.storage.domains.findById(OWN, live.id), stored);
  },

  'is available again after the other workspace archives its domain, and can then be claimed': async () => {
    const core = testCore();
    await createVerified(core, OTHER);
    await createOrArchive(core, OTHER, { slug: SLUG, archived: true });
    await createVerified(core, OWN);
    await assert.rejects(createOrArchive(core, OTHER, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
    await createOrArchive(core, OWN, { slug: SLUG, archived: true });
    await createOrArchive(core, OTHER, { slug: SLUG, archived: false });
    await assert.rejects(createOrArchive(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
  },

  'is available while the verified domain of the other workspace is archived': async () => {
    const core = testCore();
    const { domain } = await createOrArchive(core, OTHER, { slug: SLUG, archived: true });
    await core.app.domains.verify(OTHER, domain.id);
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
      core.app.domains.verify(OWN, own.id),
      core.app.domains.verify(OTHER, other.id),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  },
});
