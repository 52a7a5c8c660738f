import assert from 'node:assert/strict';
import { assertConflict, jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

const COLORS = ['red', 'yellow', 'green', 'blue', 'purple', 'brown'];

const create = async ({ call }: Fixture, name: string) => jsonOf(await call('POST', '/tags', { name }), 201);

/**
 * Names that are equal when the case is ignored, and names that only look alike. test/core tests how names are
 * compared.
 */
const equalNames = ['Über uns', ' ÜBER UNS\n'.normalize('NFD')] as const;
const distinctNames = ['Uber uns', 'Über  uns'] as const;

suite('POST /tags', {
  'creates a tag and returns its three fields, with the color that the workspace uses least': () =>
    withFixture(async (fixture, api) => {
      for (let i = 0; i < 13; i++) {
        const tag = await create(fixture, ` Tag ${i} `);
        assert.deepEqual(tag, { id: tag.id, name: `Tag ${i}`, color: COLORS[i % 6] });
        assert.match(tag.id, UUID_V7);
        assertConflict(await fixture.call('POST', '/tags', { name: `TAG ${i}` }));
      }
      assert.equal((await create(await createFixture(api), 'First')).color, 'red');
    }),

  'rejects the name of another tag of the workspace, ignoring case': () =>
    withFixture(async (fixture, api) => {
      const [name, equal] = equalNames;
      await create(fixture, name);
      assertConflict(await fixture.call('POST', '/tags', { name: equal }));
      for (const distinct of distinctNames) await create(fixture, distinct);
      await create(await createFixture(api), equal);
    }),
});

suite('PATCH /tags/{id}', {
  'renames a tag and keeps its color, and rejects the name of another tag': () =>
    withFixture(async (fixture) => {
      const [name, equal] = equalNames;
      await create(fixture, name);
      const tag = await create(fixture, 'Hiring');
      const rename = (newName: string) => fixture.call('PATCH', `/tags/${tag.id}`, { name: newName });
      for (const newName of ['Jobs', 'JOBS', 'JOBS', 'Jobs ', ...distinctNames]) {
        assert.deepEqual(jsonOf(await rename(newName)), { ...tag, name: newName.trim() });
        assertConflict(await rename(equal));
        assertConflict(await fixture.call('POST', '/tags', { name: newName.toUpperCase() }));
      }
      await create(fixture, 'Hiring');
    }),
});

interface Ids {
  readonly campaign: string;
  readonly deletedTag: string;
  readonly otherTag: string;
}

/** Runs a test with a campaign that has a deleted tag and another tag. */
function withDeletedTag(test: (fixture: Fixture, ids: Ids) => Promise<void>): Promise<void> {
  return withFixture(async (fixture) => {
    const { id: deletedTag } = await fixture.create('/tags', { name: 'Launch' });
    const { id: otherTag } = await fixture.create('/tags', { name: 'Hiring' });
    const { id: campaign } = await fixture.create('/campaigns', { tagIds: [deletedTag, otherTag] });
    assert.deepEqual(jsonOf(await fixture.call('DELETE', `/tags/${deletedTag.toUpperCase()}`)), { id: deletedTag });
    await test(fixture, { campaign, deletedTag, otherTag });
  });
}

suite('a deleted tag', {
  'finds no campaigns as a filter, but its campaigns stay in other lists': () =>
    withDeletedTag(async ({ list }, { campaign, deletedTag, otherTag }) => {
      for (const query of [`tagIds=${deletedTag}`, 'tagNames=launch', `tagIds=${otherTag}&tagNames=launch`]) {
        assert.deepEqual(await list(`/campaigns?${query}`), [], query);
      }
      for (const query of ['', `tagIds=${otherTag}`, `tagIds=${deletedTag},${otherTag}`, 'tagNames=launch,hiring']) {
        assert.deepEqual(await list(`/campaigns?${query}`, 'id'), [campaign], query);
      }
    }),

  'frees its name and its color for a new tag, which no campaign has': () =>
    withDeletedTag(async ({ create, list }, { deletedTag }) => {
      const tag = await create('/tags', { name: 'LAUNCH' });
      assert.notEqual(tag.id, deletedTag);
      assert.equal(tag.color, 'red');
      for (const query of [`tagIds=${tag.id}`, 'tagNames=launch'])
        assert.deepEqual(await list(`/campaigns?${query}`), []);
    }),
});
