import assert from 'node:assert/strict';
import { jsonOf, UNKNOWN_ID, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, withClock, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

const PATH = '/content-pillars';

suite('GET /content-pillars', {
  'lists the nine fields of each pillar of the workspace, including archived pillars': () =>
    withClock(async (fixture, _, api) => {
      await (await createFixture(api)).create(PATH, { title: 'Foreign' });
      const { id } = await fixture.create(PATH, { title: 'Life', color: 'green' });
      const at = '2026-01-31T09:00:00.000Z';
      const { workspaceId, admin } = fixture;
      const texts = { title: 'Life', description: '', color: 'green', status: 'published' };
      const pillar = { id, ...texts, authorId: admin.id, workspaceId, createdAt: at, updatedAt: at };
      assert.deepEqual(await fixture.list(PATH), [pillar]);
      assert.match(id, UUID_V7);
      const archived = jsonOf(await fixture.call('PATCH', `${PATH}/${id}`, { status: 'archived' }));
      assert.deepEqual(archived, { ...pillar, status: 'archived' });
      assert.deepEqual(await fixture.list(PATH), [archived]);
    }),

  'sorts by creation time, or by the code points of the case-folded title, and filters by IDs': () =>
    withFixture(async (fixture) => {
      const byCreation = ['b', 'Z', '😀', 'a', 'ﬀ', 'É', 'Á', '10', '9', 'Σ', 'ς', 'A B'];
      const byTitle = ['10', '9', 'a', 'A B', 'b', 'Z', 'Á', 'É', 'Σ', 'ς', 'ﬀ', '😀'];
      const ids: string[] = [];
      for (const title of byCreation) ids.push((await fixture.create(PATH, { title })).id);
      const cases: readonly [query: string, titles: readonly string[]][] = [
        ['', byCreation.toReversed()],
        ['sortBy=createdAt', byCreation.toReversed()],
        ['sortOrder=asc', byCreation],
        ['sortBy=title', byTitle.toReversed()],
        ['sortBy=title&sortOrder=asc', byTitle],
        ['sortBy=title&sortOrder=asc&page=2&pageSize=4', byTitle.slice(4, 8)],
        [`ids=${ids[1]},${ids[0]}&ids=${ids[4]}`, ['ﬀ', 'Z', 'b']],
        [`ids=${ids[1]},${ids[0]},${UNKNOWN_ID}&search=z`, ['Z']],
      ];
      for (const [query, expected] of cases) {
        assert.deepEqual(await fixture.list(`${PATH}?${query}`, 'title'), expected, query);
      }
    }),
});

suite('POST /content-pillars', {
  'creates a published pillar whose author is the member of the key': () =>
    withClock(async ({ call, admin, workspaceId }) => {
      for (const description of [undefined, '', ' People and teams ']) {
        const pillar = jsonOf(await call('POST', PATH, { title: ' Life ', color: 'green', description }), 201);
        const at = '2026-01-31T09:00:00.000Z';
        const texts = { title: 'Life', description: description?.trim() ?? '', color: 'green', status: 'published' };
        const ids = { id: pillar.id, authorId: admin.id, workspaceId };
        assert.deepEqual(pillar, { ...ids, ...texts, createdAt: at, updatedAt: at });
        assert.match(pillar.id, UUID_V7);
        assert.deepEqual(jsonOf(await call('GET', `${PATH}/${pillar.id}`)), pillar);
      }
    }),
});
