import assert from 'node:assert/strict';
import { assertError, assertInvalidFields, jsonOf, UNKNOWN_ID, UUID_V7 } from '../support/expected-responses.ts';
import { withClock, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

const PATH = '/content-pillars';

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

  'returns 403 if the key does not belong to a member': () =>
    withFixture(async ({ workspaceId }, api) => {
      const key = await createKey(api, workspaceId);
      const body = { title: 'Life', color: 'red' };
      assertError(await api.call('POST', PATH, { key, body }), 403, /does not belong to a member/);
    }),

  'accepts neither a status nor an author': () =>
    withFixture(async ({ call }) => {
      const others = { status: 'archived', authorId: UNKNOWN_ID };
      assertInvalidFields(await call('POST', PATH, { title: 'Life', color: 'red', ...others }), Object.keys(others));
    }),
});
