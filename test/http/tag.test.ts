import assert from 'node:assert/strict';
import {
  assertConflict,
  assertInvalidFields,
  assertNotFound,
  jsonOf,
  UNKNOWN_ID,
  UUID_V7,
} from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { textsAroundLimits } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'];

const create = async ({ call }: Fixture, name: string) => jsonOf(await call('POST', '/tags', { name }), 201);

/** Names that are equal when the case is ignored. */
const equalNames = [
  ['Launch', 'Launch'],
  ['Launch', 'LAUNCH'],
  ['Launch', ' launch\n'],
  ['Über uns', 'ÜBER UNS'],
  ['Café', 'Café'.normalize('NFD')],
  ['CAFÉ'.normalize('NFD'), 'café'],
  ['ΟΔΟΣ', 'οδος'],
  ['οδος', 'οδοσ'],
  ['Привет', 'ПРИВЕТ'],
  ['𐐀', '𐐨'],
] as const;

/** Names that look alike, but are different. */
const distinctNames = [
  ['Resume', 'Résumé'],
  ['Straße', 'STRASSE'],
  ['ı', 'I'],
  ['A B', 'A  B'],
  ['ﬁ', 'fi'],
] as const;

suite('POST /tags', {
  'creates a tag and returns its three fields': () =>
    withFixture(async ({ call }) => {
      const tag = jsonOf(await call('POST', '/tags', { name: ' Summer sale ' }), 201);
      assert.deepEqual(tag, { id: tag.id, name: 'Summer sale', color: 'red' });
      assert.match(tag.id, UUID_V7);
    }),

  'assigns the color that the workspace uses least, or the first such color on a tie': () =>
    withFixture(async (fixture, api) => {
      const other = await createFixture(api);
      for (let i = 0; i < 13; i++) {
        assert.equal((await create(fixture, `Tag ${i}`)).color, COLORS[i % 6]);
        if (i < 2) await create(other, `Tag ${i}`);
        assertConflict(await fixture.call('POST', '/tags', { name: `TAG ${i}` }));
      }
      assert.equal((await create(other, 'Third')).color, 'green');
    }),

  'accepts a name of 1 to 190 code points': () =>
    withFixture(async (_, api) => {
      const { valid, invalid } = textsAroundLimits({ min: 1, max: 190 });
      for (const name of valid) assert.equal((await create(await createFixture(api), name)).name, name.trim());
      const { call } = await createFixture(api);
      for (const name of invalid) assertInvalidFields(await call('POST', '/tags', { name }), ['name'], name);
    }),

  'rejects a missing name, a name that is not a string, and a name with a comma': () =>
    withFixture(async ({ call }) => {
      const bodies = [{}, { name: null }, { name: 1 }, { name: ['a'] }, { name: {} }, { name: 'a,b' }, { name: ',' }];
      for (const body of bodies) assertInvalidFields(await call('POST', '/tags', body), ['name'], JSON.stringify(body));
    }),

  'rejects a color and an id, because the service assigns them': () =>
    withFixture(async ({ call }) => {
      assertInvalidFields(await call('POST', '/tags', { name: 'Launch', color: 'red', id: UNKNOWN_ID }), [
        'color',
        'id',
      ]);
    }),

  'rejects the name of another tag of the workspace, ignoring case': () =>
    withFixture(async (_, api) => {
      for (const [first, second] of equalNames) {
        const fixture = await createFixture(api);
        await create(fixture, first);
        assertConflict(await fixture.call('POST', '/tags', { name: second }), second);
        await create(await createFixture(api), second);
      }
      for (const [first, second] of distinctNames) {
        const fixture = await createFixture(api);
        await create(fixture, first);
        await create(fixture, second);
      }
    }),
});

suite('PATCH /tags/{id}', {
  'renames a tag and keeps its color': () =>
    withFixture(async (fixture) => {
      await create(fixture, 'Launch');
      const tag = await create(fixture, 'Hiring');
      const path = `/tags/${tag.id.toUpperCase()}`;
      for (const name of ['Jobs', 'JOBS', 'JOBS', 'Jobs ']) {
        assert.deepEqual(jsonOf(await fixture.call('PATCH', path, { name })), { ...tag, name: name.trim() });
      }
      assert.equal((await create(fixture, 'Hiring')).color, 'green');
      assertConflict(await fixture.call('POST', '/tags', { name: 'jobs' }));
    }),

  'rejects the name of another tag, ignoring case, and changes neither tag': () =>
    withFixture(async (_, api) => {
      for (const [first, second] of equalNames) {
        const fixture = await createFixture(api);
        await create(fixture, first);
        const { id } = await create(fixture, 'Another');
        assertConflict(await fixture.call('PATCH', `/tags/${id}`, { name: second }), second);
        assertConflict(await fixture.call('POST', '/tags', { name: 'Another' }));
      }
      for (const [first, second] of distinctNames) {
        const fixture = await createFixture(api);
        await create(fixture, first);
        const { id } = await create(fixture, 'Another');
        assert.equal(jsonOf(await fixture.call('PATCH', `/tags/${id}`, { name: second })).name, second);
      }
    }),

  'requires a name of 1 to 190 code points, and accepts no other field': () =>
    withFixture(async (fixture) => {
      const path = `/tags/${(await create(fixture, 'Launch')).id}`;
      const { valid, invalid } = textsAroundLimits({ min: 1, max: 190 });
      for (const name of valid) assert.equal(jsonOf(await fixture.call('PATCH', path, { name })).name, name.trim());
      for (const name of [...invalid, 'a,b', null, 1, true, ['a'], {}]) {
        assertInvalidFields(await fixture.call('PATCH', path, { name }), ['name'], JSON.stringify(name));
      }
      assertInvalidFields(await fixture.call('PATCH', path, {}), ['name']);
      assertInvalidFields(await fixture.call('PATCH', path, { color: 'blue' }), ['color', 'name']);
    }),

  'returns 404 for an unknown id after it validates the body and before it compares the name': () =>
    withFixture(async (fixture, api) => {
      await create(fixture, 'Launch');
      const foreign = await create(await createFixture(api), 'Foreign');
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', fixture.admin.id]) {
        assertNotFound(await fixture.call('PATCH', `/tags/${id}`, { name: 'launch' }), id);
        assertInvalidFields(await fixture.call('PATCH', `/tags/${id}`, { name: '' }), ['name']);
      }
    }),
});
