import assert from 'node:assert/strict';
import type { NewApiKeyFields } from '../../core/access/api-key.ts';
import type { Member, NewMemberFields } from '../../core/member/member.ts';
import { assertConflict, assertError, assertInvalidFields, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Fixture, withClock, withFixture } from '../support/fixture.ts';
import type { Api, ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';

/** A member with a key. `share` shares a campaign as this member. */
interface Sharer {
  readonly member: Member;
  share(campaignId: string, headers?: Readonly<Record<string, string>>): Promise<ApiResponse>;
}

async function createSharer(
  { app, call }: Api,
  { workspaceId }: Fixture,
  { name = 'Ada', ...fields }: Partial<NewMemberFields> = {},
  options: NewApiKeyFields = {},
): Promise<Sharer> {
  const newMember = { name, email: `${name}@example.com`, invitation: 'accepted', ...fields } as const;
  const member = await app.members.create(workspaceId, newMember);
  const { secret: key } = await app.apiKeys.create(workspaceId, { ...options, memberId: member.id });
  return { member, share: (id, headers = {}) => call('POST', `/campaigns/${id}/shares`, { key, headers }) };
}

const readCampaign = async ({ call }: Fixture, id: string) => jsonOf(await call('GET', `/campaigns/${id}`));

suite('POST /campaigns/{id}/shares', {
  'creates the share of a member once, and returns it with 200 afterwards': () =>
    withClock(async (fixture, clock, api) => {
      const { id } = await fixture.create('/campaigns');
      const { member, share } = await createSharer(api, fixture);
      const { rewardsSpent, ...before } = jsonOf(await fixture.call('GET', `/campaigns/${id}/brief`));
      clock.now += 1000;
      const created = jsonOf(await share(id.toUpperCase()), 201);
      const createdAt = new Date(clock.now).toISOString();
      const sharer = { memberId: member.id, memberName: 'Ada' };
      assert.deepEqual(created, { campaignId: id, ...sharer, link: null, clicks: 0, rewards: '1.5', createdAt });
      clock.now += 1000;
      for (let times = 0; times < 2; times++) assert.deepEqual(jsonOf(await share(id)), created);
      assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${id}/shares`)), [created]);
      assert.equal((await readCampaign(fixture, id)).shares, 1);
      const brief = jsonOf(await fixture.call('GET', `/campaigns/${id}/brief`));
      assert.deepEqual([brief, rewardsSpent], [{ ...before, rewardsSpent: '1.5' }, '0'], 'updatedAt is unchanged');
    }),

  'rejects a campaign that is not published, but returns an existing share whatever the status is': () =>
    withFixture(async (fixture, api) => {
      const { id } = await fixture.create('/campaigns', { status: 'draft' });
      const [ada, ben] = [await createSharer(api, fixture), await createSharer(api, fixture, { name: 'Ben' })];
      assertConflict(await ada.share(id));
      await fixture.call('PATCH', `/campaigns/${id}`, { status: 'published' });
      const created = jsonOf(await ada.share(id), 201);
      await fixture.call('PATCH', `/campaigns/${id}`, { status: 'archived' });
      assert.deepEqual(jsonOf(await ada.share(id)), created);
      assertError(await ben.share(id), 409, /^The campaign is archived\. Share a published campaign/);
      assert.deepEqual([(await readCampaign(fixture, id)).shares], [1]);
    }),
});

/** Runs a test with a campaign that five members have shared, one second apart, and another shared campaign. */
function withShares(test: (fixture: Fixture, path: string, sharers: readonly Sharer[], api: Api) => Promise<void>) {
  return withClock(async (fixture, clock, api) => {
    const [{ id }, other] = [await fixture.create('/campaigns'), await fixture.create('/campaigns')];
    const sharers: Sharer[] = [];
    for (const name of ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve']) {
      const sharer = await createSharer(api, fixture, { name });
      for (const campaignId of [id, other.id]) jsonOf(await sharer.share(campaignId), 201);
      sharers.push(sharer);
      clock.now += 1000;
    }
    await test(fixture, `/campaigns/${id}/shares`, sharers, api);
  });
}

suite('GET /campaigns/{id}/shares', {
  'lists the shares of the campaign, newest first by default': () =>
    withShares(async ({ list }, path) => {
      const newest = ['Eve', 'Dan', 'Cleo', 'Ben', 'Ada'];
      assert.deepEqual(await list(path, 'memberName'), newest);
      assert.deepEqual(await list(`${path}?sortOrder=asc`, 'memberName'), newest.toReversed());
      assert.deepEqual(await list(`${path}?sortBy=createdAt&pageSize=2&page=2`, 'memberName'), ['Cleo', 'Ben']);
      const ids = (await list(`${path}?sortBy=clicks`)).map(({ memberId }: { memberId: string }) => memberId);
      assert.deepEqual(ids, ids.toSorted().toReversed(), 'equal shares are in the order of their IDs');
      assert.deepEqual(await list(`${path}?sortBy=clicks&sortOrder=asc`, 'memberId'), ids.toReversed());
    }),

  'filters by a member, and shows the current name of the member': () =>
    withShares(async ({ workspaceId, list, call }, path, [ada, ben], api) => {
      const [first, second] = [ada?.member.id as string, ben?.member.id as string];
      await api.app.members.update(workspaceId, first, { name: 'Ada King' });
      for (const id of [first, first.toUpperCase()]) {
        assert.deepEqual(await list(`${path}?memberId=${id}`, 'memberName'), ['Ada King']);
      }
      assert.deepEqual(await list(`${path}?memberId=${second}&sortBy=clicks`, 'memberName'), ['Ben']);
      assert.deepEqual(await list(`${path}?memberId=${UNKNOWN_ID}`), []);
      assertInvalidFields(await call('GET', `${path}?memberId=x&pageSize=101`), ['memberId', 'pageSize']);
    }),

  'links to other pages with the ID of the campaign in lower case, even if it was sent in upper case': () =>
    withShares(async ({ call }, path) => {
      const response = await call(
        'GET',
        `${path.toUpperCase().replace('/CAMPAIGNS', '/campaigns').replace('/SHARES', '/shares')}?pageSize=2&page=2`,
      );
      assert.equal(
        response.headers.get('Link'),
        `<${path}?pageSize=2&page=3>; rel="next", <${path}?pageSize=2&page=1>; rel="prev"`,
      );
      assert.equal((await call('GET', `${path}?pageSize=5`)).headers.get('Link'), null);
    }),
});
