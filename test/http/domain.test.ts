import assert from 'node:assert/strict';
import { assertConflict, assertFaults, jsonOf, UUID_V7, valuesOf } from '../support/expected-responses.ts';
import { inWorld, newWorld, type World } from '../support/fixture.ts';
import { refusedUrls, takenUrls } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const TEN = Date.parse('2026-01-31T10:00:00Z');

const create = async ({ call }: World, body: object) => jsonOf(await call('POST', '/domains', body), 201);
const slugOf = (...lengths: number[]) => lengths.map((length) => 'a'.repeat(length)).join('.');

suite('POST /domains', {
  'makes a domain and returns its ten fields, with their defaults': () =>
    inWorld(
      async (world) => {
        const domain = await create(world, { slug: 'go.example.com' });
        assert.deepEqual(domain, {
          id: domain.id,
          slug: 'go.example.com',
          verified: false,
          primary: true,
          archived: false,
          placeholder: 'https://go.example.com/your-link',
          expiredUrl: '',
          notFoundUrl: '',
          createdAt: '2026-01-31T09:00:00.000Z',
          updatedAt: '2026-01-31T09:00:00.000Z',
        });
        assert.match(domain.id, UUID_V7);
        const archived = await create(world, {
          slug: 'old.example.com',
          archived: true,
          placeholder: 'https://old.example.com/summer',
          expiredUrl: 'https://example.com/expired',
        });
        assert.deepEqual(archived, {
          ...domain,
          id: archived.id,
          slug: 'old.example.com',
          primary: false,
          archived: true,
          placeholder: 'https://old.example.com/summer',
          expiredUrl: 'https://example.com/expired',
        });
        const { archived: flag } = await create(world, { slug: 'new.example.com', archived: false });
        assert.equal(flag, false);
      },
      { now: () => NINE },
    ),

  'keeps a slug in its normal form': () =>
    inWorld(async (world) => {
      const forms = {
        'a.b': 'a.b',
        '  Go.Example.COM\n': 'go.example.com',
        'trailing.example.': 'trailing.example',
        'full.example。': 'full.example',
        'Bücher.example': 'xn--bcher-kva.example',
        'bu\u0308cher.test': 'xn--bcher-kva.test',
        'XN--FA-HIA.example': 'xn--fa-hia.example',
        'faß.test': 'xn--fa-hia.test',
        '例え.テスト': 'xn--r8jz45g.xn--zckzah',
        '4.com': '4.com',
        '1.2.3.4a': '1.2.3.4a',
        'a-b--c.d-e': 'a-b--c.d-e',
        'www2.example': 'www2.example',
        'go.www.example': 'go.www.example',
        [slugOf(63, 2)]: slugOf(63, 2),
        [slugOf(63, 63, 62)]: slugOf(63, 63, 62),
        [`${slugOf(62, 63, 63)}.`]: slugOf(62, 63, 63),
      };
      for (const [sent, slug] of Object.entries(forms)) assert.equal((await create(world, { slug: sent })).slug, slug);
    }),

  'refuses what is no slug': () =>
    inWorld(async ({ call }) => {
      const refused = [
        ...['', ' ', '.', 'example', 'example.', '.example.com', 'go..example.com', 'example.com..'],
        ...['https://example.com', 'example.com/', 'example.com/path', 'example.com:443', 'kim@example.com', '//a.b'],
        ...['127.0.0.1', '[::1]', '0x7f.1', '1.2', '256.256.256.256', 'example.123', '１.２.３.４'],
        ...['www.example.com', 'WWW.Example.com', ' www.example.com', 'ｗww.example.com', 'www.com'],
        ...['-a.example', 'a-.example', 'a.-b', 'a_b.example', 'a b.example', 'a*b.example', 'a%2e.example', 'a\\b.c'],
        ...['a?b.example', 'a#b.example', 'a\0b.example', 'a\ud800.example', 'a😀\u200d.example', 'xn--a.example'],
        ...['a／b.example', '℀.example', slugOf(64, 2), slugOf(63, 63, 63), `${'ü'.repeat(60)}.example`],
        ...[null, 1, true, ['a.b'], { a: 'b' }],
      ];
      for (const slug of refused)
        assertFaults(await call('POST', '/domains', { slug }), ['slug'], JSON.stringify(slug));
      assert.deepEqual(jsonOf(await call('GET', '/domains?includeArchived=true')), []);
    }),

  'takes http and https URLs or nothing as placeholder and expiredUrl': () =>
    inWorld(async (world) => {
      await create(world, { slug: 'go.example.com' });
      const send = (field: string, value: unknown) =>
        world.call('POST', '/domains', { slug: 'go.example.com', archived: false, [field]: value });
      for (const field of ['placeholder', 'expiredUrl']) {
        for (const url of [...takenUrls, '', ' ']) assert.equal(jsonOf(await send(field, url))[field], url.trim());
        for (const url of [...refusedUrls, null, 1, [], {}]) {
          assertFaults(await send(field, url), [field], JSON.stringify(url));
        }
      }
    }),

  'names every field that is missing, wrong or unknown': () =>
    inWorld(async ({ call }) => {
      const wrong = { archived: 'true', placeholder: 1, expiredUrl: 'example.com' };
      const cases: readonly [body: object, faults: string[]][] = [
        [{}, ['slug']],
        [wrong, ['slug', 'expiredUrl', 'archived', 'placeholder']],
        [{ slug: 'a.b', archived: null }, ['archived']],
        [{ slug: 'a.b', archived: 0 }, ['archived']],
        [{ slug: 'a.b', notFoundUrl: '', verified: true, primary: true }, ['notFoundUrl', 'verified', 'primary']],
      ];
      for (const [body, faults] of cases) assertFaults(await call('POST', '/domains', body), faults);
    }),

  'refuses a slug that is here already, in whatever form, unless archived is given': () =>
    inWorld(async (world) => {
      const { id } = await create(world, { slug: 'bücher.example' });
      for (const slug of ['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.example']) {
        assertConflict(await world.call('POST', '/domains', { slug, expiredUrl: 'https://example.com' }), slug);
        assert.equal(jsonOf(await world.call('POST', '/domains', { slug, archived: true })).id, id);
        assertConflict(await world.call('POST', '/domains', { slug }), slug);
        assert.equal(jsonOf(await world.call('POST', '/domains', { slug, archived: false })).id, id);
      }
      assert.deepEqual(valuesOf(await world.call('GET', '/domains?includeArchived=true'), 'expiredUrl'), ['']);
    }),

  'archives, unarchives or leaves as it is a domain that is here, and takes over the other fields': async () => {
    let now = NINE;
    await inWorld(
      async (world) => {
        const slug = 'go.example.com';
        let domain = await create(world, { slug });
        const expiredUrl = 'https://example.com/expired';
        const placeholder = 'https://go.example.com/summer';
        const steps: readonly [fields: object, changes: boolean][] = [
          [{ archived: false }, false],
          [{ archived: true }, true],
          [{ archived: true }, false],
          [{ archived: true, expiredUrl }, true],
          [{ archived: true, expiredUrl }, false],
          [{ archived: false, placeholder }, true],
          [{ archived: false, placeholder, expiredUrl }, false],
          [{ archived: false, placeholder: '', expiredUrl: '' }, true],
          [{ archived: true, placeholder }, true],
        ];
        for (const [fields, changes] of steps) {
          now += 1000;
          const updatedAt = changes ? new Date(now).toISOString() : domain.updatedAt;
          const expected = { ...domain, ...fields, updatedAt };
          domain = jsonOf(await world.call('POST', '/domains', { slug, ...fields }));
          assert.deepEqual(domain, { ...expected, primary: !domain.archived }, JSON.stringify(fields));
        }
      },
      { now: () => now },
    );
  },

  'calls primary the live domain that has been live longest': async () => {
    let now = NINE;
    await inWorld(
      async (world, api) => {
        await create(await newWorld(api), { slug: 'foreign.example' });
        now = TEN;
        const post = async (slug: string, archived: boolean) => {
          now += 1000;
          const domain = await world.call('POST', '/domains', { slug, archived });
          const list = jsonOf(await world.call('GET', '/domains?includeArchived=true'));
          const primaries = list.filter(({ primary }: { primary: boolean }) => primary);
          const [primary] = primaries.map((it: { slug: string }) => it.slug);
          assert.ok(primaries.length <= 1);
          assert.equal(domain.json.primary, primary === slug);
          return primary;
        };
        const steps: readonly [slug: string, archived: boolean, primary: string | undefined][] = [
          ['a.example', true, undefined],
          ['b.example', false, 'b.example'],
          ['c.example', false, 'b.example'],
          ['a.example', false, 'b.example'],
          ['b.example', false, 'b.example'],
          ['b.example', true, 'c.example'],
          ['b.example', false, 'c.example'],
          ['c.example', true, 'a.example'],
          ['a.example', true, 'b.example'],
          ['b.example', true, undefined],
          ['c.example', false, 'c.example'],
        ];
        for (const [slug, archived, primary] of steps) assert.equal(await post(slug, archived), primary, slug);
      },
      { now: () => now },
    );
  },

  'calls primary the smaller id of two that are live since the same moment': () =>
    inWorld(
      async (world) => {
        for (const slug of ['b.example', 'a.example']) await create(world, { slug });
        for (const archived of [true, false]) await world.call('POST', '/domains', { slug: 'b.example', archived });
        const list = jsonOf(await world.call('GET', '/domains'));
        const flags = list.map(({ slug, primary }: Record<string, unknown>) => [slug, primary]);
        assert.deepEqual(flags, [
          ['a.example', false],
          ['b.example', true],
        ]);
      },
      { now: () => NINE },
    ),

  'says that a domain is verified once it is, also when it comes back from the archive': () =>
    inWorld(async (world, api) => {
      const { id, ...domain } = await create(world, { slug: 'go.example.com' });
      assert.equal(domain.verified, false);
      await api.app.domains.verify(world.workspaceId, id);
      for (const archived of [false, true, false]) {
        const { verified } = jsonOf(await world.call('POST', '/domains', { slug: domain.slug, archived }));
        assert.equal(verified, true);
      }
      assert.deepEqual(valuesOf(await world.call('GET', '/domains'), 'verified'), [true]);
    }),

  'refuses to claim or unarchive a slug that another workspace has verified in a live domain': () =>
    inWorld(async (first, api) => {
      const { domains } = api.app;
      const slug = 'go.example.com';
      const second = await newWorld(api);
      const third = await newWorld(api);
      const post = ({ call }: World, archived?: boolean) => call('POST', '/domains', { slug, archived });

      const own = await create(first, { slug });
      const other = await create(second, { slug });
      assert.equal(other.primary, true);

      await domains.verify(first.workspaceId, own.id);
      await assert.rejects(domains.verify(second.workspaceId, other.id), { kind: 'conflict' });
      for (const archived of [undefined, false, true]) assertConflict(await post(third, archived));
      assert.deepEqual(jsonOf(await third.call('GET', '/domains?includeArchived=true')), []);
      assert.deepEqual(jsonOf(await post(second, false)), other);
      jsonOf(await post(second, true));
      assertConflict(await post(second, false));
      assert.deepEqual(valuesOf(await second.call('GET', '/domains?includeArchived=true'), 'archived'), [true]);
      jsonOf(await post(first, false));

      jsonOf(await post(first, true));
      jsonOf(await post(third), 201);
      jsonOf(await post(second, false));
      await domains.verify(second.workspaceId, other.id);
      assertConflict(await post(first, false));
      jsonOf(await post(second, true));
      assert.equal(jsonOf(await post(first, false)).verified, true);
      assertConflict(await post(second, false));
    }),
});

suite('GET /domains', {
  'lists the live domains of the workspace, newest first, and the archived ones with includeArchived': () =>
    inWorld(async (world, api) => {
      await create(await newWorld(api), { slug: 'foreign.example' });
      for (const slug of ['a.example', 'c.example', 'b.example']) await create(world, { slug });
      await create(world, { slug: 'old.example', archived: true });
      jsonOf(await world.call('POST', '/domains', { slug: 'c.example', archived: true }));
      const cases = {
        '': ['b.example', 'a.example'],
        '?includeArchived=false': ['b.example', 'a.example'],
        '?includeArchived=true': ['old.example', 'b.example', 'c.example', 'a.example'],
      };
      for (const [query, slugs] of Object.entries(cases)) {
        assert.deepEqual(valuesOf(await world.call('GET', `/domains${query}`), 'slug'), slugs, query);
      }
    }),

  'lists what a creation returned': () =>
    inWorld(async (world) => {
      const domain = await create(world, { slug: 'go.example.com', expiredUrl: 'https://example.com' });
      assert.deepEqual(jsonOf(await world.call('GET', '/domains')), [domain]);
    }),

  'searches the ASCII form and the Unicode form of the slug': () =>
    inWorld(async (world) => {
      for (const slug of ['go.example', 'bücher.example', 'σας.example']) await create(world, { slug });
      await create(world, { slug: 'old.go.test', archived: true });
      const [go, books, greek] = ['go.example', 'xn--bcher-kva.example', 'xn--mxa8ab.example'];
      const cases: readonly [search: string, slugs: unknown[]][] = [
        ['go', [go]],
        ['GO.', [go]],
        ['o.e', [go]],
        ['example', [greek, books, go]],
        ['bücher', [books]],
        [' BÜCHER.Ex ', [books]],
        ['BU\u0308CHER', [books]],
        ['XN--B', [books]],
        ['bucher', []],
        ['ΣΑΣ', [greek]],
        ['σασ', [greek]],
        ['.', [greek, books, go]],
        ['%', []],
        ['.*', []],
        ['exampleb', []],
        ['', [greek, books, go]],
      ];
      for (const [search, slugs] of cases) {
        const path = `/domains?search=${encodeURIComponent(search)}`;
        assert.deepEqual(valuesOf(await world.call('GET', path), 'slug'), slugs, search);
      }
      assert.deepEqual(valuesOf(await world.call('GET', '/domains?search=go&includeArchived=true'), 'slug'), [
        'old.go.test',
        go,
      ]);
    }),
});
