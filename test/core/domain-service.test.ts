import assert from 'node:assert/strict';
import { domainSchema } from '../../core/domain/domain.ts';
import type { DomainRequest } from '../../core/domain/domain-service.ts';
import { timestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, type TestCore, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const SLUG = 'links.example.com';
const VERIFIED_ELSEWHERE = { kind: 'conflict', message: 'Another workspace has verified this domain.' };

async function send({ app }: TestCore, workspaceId: string, request: DomainRequest) {
  return app.domains.createOrArchive(workspaceId, request);
}

/** Makes a domain, and verifies it. */
async function verified(core: TestCore, workspaceId: string, slug = SLUG) {
  const { domain } = await send(core, workspaceId, { slug });
  return core.app.domains.verify(workspaceId, domain.id);
}

async function slugs({ app }: TestCore, query: { search?: string; includeArchived?: boolean } = {}): Promise<string[]> {
  const { items } = await app.domains.list(OWN, { includeArchived: false, page: 1, pageSize: 50, ...query });
  return items.map(({ slug }) => slug);
}

/** The slugs of the workspace's domains that are said to be primary: one, or none where none is live. */
async function primaries({ app }: TestCore): Promise<string[]> {
  const { items } = await app.domains.list(OWN, { includeArchived: true, page: 1, pageSize: 50 });
  return items.filter(({ primary }) => primary).map(({ slug }) => slug);
}

suite('a new domain', {
  'is live, not verified, and has a placeholder made from its slug': async () => {
    const core = testCore();
    const { domain, created } = await send(core, OWN, { slug: SLUG });
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
      liveSince: timestamp(NOON),
      searchText: `${SLUG}\0${SLUG}`,
      createdAt: timestamp(NOON),
      updatedAt: timestamp(NOON),
    });
  },

  'takes what was sent along, empty texts too, and may be made archived': async () => {
    const core = testCore();
    const sent = { slug: SLUG, archived: true, placeholder: '', expiredUrl: 'https://example.com/gone' };
    const { domain, created } = await send(core, OWN, sent);
    const { slug, archived, placeholder, expiredUrl } = domain;
    assert.deepEqual({ slug, archived, placeholder, expiredUrl }, sent);
    assert.deepEqual([created, domain.primary], [true, false]);
  },

  'is one per slug and workspace': async () => {
    const core = testCore();
    await send(core, OWN, { slug: SLUG });
    await assert.rejects(send(core, OWN, { slug: SLUG }), { kind: 'conflict', message: domainSchema.unique.slug });
    await assert.rejects(send(core, OWN, { slug: SLUG, expiredUrl: '' }), { kind: 'conflict' });
    assert.equal((await send(core, OTHER, { slug: SLUG })).created, true);
    await send(core, OWN, { slug: SLUG, archived: true });
    await assert.rejects(send(core, OWN, { slug: SLUG }), { kind: 'conflict' });
  },
});

suite('a domain sent again with archived', {
  'is made so, takes over the other fields, and was updated if anything changed': async () => {
    const core = testCore();
    const { domain: made } = await send(core, OWN, { slug: SLUG });
    const steps = [
      [{ archived: false }, {}],
      [{ archived: true }, { archived: true, primary: false }],
      [{ archived: true }, {}],
      [{ archived: true, expiredUrl: '' }, {}],
      [{ archived: true, expiredUrl: 'https://example.com' }, { expiredUrl: 'https://example.com' }],
      [
        { archived: false, placeholder: '' },
        { archived: false, placeholder: '', primary: true },
      ],
      [{ archived: false, placeholder: 'https://a.b' }, { placeholder: 'https://a.b' }],
      [{ archived: false, placeholder: 'https://a.b', expiredUrl: 'https://example.com' }, {}],
    ] as const;
    let expected = made;
    for (const [request, different] of steps) {
      core.clock.now += SECOND;
      const now = timestamp(core.clock.now);
      const isChanged = Object.keys(different).length > 0;
      const liveSince = 'archived' in different && !different.archived ? now : expected.liveSince;
      expected = { ...expected, ...different, liveSince, updatedAt: isChanged ? now : expected.updatedAt };
      const { domain, created } = await send(core, OWN, { slug: SLUG, ...request });
      assert.deepEqual(domain, expected, JSON.stringify(request));
      assert.equal(created, false);
    }
  },

  'is the one of the workspace, never of another': async () => {
    const core = testCore();
    const { domain } = await send(core, OTHER, { slug: SLUG });
    assert.equal((await send(core, OWN, { slug: SLUG, archived: true })).created, true);
    assert.equal((await core.storage.domains.get(OTHER, domain.id))?.archived, false);
  },
});

suite('the primary domain', {
  'is the live one that has been live longest': async () => {
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
      const { domain } = await send(core, OWN, request);
      assert.deepEqual(await primaries(core), expected, JSON.stringify(request));
      assert.equal(domain.primary, expected[0] === request.slug);
    }
  },

  'is that of the smaller id where two have been live as long': async () => {
    const ids = ['3', '1', '2'];
    const core = testCore({ newId: () => ids.shift() as string });
    for (const slug of ['a.example', 'b.example', 'c.example']) await send(core, OWN, { slug });
    assert.deepEqual(await primaries(core), ['b.example']);
  },

  'is one of the workspace itself': async () => {
    const core = testCore();
    await send(core, OTHER, { slug: 'a.example' });
    core.clock.now += SECOND;
    await send(core, OWN, { slug: 'b.example' });
    assert.deepEqual(await primaries(core), ['b.example']);
  },

  'is known on every page of the list': async () => {
    const core = testCore();
    for (const slug of ['a.example', 'b.example']) {
      await send(core, OWN, { slug });
      core.clock.now += SECOND;
    }
    const page = (page: number) => core.app.domains.list(OWN, { includeArchived: false, page, pageSize: 1 });
    assert.deepEqual([(await page(1)).items[0]?.primary, (await page(2)).items[0]?.primary], [false, true]);
  },
});

suite('the verification of a domain', {
  'is kept, and again changes nothing': async () => {
    const core = testCore();
    const { domain } = await send(core, OWN, { slug: SLUG });
    core.clock.now += SECOND;
    const expected = { ...domain, verified: true, updatedAt: timestamp(core.clock.now) };
    assert.deepEqual(await core.app.domains.verify(OWN, domain.id), expected);
    core.clock.now += SECOND;
    assert.deepEqual(await core.app.domains.verify(OWN, domain.id), expected);
  },

  'is of a domain of the workspace': async () => {
    const core = testCore();
    const { domain } = await send(core, OTHER, { slug: SLUG });
    await assert.rejects(core.app.domains.verify(OWN, domain.id), { kind: 'not_found' });
    await assert.rejects(core.app.domains.verify(OWN, UNKNOWN_ID), { kind: 'not_found' });
    assert.equal((await core.storage.domains.get(OTHER, domain.id))?.verified, false);
  },

  'stays when the domain is archived and unarchived': async () => {
    const core = testCore();
    await verified(core, OWN);
    for (const archived of [true, false]) {
      assert.equal((await send(core, OWN, { slug: SLUG, archived })).domain.verified, true);
    }
  },
});

suite('a slug that another workspace claims', {
  'is free while none has it verified': async () => {
    const core = testCore();
    await send(core, OTHER, { slug: SLUG });
    for (const archived of [false, true, false]) await send(core, OWN, { slug: SLUG, archived });
  },

  'and has verified in a live domain is refused to a new claim, live or archived': async () => {
    const core = testCore();
    await verified(core, OTHER);
    for (const archived of [undefined, false, true]) {
      await assert.rejects(send(core, OWN, { slug: SLUG, archived }), VERIFIED_ELSEWHERE);
    }
    assert.equal(await core.storage.domains.count(OWN, []), 0);
    assert.equal((await send(core, OWN, { slug: 'other.example.com' })).created, true);
  },

  'and has verified in a live domain is refused to an unarchiving and to a verification': async () => {
    const core = testCore();
    const { domain: live } = await send(core, OWN, { slug: SLUG });
    await verified(core, OTHER);
    await assert.rejects(core.app.domains.verify(OWN, live.id), VERIFIED_ELSEWHERE);
    await send(core, OWN, { slug: SLUG, archived: false });
    const { domain: archived } = await send(core, OWN, { slug: SLUG, archived: true });
    await assert.rejects(send(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
    await assert.rejects(core.app.domains.verify(OWN, live.id), VERIFIED_ELSEWHERE);
    const { primary, ...kept } = archived;
    assert.deepEqual(await core.storage.domains.get(OWN, live.id), kept);
  },

  'and has archived is free again, and then the other one has lost it': async () => {
    const core = testCore();
    await verified(core, OTHER);
    await send(core, OTHER, { slug: SLUG, archived: true });
    await verified(core, OWN);
    await assert.rejects(send(core, OTHER, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
    await send(core, OWN, { slug: SLUG, archived: true });
    await send(core, OTHER, { slug: SLUG, archived: false });
    await assert.rejects(send(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
  },

  'and has verified while archived is free until that is live': async () => {
    const core = testCore();
    const { domain } = await send(core, OTHER, { slug: SLUG, archived: true });
    await core.app.domains.verify(OTHER, domain.id);
    const { created } = await send(core, OWN, { slug: SLUG, archived: true });
    assert.equal(created, true);
    await send(core, OTHER, { slug: SLUG, archived: false });
    await assert.rejects(send(core, OWN, { slug: SLUG, archived: false }), VERIFIED_ELSEWHERE);
  },

  'goes to one of two that verify at the same time': async () => {
    const core = testCore();
    const own = (await send(core, OWN, { slug: SLUG })).domain;
    const other = (await send(core, OTHER, { slug: SLUG })).domain;
    const outcomes = await Promise.allSettled([
      core.app.domains.verify(OWN, own.id),
      core.app.domains.verify(OTHER, other.id),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  },
});

suite('the list of domains', {
  'is newest first, archived ones where they are asked for': async () => {
    const core = testCore();
    for (const slug of ['a.example', 'b.example', 'c.example']) {
      await send(core, OWN, { slug, archived: slug === 'b.example' });
      core.clock.now += SECOND;
    }
    await send(core, OTHER, { slug: 'd.example' });
    assert.deepEqual(await slugs(core), ['c.example', 'a.example']);
    assert.deepEqual(await slugs(core, { includeArchived: true }), ['c.example', 'b.example', 'a.example']);
  },

  'is searched in the ASCII and in the Unicode form of a slug': async () => {
    const core = testCore();
    for (const slug of ['xn--mnchen-3ya.de', 'links.example.com']) await send(core, OWN, { slug });
    const found = [
      ['MÜNCH', ['xn--mnchen-3ya.de']],
      ['mu\u0308n', ['xn--mnchen-3ya.de']],
      ['MNCHEN-3', ['xn--mnchen-3ya.de']],
      ['munchen', []],
      ['Links.Ex', ['links.example.com']],
      ['.', ['links.example.com', 'xn--mnchen-3ya.de']],
      ['.*', []],
      ['', ['links.example.com', 'xn--mnchen-3ya.de']],
    ] as const;
    for (const [search, expected] of found) assert.deepEqual(await slugs(core, { search }), expected, search);
  },
});
