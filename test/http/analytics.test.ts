import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertError, assertInvalidFields, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Creates a campaign that the admin and another member share. Returns the IDs of the campaign and the other member. */
async function createShares({ app }: Api, { create, workspaceId, admin }: Fixture, fields: object = {}) {
  const { id } = await create('/campaigns', fields);
  const ben = await app.members.create(workspaceId, { name: 'Ben', email: `${id}@example.com` });
  for (const member of [admin, ben]) await app.shares.create({ workspaceId, member }, id);
  return { campaignId: id, memberId: ben.id };
}

const toFigures = ({ key, name, shares, clicks }: Record<string, unknown>) => [name || key, shares, clicks];

suite('GET /analytics', {
  'returns the shares, clicks and rewards of the last 30 days by default, by day': () => {
    const clock = { now: Date.parse('2026-01-31T09:00:00Z') };
    // The day is that of the storage, and MongoDB has a clock of its own.
    const settings: Record<string, string> = process.env.TEST_STORAGE === 'mongodb' ? { STORAGE: 'memory' } : {};
    const test = async (fixture: Fixture, api: Api) => {
      await createShares(api, fixture);
      clock.now += DAY_MS;
      const amounts = { shareRewardAmount: '2.5', clickRewardAmount: 0.1 };
      const { campaignId, memberId } = await createShares(api, fixture, { name: 'Spring', ...amounts });
      const clicks = [{ campaignId, memberId, count: 3 }];
      await api.app.shares.addClicks({ workspaceId: fixture.workspaceId, processId: 'test', sequence: 1, clicks });
      const days = await fixture.list('/analytics');
      assert.equal(days.length, 30);
      assert.deepEqual(days[0], { key: '2026-01-03', name: '', shares: 0, clicks: 0, rewards: '0' });
      assert.deepEqual(days.slice(-2).map(toFigures), [
        ['2026-01-31', 2, 0],
        ['2026-02-01', 2, 3],
      ]);
      assert.deepEqual((await fixture.list('/analytics?groupBy=total')).map(toFigures), [['', 4, 3]]);
      const members = await fixture.list('/analytics?groupBy=member&from=2026-02-01');
      assert.deepEqual(members.map(toFigures), [
        ['Ben', 1, 3],
        ['northwind', 1, 0],
      ]);
      assert.equal(members[0].key, memberId);
      const campaigns = await fixture.list('/analytics?groupBy=campaign&from=2026-02-01');
      assert.deepEqual(campaigns, [{ key: campaignId, name: 'Spring', shares: 2, clicks: 3, rewards: '5.3' }]);
      const future = ['2026-02-01', '2026-02-02', '2026-02-03'];
      assert.deepEqual(await fixture.list('/analytics?from=2026-02-01&to=2026-02-03', 'key'), future);
    };
    return withFixture(test, { settings, now: () => clock.now });
  },

  'links to the next and the previous page, with all parameters': () =>
    withFixture(async (fixture, api) => {
      await createShares(api, fixture);
      const query = 'groupBy=member&sortBy=key&pageSize=1';
      const first = await fixture.call('GET', `/analytics?${query}`);
      assert.equal(first.headers.get('Link'), `</analytics?${query}&page=2>; rel="next"`);
      const second = await fixture.call('GET', `/analytics?${query}&page=2`);
      assert.equal(second.headers.get('Link'), `</analytics?${query}&page=1>; rel="prev"`);
      const keys = [...jsonOf(first), ...jsonOf(second)].map(({ key }) => key);
      assert.deepEqual(keys, keys.toSorted());
      assert.equal((await fixture.call('GET', '/analytics?from=2026-01-01&to=2026-12-31')).headers.get('Link'), null);
    }),

  'can be read with every key of the workspace': () =>
    withFixture(async ({ workspaceId }, api) => {
      for (const options of [{ access: 'read', member: { role: 'member' } } as const, { access: 'read' } as const]) {
        const key = await createKey(api, workspaceId, options);
        jsonOf(await api.call('GET', '/analytics?groupBy=member', { key }));
      }
    }),

  'accepts the largest range and page, and IDs in any case, and finds nothing for unknown IDs': () =>
    withFixture(async (fixture, api) => {
      const { campaignId } = await createShares(api, fixture);
      const year = await fixture.list('/analytics?from=2024-01-01&to=2024-12-31&pageSize=366', 'key');
      assert.deepEqual([year.length, year[59], year[365]], [366, '2024-02-29', '2024-12-31']);
      assert.deepEqual(
        await fixture.list(`/analytics?groupBy=total&campaignIds=${campaignId.toUpperCase()}`, 'shares'),
        [2],
      );
      for (const name of ['campaignIds', 'memberIds', 'groupIds', 'tagIds']) {
        assert.deepEqual(await fixture.list(`/analytics?groupBy=campaign&${name}=${UNKNOWN_ID}`), []);
        assert.deepEqual(await fixture.list(`/analytics?groupBy=total&${name}=${UNKNOWN_ID}`, 'shares'), [0]);
      }
    }),

  'rejects invalid parameters, and names each of them': () =>
    withFixture(async ({ call }) => {
      const invalid: Readonly<Record<string, readonly string[]>> = {
        'groupBy=week': ['groupBy'],
        'groupBy=day&groupBy=tag': ['groupBy'],
        'from=2026-02-30': ['from'],
        'from=2026-01-01T00:00:00Z': ['from'],
        'from=': ['from'],
        'to=0000-01-01': ['to'],
        'to=2026-1-01': ['to'],
        'from=2026-01-01&from=2026-01-01': ['from'],
        'from=2026-01-02&to=2026-01-01': ['to'],
        'from=2024-01-01&to=2025-01-01': ['to'],
        'from=2999-01-01': ['to'],
        'from=2020-01-01': ['to'],
        'from=2026-01-02&to=2026-01-01&page=0&sortBy=name': ['sortBy', 'page', 'to'],
        'from=2026-02-31&to=2026-01-01': ['from'],
        'campaignIds=x': ['campaignIds.0'],
        'memberIds=x&groupIds=y&tagIds=z': ['memberIds.0', 'groupIds.0', 'tagIds.0'],
        'sortBy=name': ['sortBy'],
        'sortOrder=up': ['sortOrder'],
        'pageSize=367': ['pageSize'],
        'pageSize=0': ['pageSize'],
        'unit=day': ['unit'],
      };
      await each(invalid, async (fields, query) =>
        assertInvalidFields(await call('GET', `/analytics?${query}`), fields),
      );
      const message = /^to: must not be before from, or more than 365 days after it$/;
      assertError(await call('GET', '/analytics?from=2026-01-02&to=2026-01-01'), 422, message);
    }),
});
