import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { each } from '../support/each.ts';
import {
  assertConflict,
  assertError,
  assertInvalidFields,
  fieldValuesOf,
  jsonOf,
  UNKNOWN_ID,
} from '../support/expected-responses.ts';
import { createFixture, withFixture } from '../support/fixture.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const DAY_MS = 24 * 60 * 60_000;
const FIELDS = [
  ...['id', 'name', 'email', 'role', 'seatType', 'groups', 'invitation', 'invitationExpiresAt'],
  ...['createdAt', 'updatedAt'],
];
const ADA = { name: 'Ada', email: 'ada@x.example' };
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const dayIn = (days: number) => inDays(days).slice(0, 'YYYY-MM-DD'.length);

suite('POST /members', {
  'creates a member with the documented defaults, and an invitation for 14 days': () =>
    withFixture(async ({ call }) => {
      const member = jsonOf(await call('POST', '/members', { name: ' Ada ', email: '\tAda@X.example ' }), 201);
      const { id, createdAt, updatedAt, ...others } = member;
      assert.deepEqual(Object.keys(member), FIELDS);
      assert.equal(updatedAt, createdAt);
      assert.deepEqual(others, {
        ...{ name: 'Ada', email: 'Ada@X.example', role: 'member', seatType: 'advocate', groups: [] },
        invitation: 'pending',
        invitationExpiresAt: new Date(Date.parse(createdAt) + 14 * DAY_MS).toISOString(),
      });
      assert.deepEqual(jsonOf(await call('GET', `/members/${id}`)), member);
      const accepted = { name: 'Ben', email: 'ben@x.example', invitation: 'accepted', role: 'admin' };
      assert.equal(jsonOf(await call('POST', '/members', accepted), 201).invitationExpiresAt, null);
    }),

  'takes the expiry of the invitation as a date or a date-time, and returns it as a timestamp': () =>
    withFixture(async ({ create }) => {
      const [time] = inDays(20).split('.') as [string];
      const expected = {
        [dayIn(10)]: `${dayIn(10)}T23:59:59.999Z`,
        [time]: `${time}.000Z`,
        [`${time}.5+02:00`]: new Date(Date.parse(`${time}.5Z`) - 2 * 60 * 60_000).toISOString(),
        [dayIn(0)]: `${dayIn(0)}T23:59:59.999Z`,
        // A database can have a clock of its own.
        [inDays(364.999)]: undefined,
      };
      for (const [sent, returned = sent] of Object.entries(expected)) {
        assert.equal((await create('/members', { invitationExpiresAt: sent })).invitationExpiresAt, returned);
      }
    }),

  'rejects an expiry that is not allowed, together with other invalid fields': () =>
    withFixture(async ({ call }) => {
      const post = (fields: object) => call('POST', '/members', { ...ADA, ...fields });
      for (const invitationExpiresAt of [inDays(-0.001), dayIn(-1), inDays(365.001), dayIn(366), null, '', 'soon'])
        assertInvalidFields(await post({ invitationExpiresAt }), ['invitationExpiresAt'], `${invitationExpiresAt}`);
      const [invitation, invitationExpiresAt] = ['accepted', inDays(1)];
      assertInvalidFields(await post({ invitation, invitationExpiresAt }), ['invitationExpiresAt']);
      const groups = [UNKNOWN_ID];
      assertInvalidFields(await post({ groups, invitation, invitationExpiresAt }), ['groups.0', 'invitationExpiresAt']);
      assertInvalidFields(await post({ invitation: 'expired' }), ['invitation']);
      assert.equal((await post({})).status, 201);
    }),

  'rejects an email address that the workspace has, whatever the case': () =>
    withFixture(async ({ call, create, list }, api) => {
      const email = 'ΟΔΟΣ.é@x.example';
      const { id } = await create('/members', { email });
      const other = await create('/members', ADA);
      for (const taken of [email, 'οδος.É@X.EXAMPLE', `οδοσ.${'é'.normalize('NFD')}@x.example`, ` ${email}\n`]) {
        assertError(
          await call('POST', '/members', { ...ADA, email: taken }),
          409,
          /already has a member with this email/,
        );
        assertConflict(await call('PATCH', `/members/${other.id}`, { email: taken }));
      }
      const renamed = jsonOf(await call('PATCH', `/members/${id}`, { email: email.toLowerCase() }));
      assert.equal(renamed.email, email.toLowerCase());
      await (await createFixture(api)).create('/members', { email });
      assert.equal((await call('DELETE', `/members/${id}`)).status, 200);
      await create('/members', { email });
      assert.equal((await list('/members')).length, 3);
    }),

  'creates a member once for an Idempotency-Key': () =>
    withFixture(async ({ key, list }, { call }) => {
      const post = () => call('POST', '/members', { key, body: ADA, headers: { 'Idempotency-Key': 'ada' } });
      const [first, again] = [await post(), await post()];
      assert.deepEqual([again.status, again.text], [201, first.text]);
      assert.equal((await list('/members')).length, 2);
    }),
});

suite('GET /members', {
  'returns the members that match all filters, in the requested order': () =>
    withFixture(async ({ call, create, list, admin }) => {
      const [a, b] = [(await create('/groups')).id, (await create('/groups')).id];
      const add = (fields: object) => create('/members', { role: 'member', seatType: 'advocate', ...fields });
      await add({ name: 'Émile', email: 'one@x.example', groups: [a, b], seatType: 'thought_leader' });
      await add({ name: 'adele', email: 'TWO@y.example', groups: [a], role: 'admin' });
      await add({ name: 'Zoë', email: 'three@x.example', invitation: 'accepted' });
      const ended = await add({ name: 'Adam', email: 'four@y.example', groups: [b] });
      await call('PATCH', `/members/${ended.id}`, { invitation: 'expired' });
      const all = ['Adam', 'Zoë', 'adele', 'Émile', admin.name];
      const byName = ['Adam', 'adele', admin.name, 'Zoë', 'Émile'];
      const cases: Readonly<Record<string, readonly string[]>> = {
        '': all,
        'sortOrder=asc': all.toReversed(),
        'sortBy=name&sortOrder=asc': byName,
        'sortBy=name': byName.toReversed(),
        'sortBy=name&sortOrder=asc&pageSize=2&page=2': byName.slice(2, 4),
        'search=X.Example': ['Zoë', 'Émile'],
        'search=%C3%89MI': ['Émile'],
        'search=ada': ['Adam'],
        'search=two%40y': ['adele'],
        'search=emile': [],
        'role=admin': ['adele', admin.name],
        'role=member&seatType=advocate': ['Adam', 'Zoë'],
        'seatType=thought_leader': ['Émile'],
        [`groupIds=${a.toUpperCase()}`]: ['adele', 'Émile'],
        [`groupIds=${a},${b}&sortBy=name`]: ['Émile', 'adele', 'Adam'],
        [`groupIds=${a}&role=member`]: ['Émile'],
        [`groupIds=${UNKNOWN_ID}`]: [],
        'invitation=accepted': ['Zoë', admin.name],
        'invitation=pending': ['adele', 'Émile'],
        'invitation=expired': ['Adam'],
        [`invitation=pending&groupIds=${b}&sortBy=name`]: ['Émile'],
        'invitation=expired&search=zo': [],
      };
      for (const [query, expected] of Object.entries(cases)) {
        assert.deepEqual(await list(`/members?${query}`, 'name'), expected, query);
      }
      const page = await call('GET', '/members?pageSize=2');
      assert.equal(page.headers.get('link'), '</members?pageSize=2&page=2>; rel="next"');
      for (const record of page.json) assert.deepEqual(jsonOf(await call('GET', `/members/${record.id}`)), record);
      assert.equal((await call('DELETE', `/groups/${a}`)).status, 200);
      assert.deepEqual(await list(`/members?groupIds=${a}`), []);
      assert.deepEqual((await list('/members?search=one'))[0].groups, [b]);
    }),
});

suite('PATCH /members/{id}', {
  'changes the fields that are sent and no others, and nothing if they have these values already': () =>
    withFixture(async ({ call, create }) => {
      const groups = [(await create('/groups')).id, (await create('/groups')).id];
      let current = await create('/members', ADA);
      const path = `/members/${current.id}`;
      for (const change of [
        { name: 'Ada Winter' },
        { email: 'ADA@x.example', role: 'admin' },
        { seatType: 'thought_leader', groups },
        { groups: groups.toReversed(), role: 'member' },
        { groups: [], invitationExpiresAt: inDays(30) },
      ]) {
        await delay(2);
        const changed = jsonOf(await call('PATCH', path, change));
        assert.deepEqual(changed, { ...current, ...change, updatedAt: changed.updatedAt });
        assert.ok(changed.updatedAt > current.updatedAt);
        for (const same of [change, {}, { ...change, groups: changed.groups }])
          assert.deepEqual(jsonOf(await call('PATCH', path, same)), changed);
        assert.deepEqual(jsonOf(await call('GET', path)), changed);
        current = changed;
      }
    }),

  'renews, ends and accepts an invitation': () =>
    withFixture(async ({ call, create }) => {
      const { id } = await create('/members', ADA);
      const patch = (change: object) => call('PATCH', `/members/${id}`, change);
      const assertInDays = async (days: number, change: object, invitation: string) => {
        const before = Date.now();
        const member = jsonOf(await patch(change));
        const time = Date.parse(member.invitationExpiresAt) - days * DAY_MS;
        assert.ok(time >= before - 1000 && time <= Date.now() + 1000, member.invitationExpiresAt);
        assert.equal(member.invitation, invitation);
        assert.deepEqual(jsonOf(await call('GET', `/members/${id}`)), member);
        return member;
      };
      const renewed = await assertInDays(14, { invitation: 'pending' }, 'pending');
      await delay(2);
      const again = await assertInDays(14, { invitation: 'pending' }, 'pending');
      assert.ok(again.invitationExpiresAt > renewed.invitationExpiresAt && again.updatedAt > renewed.updatedAt);
      await assertInDays(3, { invitation: 'pending', invitationExpiresAt: inDays(3) }, 'pending');
      await assertInDays(4, { invitationExpiresAt: inDays(4) }, 'pending');
      const ended = await assertInDays(0, { invitation: 'expired' }, 'expired');
      assert.deepEqual(jsonOf(await patch({ invitation: 'expired' })), ended);
      assertInvalidFields(await patch({ invitationExpiresAt: inDays(1) }), ['invitationExpiresAt']);
      await assertInDays(14, { invitation: 'pending' }, 'pending');
      const accepted = jsonOf(await patch({ invitation: 'accepted' }));
      assert.deepEqual([accepted.invitation, accepted.invitationExpiresAt], ['accepted', null]);
      assert.deepEqual(jsonOf(await patch({ invitation: 'accepted' })), accepted);
      for (const invitation of ['pending', 'expired']) assertError(await patch({ invitation }), 409, /has accepted/);
      assertConflict(await patch({ invitation: 'pending', invitationExpiresAt: inDays(1) }));
      for (const invitation of [undefined, 'accepted', 'expired'])
        assertInvalidFields(await patch({ invitation, invitationExpiresAt: inDays(1) }), ['invitationExpiresAt']);
      assert.deepEqual(jsonOf(await call('GET', `/members/${id}`)), accepted);
    }),
});

suite('the last admin who has accepted the invitation', {
  'cannot be demoted or deleted, but one of two can, also by themselves': () =>
    withFixture(async ({ call, admin, key, workspaceId, create }, api) => {
      const path = `/members/${admin.id}`;
      const pending = await create('/members', { role: 'admin' });
      const assertStays = async (by = key) => {
        for (const [method, body] of [['DELETE'], ['PATCH', { role: 'member', name: 'New' }]] as const)
          assertError(await api.call(method, path, { key: by, body }), 409, /last admin/);
      };
      await assertStays();
      await assertStays(await createKey(api, workspaceId));
      assert.equal(jsonOf(await call('PATCH', path, { role: 'admin', name: 'Same role' })).name, 'Same role');
      jsonOf(await call('PATCH', `/members/${pending.id}`, { invitation: 'accepted' }));
      assert.deepEqual(jsonOf(await call('DELETE', path)), { id: admin.id });
    }),

  'is one of two who demote or delete each other at the same time': () =>
    withFixture(async (_, api) => {
      for (let round = 0; round < quickOrLong(10, 1000); round++) {
        const { workspaceId, admin, key } = await createFixture(api);
        const other = { name: 'Ben', email: 'ben@x.example', role: 'admin', invitation: 'accepted' } as const;
        const ben = await api.app.members.create(workspaceId, other);
        const { secret: otherKey } = await api.app.apiKeys.create(workspaceId, { memberId: ben.id });
        // From now on, both keys are cached as keys of an admin.
        for (const each of [key, otherKey]) jsonOf(await api.call('GET', '/members', { key: each }));
        const change = (by: string, id: string, isDeletion: boolean) =>
          isDeletion
            ? api.call('DELETE', `/members/${id}`, { key: by })
            : api.call('PATCH', `/members/${id}`, { key: by, body: { role: 'member' } });
        const responses = await Promise.all([
          change(key, ben.id, round % 2 === 0),
          change(otherKey, admin.id, round % 3 === 0),
        ]);
        assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 409], `round ${round}`);
      }
    }),
});

suite('DELETE /members/{id}', {
  'revokes the keys of the member, and keeps shares, authors and campaigns with the ID of the member': () =>
    withFixture(async (fixture, api) => {
      const { call, create, list, workspaceId } = fixture;
      const ada = { ...ADA, role: 'admin', invitation: 'accepted' } as const;
      const { id: memberId } = await api.app.members.create(workspaceId, ada);
      const keys = [];
      for (const access of ['full', 'read'] as const) {
        const { secret, apiKey } = await api.app.apiKeys.create(workspaceId, { memberId, access });
        keys.push({ secret, id: apiKey.id });
        jsonOf(await api.call('GET', '/me', { key: secret }));
      }
      const other = await createKey(api, workspaceId, { member: {} });
      const [{ secret: key }] = keys as [{ secret: string; id: string }, unknown];
      const pillar = jsonOf(
        await api.call('POST', '/content-pillars', { key, body: { title: 'Outdoors', color: 'red' } }),
        201,
      );
      const campaign = await create('/campaigns', { status: 'published', endDate: '2099-12-31' });
      jsonOf(await api.call('POST', `/campaigns/${campaign.id}/shares`, { key }), 201);
      const [share] = await list(`/campaigns/${campaign.id}/shares`);
      assert.equal(share.memberName, ADA.name);

      assert.deepEqual(jsonOf(await call('DELETE', `/members/${memberId}`)), { id: memberId });
      const deletedAt = Date.now();
      for (const [method, path] of [
        ['GET', '/me'],
        ['POST', '/me/accept'],
      ] as const)
        assertError(await api.call(method, path, { key }), 401);
      for (const { id, secret } of keys) {
        assert.notEqual((await api.app.apiKeys.get(workspaceId, id)).revokedAt, null);
        await waitUntil(async () => (await api.call('GET', '/tags', { key: secret })).status === 401);
      }
      assert.ok(Date.now() - deletedAt < 5_000);
      assertError(await call('GET', `/members/${memberId}`), 404);
      assertError(await call('DELETE', `/members/${memberId}`), 404);
      assert.deepEqual(await list(`/campaigns/${campaign.id}/shares`), [{ ...share, memberName: '' }]);
      assert.deepEqual(await list(`/campaigns/${campaign.id}/shares?memberId=${memberId}`, 'memberId'), [memberId]);
      assert.equal(jsonOf(await call('GET', `/campaigns/${campaign.id}`)).shares, 1);
      assert.equal(jsonOf(await call('GET', `/content-pillars/${pillar.id}`)).authorId, memberId);
      jsonOf(await api.call('GET', '/tags', { key: other }));
    }),
});

suite('POST /me/accept', {
  'accepts the invitation once, with a key of either access, and the next request succeeds': () =>
    each({ full: 'full', read: 'read' } as const, (access) =>
      withFixture(async ({ workspaceId }, api) => {
        const { id: memberId } = await api.app.members.create(workspaceId, ADA);
        const { secret: key } = await api.app.apiKeys.create(workspaceId, { memberId, access });
        for (const path of ['/me', '/campaigns']) assertError(await api.call('GET', path, { key }), 403, /is pending/);
        const accepted = jsonOf(await api.call('POST', '/me/accept', { key }));
        assert.deepEqual([accepted.member.invitation, accepted.member.invitationExpiresAt], ['accepted', null]);
        assert.deepEqual(jsonOf(await api.call('GET', '/me', { key })), accepted);
        jsonOf(await api.call('GET', '/campaigns', { key }));
        const { updatedAt } = await api.app.members.get(workspaceId, memberId);
        await delay(2);
        assert.deepEqual(jsonOf(await api.call('POST', '/me/accept', { key })), accepted);
        assert.equal((await api.app.members.get(workspaceId, memberId)).updatedAt, updatedAt);
      }),
    ),

  'is rejected with 410 from the time at which the invitation expires, until the invitation is renewed': () =>
    withFixture(async ({ call, workspaceId, list }, api) => {
      const invitationExpiresAt = new Date(Date.now() + 500).toISOString();
      const member = jsonOf(await call('POST', '/members', { ...ADA, invitationExpiresAt }), 201);
      const { secret: key } = await api.app.apiKeys.create(workspaceId, { memberId: member.id });
      assertError(await api.call('GET', '/campaigns', { key }), 403);
      assert.deepEqual(await list('/members?invitation=expired'), []);
      await delay(Date.parse(invitationExpiresAt) - Date.now() + 20);
      assertError(await api.call('GET', '/campaigns', { key }), 410, /has expired/);
      assertError(await api.call('POST', '/me/accept', { key }), 410, /has expired/);
      const expired = { ...member, invitation: 'expired' };
      assert.deepEqual(jsonOf(await call('GET', `/members/${member.id}`)), expired);
      assert.deepEqual(await list('/members?invitation=expired'), [expired]);
      assert.deepEqual(fieldValuesOf(await call('GET', '/members?invitation=pending'), 'id'), []);
      jsonOf(await call('PATCH', `/members/${member.id}`, { invitation: 'pending' }));
      assert.equal(jsonOf(await api.call('POST', '/me/accept', { key })).member.invitation, 'accepted');
    }),

  'needs a key of a member': () =>
    withFixture(async ({ workspaceId }, api) => {
      const key = await createKey(api, workspaceId);
      assertError(await api.call('POST', '/me/accept', { key }), 403, /does not belong to a member/);
    }),
});
