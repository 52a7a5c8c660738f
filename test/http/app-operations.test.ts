import assert from 'node:assert/strict';
import { assertConflict, assertError, assertInvalidFields, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

/** Creates a member in the groups, and returns a function that reads the names of the campaigns of a list as them. */
async function createReader(api: Api, { workspaceId }: Fixture, groups: readonly string[]) {
  const key = await createKey(api, workspaceId, { access: 'read', member: { role: 'member', groups } });
  return async (path: string, field = 'name') =>
    jsonOf(await api.call('GET', path, { key })).map((record: Record<string, unknown>) => record[field]);
}

suite('GET /campaigns', {
  'filters by status, and includes archived campaigns if `status` contains `archived`': () =>
    withFixture(async ({ create, list, call }) => {
      for (const status of ['draft', 'published', 'archived']) await create('/campaigns', { name: status, status });
      assert.deepEqual(await list('/campaigns?status=draft', 'name'), ['draft']);
      assert.deepEqual(await list('/campaigns?status=archived,draft', 'name'), ['archived', 'draft']);
      assert.deepEqual(await list('/campaigns?status=published&includeArchived=true', 'name'), ['published']);
      assertInvalidFields(await call('GET', '/campaigns?status=draft,Draft'), ['status.1']);
    }),

  'filters by groups and by availability, until a group is deleted': () =>
    withFixture(async (fixture, api) => {
      const { create, list, call } = fixture;
      const [one, other] = [await create('/groups', { name: 'One' }), await create('/groups', { name: 'Other' })];
      const campaigns = {
        all: {},
        one: { groupIds: [one.id] },
        other: { groupIds: [other.id] },
        draft: { status: 'draft' },
        upcoming: { startDate: '2099-01-01' },
        ended: { endDate: '2026-01-02' },
      };
      for (const [name, fields] of Object.entries(campaigns)) await create('/campaigns', { name, ...fields });
      const read = await createReader(api, fixture, [one.id]);
      const available = '/campaigns?availableToMe=true';
      assert.deepEqual(await list(`/campaigns?groupIds=${one.id},${other.id}`, 'name'), ['other', 'one']);
      assert.deepEqual(await read(available), ['one', 'all']);
      assert.deepEqual(await list(available, 'name'), ['all']);
      assert.equal((await list('/campaigns?availableToMe=false')).length, 6);
      const question = await create('/inspiration-questions', { groups: [one.id] });
      assert.deepEqual(await read('/inspiration-questions?availableToMe=true', 'id'), [question.id]);

      assert.deepEqual(jsonOf(await call('DELETE', `/groups/${one.id}`)), { id: one.id });
      assert.deepEqual(await read(available), ['all']);
      assert.deepEqual(await list(`/campaigns?groupIds=${one.id}`), []);
      assert.deepEqual(await read('/inspiration-questions?availableToMe=true'), []);
      assert.deepEqual(await list(`/inspiration-questions?groupIds=${one.id}`), []);
      const path = `/inspiration-questions/${question.id}`;
      assert.deepEqual(jsonOf(await call('GET', path)), question);
      assert.deepEqual(jsonOf(await call('PATCH', path, { groups: [one.id] })), question);
      assert.deepEqual(await list('/groups', 'name'), ['Other']);
      await create('/groups', { name: 'ONE' });
      assertError(await call('DELETE', `/groups/${one.id}`), 404);
    }),
});

suite('GET /briefs', {
  'returns briefs in the order of the IDs, without unknown IDs and duplicates': () =>
    withFixture(async ({ create, call, list }) => {
      const [group, tag] = [await create('/groups'), await create('/tags')];
      const first = await create('/campaigns', { groupIds: [group.id], tagIds: [tag.id] });
      const second = await create('/campaigns');
      const ids = [second.id, UNKNOWN_ID, first.id, second.id.toUpperCase()];
      const briefs = await list(`/briefs?campaignIds=${ids}`);
      const expected = [];
      for (const { id } of [second, first]) expected.push(jsonOf(await call('GET', `/campaigns/${id}/brief`)));
      assert.deepEqual(briefs, expected);
      await call('DELETE', `/groups/${group.id}`);
      assert.deepEqual((await list(`/briefs?campaignIds=${first.id}`))[0].groups, []);
      const many = Array.from({ length: 26 }, (_, i) => UNKNOWN_ID.slice(0, -2) + (10 + i));
      assert.deepEqual(await list(`/briefs?campaignIds=${many.slice(1)}`), []);
      assertInvalidFields(await call('GET', `/briefs?campaignIds=${many}`), ['campaignIds']);
      assertInvalidFields(await call('GET', '/briefs'), ['campaignIds']);
    }),
});

suite('GET /me/shares', {
  'lists the shares of the member over all campaigns, also with a read key': () =>
    withFixture(async (fixture, api) => {
      const { workspaceId, admin, create, call, list } = fixture;
      const [one, two] = [await create('/campaigns', { name: 'One' }), await create('/campaigns', { name: 'Two' })];
      const shares = [];
      for (const { id } of [one, two]) shares.unshift(jsonOf(await call('POST', `/campaigns/${id}/shares`), 201));
      jsonOf(await call('PATCH', `/campaigns/${one.id}`, { status: 'archived' }));
      const [second, first] = shares;
      const expected = [
        { ...second, campaignName: 'Two', campaignStatus: 'published' },
        { ...first, campaignName: 'One', campaignStatus: 'archived' },
      ];
      assert.deepEqual(await list('/me/shares'), expected);
      assert.deepEqual(await list('/me/shares?sortOrder=asc&pageSize=1&page=2'), expected.slice(0, 1));
      const { secret } = await api.app.apiKeys.create(workspaceId, { memberId: admin.id, access: 'read' });
      assert.deepEqual(jsonOf(await api.call('GET', '/me/shares', { key: secret })), expected);
      const keyWithoutMember = await createKey(api, workspaceId);
      assertError(await api.call('GET', '/me/shares', { key: keyWithoutMember }), 403);
    }),
});

suite('DELETE /campaigns/{id}', {
  'deletes only a draft': () =>
    withFixture(async ({ create, call }) => {
      for (const status of ['published', 'archived']) {
        assertConflict(await call('DELETE', `/campaigns/${(await create('/campaigns', { status })).id}`));
      }
      const { id } = await create('/campaigns', { status: 'draft' });
      assert.deepEqual(jsonOf(await call('DELETE', `/campaigns/${id}`)), { id });
      assertError(await call('GET', `/campaigns/${id}`), 404);
    }),
});
