import assert from 'node:assert/strict';
import { assertConflict, jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withClock, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

const PATH = '/domains';
const ALL = `${PATH}?includeArchived=true`;
const SLUG = 'go.example.com';

const post = ({ call }: Fixture, slug: string, fields: object = {}) => call('POST', PATH, { slug, ...fields });

suite('POST /domains', {
  'creates a domain and returns its ten fields, with their defaults': () =>
    withClock(async (fixture) => {
      const domain = jsonOf(await post(fixture, SLUG), 201);
      const at = '2026-01-31T09:00:00.000Z';
      const generated = { id: domain.id, createdAt: at, updatedAt: at };
      const flags = { verified: false, primary: true, archived: false };
      const urls = { placeholder: `https://${SLUG}/your-link`, expiredUrl: '', notFoundUrl: '' };
      assert.deepEqual(domain, { ...generated, slug: SLUG, ...flags, ...urls });
      assert.match(domain.id, UUID_V7);
      const sent = { archived: true, placeholder: 'https://a.b/c', expiredUrl: 'https://example.com/expired' };
      const archived = jsonOf(await post(fixture, 'old.example.com', sent), 201);
      assert.deepEqual(archived, { ...domain, id: archived.id, slug: 'old.example.com', primary: false, ...sent });
      assert.deepEqual(await fixture.list(PATH), [domain]);
      assert.deepEqual(await fixture.list(`${PATH}?includeArchived=false`), [domain]);
      assert.deepEqual(await fixture.list(ALL), [archived, domain]);
    }),

  'rejects any spelling of an existing slug, unless the body contains `archived`': () =>
    withFixture(async (fixture) => {
      const { id } = jsonOf(await post(fixture, 'bücher.example'), 201);
      for (const slug of ['BÜCHER.example.', 'xn--bcher-kva.example', ' Bu\u0308cher.example']) {
        assertConflict(await post(fixture, slug, { expiredUrl: 'https://example.com' }), slug);
        for (const archived of [true, false]) assert.equal(jsonOf(await post(fixture, slug, { archived })).id, id);
      }
      assert.deepEqual(await fixture.list(ALL, 'slug'), ['xn--bcher-kva.example']);
      assert.deepEqual(await fixture.list(ALL, 'expiredUrl'), ['']);
    }),

  'archives or unarchives an existing domain if necessary, and updates its other fields': () =>
    withClock(async (fixture, clock) => {
      let domain = jsonOf(await post(fixture, SLUG), 201);
      const [expiredUrl, placeholder] = ['https://example.com/expired', 'https://go.example.com/summer'];
      const steps: readonly [fields: object, isChanged: boolean][] = [
        [{ archived: false }, false],
        [{ archived: true }, true],
        [{ archived: true, expiredUrl }, true],
        [{ archived: true, expiredUrl }, false],
        [{ archived: false, placeholder }, true],
        [{ archived: false, placeholder: '', expiredUrl: '' }, true],
      ];
      for (const [fields, isChanged] of steps) {
        clock.now += 1000;
        const updatedAt = isChanged ? new Date(clock.now).toISOString() : domain.updatedAt;
        const expected = { ...domain, ...fields, updatedAt };
        domain = jsonOf(await post(fixture, SLUG, fields));
        assert.deepEqual(domain, { ...expected, primary: !domain.archived }, JSON.stringify(fields));
      }
    }),

  'marks as primary the domain that has been live for the longest time, and shows which domains are verified': () =>
    withClock(async (fixture, clock, { app }) => {
      const steps: readonly [slug: string, archived: boolean, primary: string[]][] = [
        ['a.example', true, []],
        ['b.example', false, ['b.example']],
        ['c.example', false, ['b.example']],
        ['b.example', true, ['c.example']],
        ['b.example', false, ['c.example']],
      ];
      for (const [slug, archived, primary] of steps) {
        clock.now += 1000;
        const { json } = await post(fixture, slug, { archived });
        const isPrimary = ({ primary }: { primary: boolean }) => primary;
        const primaries = (await fixture.list(ALL)).filter(isPrimary).map((it: { slug: string }) => it.slug);
        assert.deepEqual(primaries, primary, slug);
        assert.equal(json.primary, primary.includes(slug));
      }
      const [{ id, slug }] = await fixture.list(PATH);
      await app.domains.markVerified(fixture.workspaceId, id);
      assert.equal(jsonOf(await post(fixture, slug, { archived: false })).verified, true);
      assert.deepEqual(await fixture.list(PATH, 'verified'), [true, false]);
    }),

  'rejects creating or unarchiving a domain if another workspace has a live, verified domain with the same slug': () =>
    withFixture(async (first, api) => {
      const second = await createFixture(api);
      const { id } = jsonOf(await post(first, SLUG), 201);
      // An unverified domain does not block another one.
      jsonOf(await post(second, SLUG), 201);
      jsonOf(await post(second, SLUG, { archived: true }));
      await api.app.domains.markVerified(first.workspaceId, id);
      assertConflict(await post(second, SLUG, { archived: false }));
      for (const archived of [undefined, false, true]) {
        assertConflict(await post(await createFixture(api), SLUG, { archived }));
      }
      jsonOf(await post(first, SLUG, { archived: true }));
      jsonOf(await post(second, SLUG, { archived: false }));
    }),
});
