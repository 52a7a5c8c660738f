import assert from 'node:assert/strict';
import { assertConflict, assertInvalidFields, fieldValuesOf, jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { invalidUrls, validUrls } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const TEN = Date.parse('2026-01-31T10:00:00Z');

const create = async ({ call }: Fixture, body: object) => jsonOf(await call('POST', '/domains', body), 201);
/** Returns a slug whose labels have these lengths. */
const createSlug = (...lengths: number[]) => lengths.map((length) => 'a'.repeat(length)).join('.');

suite('POST /domains', {
  'creates a domain and returns its ten fields, with their defaults': () =>
    withFixture(
      async (fixture) => {
        const domain = await create(fixture, { slug: 'go.example.com' });
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
        const archived = await create(fixture, {
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
        const { archived: flag } = await create(fixture, { slug: 'new.example.com', archived: false });
        assert.equal(flag, false);
      },
      { now: () => NINE },
    ),

  'stores a slug in its normal form': () =>
    withFixture(async (fixture) => {
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
        [createSlug(63, 2)]: createSlug(63, 2),
        [createSlug(63, 63, 62)]: createSlug(63, 63, 62),
        [`${createSlug(62, 63, 63)}.`]: createSlug(62, 63, 63),
      };
      for (const [sent, slug] of Object.entries(forms))
        assert.equal((await create(fixture, { slug: sent })).slug, slug);
    }),

  'rejects invalid slugs': () =>
    withFixture(async ({ call }) => {
      const invalidSlugs = [
        ...['', ' ', '.', 'example', 'example.', '.example.com', 'go..example.com', 'example.com..'],
        ...['https://example.com', 'example.com/', 'example.com/path', 'example.com:443', 'kim@example.com', '//a.b'],
        ...['127.0.0.1', '[::1]', '0x7f.1', '1.2', '256.256.256.256', 'example.123', '１.２.３.４'],
        ...['www.example.com', 'WWW.Example.com', ' www.example.com', 'ｗww.example.com', 'www.com'],
        ...['-a.example', 'a-.example', 'a.-b', 'a_b.example', 'a b.example', 'a*b.example', 'a%2e.example', 'a\\b.c'],
        ...['a?b.example', 'a#b.example', 'a\0b.example', 'a\ud800.example', 'a😀\u200d.example', 'xn--a.example'],
        ...['a／b.example', '℀.example', createSlug(64, 2), createSlug(63, 63, 63), `${'ü'.repeat(60)}.example`],
        ...[null, 1, true, ['a.b'], { a: 'b' }],
      ];
      for (const slug of invalidSlugs)
        assertInvalidFields(await call('POST', '/domains', { slug }), ['slug'], JSON.stringify(slug));
      assert.deepEqual(jsonOf(await call('GET', '/domains?includeArchived=true')), []);
    }),

  'accepts only http and https URLs and empty texts as placeholder and expiredUrl': () =>
    withFixture(async (fixture) => {
      await create(fixture, { slug: 'go.example.com' });
      const send = (field: string, value: unknown) =>
        fixture.call('POST', '/domains', { slug: 'go.example.com', archived: false, [field]: value });
      for (const field of ['placeholder', 'expiredUrl']) {
        for (const url of [...validUrls, '', ' ']) assert.equal(jsonOf(await send(field, url))[field], url.trim());
        for (const url of [...invalidUrls, null, 1, [], {}]) {
          assertInvalidFields(await send(field, url), [field], JSON.stringify(url));
        }
      }
    }),

  'names every field that is missing, invalid or unknown': () =>
    withFixture(async ({ call }) => {
      const wrong = { archived: 'true', placeholder: 1, expiredUrl: 'example.com' };
      const cases: readonly [body: object, invalidFields: string[]][] = [
        [{}, ['slug']],
        [wrong, ['slug', 'expiredUrl', 'archived', 'placeholder']],
        [{ slug: 'a.b', archived: null }, ['archived']],
        [{ slug: 'a.b', archived: 0 }, ['archived']],
        [{ slug: 'a.b', notFoundUrl: '', verified: true, primary: true }, ['notFoundUrl', 'verified', 'primary']],
      ];
      for (const [body, invalidFields] of cases)
        assertInvalidFields(await call('POST', '/domains', body), invalidFields);
    }),

  'rejects any spelling of an existing slug, unless archived is sent': () =>
    withFixture(async (fixture) => {
      const { id } = await create(fixture, { slug: 'bücher.example' });
      for (const slug of ['bücher.example', 'BÜCHER.example.', 'xn--bcher-kva.example']) {
        assertConflict(await fixture.call('POST', '/domains', { slug, expiredUrl: 'https://example.com' }), slug);
        assert.equal(jsonOf(await fixture.call('POST', '/domains', { slug, archived: true })).id, id);
        assertConflict(await fixture.call('POST', '/domains', { slug }), slug);
        assert.equal(jsonOf(await fixture.call('POST', '/domains', { slug, archived: false })).id, id);
      }
      assert.deepEqual(fieldValuesOf(await fixture.call('GET', '/domains?includeArchived=true'), 'expiredUrl'), ['']);
    }),

  'archives or unarchives an existing domain if necessary, and updates its other fields': async () => {
    let now = NINE;
    await withFixture(
      async (fixture) => {
        const slug = 'go.example.com';
        let domain = await create(fixture, { slug });
        const expiredUrl = 'https://example.com/expired';
        const placeholder = 'https://go.example.com/summer';
        const steps: readonly [fields: object, isChanged: boolean][] = [
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
        for (const [fields, isChanged] of steps) {
          now += 1000;
          const updatedAt = isChanged ? new Date(now).toISOString() : domain.updatedAt;
          const expected = { ...domain, ...fields, updatedAt };
          domain = jsonOf(await fixture.call('POST', '/domains', { slug, ...fields }));
          assert.deepEqual(domain, { ...expected, primary: !domain.archived }, JSON.stringify(fields));
        }
      },
      { now: () => now },
    );
  },

  'marks as primary the domain that has been live (not archived) for the longest time': async () => {
    let now = NINE;
    await withFixture(
      async (fixture, api) => {
        await create(await createFixture(api), { slug: 'foreign.example' });
        now = TEN;
        const post = async (slug: string, archived: boolean) => {
          now += 1000;
          const domain = await fixture.call('POST', '/domains', { slug, archived });
          const list = jsonOf(await fixture.call('GET', '/domains?includeArchived=true'));
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

  'marks as primary the domain with the smaller id if two have been live since the same moment': () =>
    withFixture(
      async (fixture) => {
        for (const slug of ['b.example', 'a.example']) await create(fixture, { slug });
        for (const archived of [true, false]) await fixture.call('POST', '/domains', { slug: 'b.example', archived });
        const list = jsonOf(await fixture.call('GET', '/domains'));
        const flags = list.map(({ slug, primary }: Record<string, unknown>) => [slug, primary]);
        assert.deepEqual(flags, [
          ['a.example', false],
          ['b.example', true],
        ]);
      },
      { now: () => NINE },
    ),

  'shows that a domain is verified, even after it was archived and unarchived': () =>
    withFixture(async (fixture, api) => {
      const { id, ...domain } = await create(fixture, { slug: 'go.example.com' });
      assert.equal(domain.verified, false);
      await api.app.domains.verify(fixture.workspaceId, id);
      for (const archived of [false, true, false]) {
        const { verified } = jsonOf(await fixture.call('POST', '/domains', { slug: domain.slug, archived }));
        assert.equal(verified, true);
      }
      assert.deepEqual(fieldValuesOf(await fixture.call('GET', '/domains'), 'verified'), [true]);
    }),

  'rejects creating or unarchiving a domain if another workspace has a live, verified domain with its slug': () =>
    withFixture(async (first, api) => {
      const { domains } = api.app;
      const slug = 'go.example.com';
      const second = await createFixture(api);
      const third = await createFixture(api);
      const post = ({ call }: Fixture, archived?: boolean) => call('POST', '/domains', { slug, archived });

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
      assert.deepEqual(fieldValuesOf(await second.call('GET', '/domains?includeArchived=true'), 'archived'), [true]);
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
  'lists the live domains of the workspace, newest first, and archived domains only with includeArchived': () =>
    withFixture(async (fixture, api) => {
      await create(await createFixture(api), { slug: 'foreign.example' });
      for (const slug of ['a.example', 'c.example', 'b.example']) await create(fixture, { slug });
      await create(fixture, { slug: 'old.example', archived: true });
      jsonOf(await fixture.call('POST', '/domains', { slug: 'c.example', archived: true }));
      const cases = {
        '': ['b.example', 'a.example'],
        '?includeArchived=false': ['b.example', 'a.example'],
        '?includeArchived=true': ['old.example', 'b.example', 'c.example', 'a.example'],
      };
      for (const [query, slugs] of Object.entries(cases)) {
        assert.deepEqual(fieldValuesOf(await fixture.call('GET', `/domains${query}`), 'slug'), slugs, query);
      }
    }),

  'returns the same fields as POST /domains': () =>
    withFixture(async (fixture) => {
      const domain = await create(fixture, { slug: 'go.example.com', expiredUrl: 'https://example.com' });
      assert.deepEqual(jsonOf(await fixture.call('GET', '/domains')), [domain]);
    }),

  'searches the ASCII form and the Unicode form of the slug': () =>
    withFixture(async (fixture) => {
      for (const slug of ['go.example', 'bücher.example', 'σας.example']) await create(fixture, { slug });
      await create(fixture, { slug: 'old.go.test', archived: true });
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
        assert.deepEqual(fieldValuesOf(await fixture.call('GET', path), 'slug'), slugs, search);
      }
      assert.deepEqual(fieldValuesOf(await fixture.call('GET', '/domains?search=go&includeArchived=true'), 'slug'), [
        'old.go.test',
        go,
      ]);
    }),
});
