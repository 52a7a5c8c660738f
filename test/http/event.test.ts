import assert from 'node:assert/strict';
import { assertInvalidFields, jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

interface ShownEvent {
  readonly sequence: number;
  readonly type: string;
}

// The first event of a workspace is the creation of its admin.

const createMember = async ({ call }: Fixture, name: string) =>
  jsonOf(await call('POST', '/members', { name, email: `${name}@x.example` }), 201).id as string;

const list = async ({ call }: Fixture, query = '') => {
  const response = await call('GET', `/events${query}`);
  const events: readonly ShownEvent[] = jsonOf(response, 200);
  return { sequences: events.map(({ sequence }) => sequence), link: response.headers.get('link') };
};

suite('GET /events', {
  'returns events with exactly their fields': () =>
    withFixture(async (fixture) => {
      const memberId = await createMember(fixture, 'ada');
      const [event] = jsonOf(await fixture.call('GET', '/events?after=1'), 200);
      const { id, createdAt } = event;
      assert.deepEqual(event, { id, sequence: 2, type: 'member.created', createdAt, data: { memberId } });
      assert.match(id, UUID_V7);
      assert.equal(new Date(createdAt).toISOString(), createdAt);
    }),

  'returns pages in ascending order, with a link to the next page while it has events': () =>
    withFixture(async (fixture) => {
      for (let i = 0; i < 3; i++) await createMember(fixture, `m${i}`);
      assert.deepEqual(await list(fixture), { sequences: [1, 2, 3, 4], link: null });
      assert.deepEqual(await list(fixture, '?pageSize=4'), { sequences: [1, 2, 3, 4], link: null });
      const next = '</events?pageSize=3&after=3>; rel="next"';
      assert.deepEqual(await list(fixture, '?pageSize=3'), { sequences: [1, 2, 3], link: next });
      assert.deepEqual(await list(fixture, '?after=0&pageSize=3'), { sequences: [1, 2, 3], link: next });
      assert.deepEqual(await list(fixture, '?pageSize=3&after=3'), { sequences: [4], link: null });
      assert.deepEqual(await list(fixture, '?after=4'), { sequences: [], link: null });
      assert.deepEqual(await list(fixture, `?after=${Number.MAX_SAFE_INTEGER}`), { sequences: [], link: null });
    }),

  'filters by types, and keeps them in the link': () =>
    withFixture(async (fixture) => {
      const ids = [
        await createMember(fixture, 'a'),
        await createMember(fixture, 'b'),
        await createMember(fixture, 'c'),
      ];
      for (const id of ids) jsonOf(await fixture.call('DELETE', `/members/${id}`), 200);
      const deleted = '?types=member.deleted';
      assert.deepEqual(await list(fixture, deleted), { sequences: [5, 6, 7], link: null });
      const { sequences, link } = await list(fixture, `${deleted}&pageSize=2`);
      assert.deepEqual(sequences, [5, 6]);
      assert.equal(link, `</events${deleted}&pageSize=2&after=6>; rel="next"`);
      const both = '?types=member.deleted,member.created&types=member.deleted&after=2&pageSize=3';
      assert.deepEqual((await list(fixture, both)).sequences, [3, 4, 5]);
      assert.deepEqual((await list(fixture, '?types=webhook.disabled')).sequences, []);
    }),

  'rejects invalid parameters': () =>
    withFixture(async ({ call }) => {
      for (const [query, field] of [
        ['types=campaign.deleted', 'types.0'],
        ['types=share.created,webhook.test', 'types.1'],
        ['types=', 'types.0'],
        ['types=Share.created', 'types.0'],
        ['after=-1', 'after'],
        ['after=01', 'after'],
        ['after=1.5', 'after'],
        ['after=', 'after'],
        ['after=9007199254740992', 'after'],
        ['after=1&after=2', 'after'],
        ['pageSize=0', 'pageSize'],
        ['pageSize=101', 'pageSize'],
        ['page=1', 'page'],
      ] as const) {
        assertInvalidFields(await call('GET', `/events?${query}`), [field]);
      }
      assert.equal((await call('GET', '/events?pageSize=100')).status, 200);
    }),
});
