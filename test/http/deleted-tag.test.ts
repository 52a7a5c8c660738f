import assert from 'node:assert/strict';
import { assertInvalidFields, assertNotFound, jsonOf } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

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
  'cannot be renamed, listed or given to a new campaign': () =>
    withDeletedTag(async ({ call, list }, { deletedTag }) => {
      assertNotFound(await call('PATCH', `/tags/${deletedTag}`, { name: 'New' }));
      assert.deepEqual(await list('/tags', 'name'), ['Hiring']);
      const body = { ...campaignBody, tagIds: [deletedTag] };
      assertInvalidFields(await call('POST', '/campaigns', body), ['tagIds.0']);
    }),

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
