import assert from 'node:assert/strict';
import type { Access } from '../../core/access/caller.ts';
import type { NewMember } from '../../core/access/member.ts';
import { each } from '../support/each.ts';
import { assertError, UNKNOWN_ID } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw-requests.ts';
import { type Api, type ApiResponse, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createKey, createTenant, readAllLists, type Tenant } from '../support/tenants.ts';

/** A request in parts, so that errors of several parts can be combined. */
interface Draft {
  readonly method?: string;
  readonly segment?: string;
  readonly id?: string;
  readonly query?: string;
  readonly key?: {
    readonly isRevoked?: boolean;
    readonly isExhausted?: boolean;
    readonly access?: Access;
    readonly member?: Partial<NewMember>;
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Text that follows the JSON of the body. */
  readonly tail?: string;
}

/** An error of a request. Of two errors, the one with the lower stage determines the response. */
type Fault = readonly [stage: number, status: number, message: RegExp, draft: (own: Tenant) => Draft];

const faults = {
  'an unknown path': [0, 404, /^The operation .* does not exist/, () => ({ segment: 'nothing' })],
  'an unknown method': [0, 404, /^The operation PUT .* does not exist/, () => ({ method: 'PUT' })],
  'a path that cannot be decoded': [0, 400, /path cannot be decoded/, () => ({ id: '%ff' })],
  'a revoked key': [2, 401, /key is unknown/, () => ({ key: { isRevoked: true } })],
  'a key over its limit': [3, 429, /^Too many requests/, () => ({ key: { isExhausted: true } })],
  'a pending invitation': [4, 403, /pending/, () => ({ key: { member: { invitation: 'pending' } } })],
  'an expired invitation': [4, 410, /expired/, () => ({ key: { member: { invitation: 'expired' } } })],
  'the role member': [4, 403, /role member/, () => ({ key: { member: { role: 'member' } } })],
  'a read-only key': [4, 403, /read access/, () => ({ key: { access: 'read' } })],
  'a query that cannot be decoded': [5, 400, /query cannot be decoded/, () => ({ query: '?page=%ff' })],
  'another content type': [5, 400, /must be JSON/, () => ({ headers: { 'Content-Type': 'text/plain' } })],
  'a content encoding': [5, 400, /compressed/, () => ({ headers: { 'Content-Encoding': 'gzip' } })],
  'malformed JSON': [5, 400, /not valid JSON/, () => ({ tail: '}' })],
  'a malformed Idempotency-Key': [5, 400, /Idempotency-Key/, () => ({ headers: { 'Idempotency-Key': 'a b' } })],
  'an unknown parameter': [6, 422, /^colour: unknown field/, () => ({ query: '?colour=red' })],
  'an unknown field': [6, 422, /^hue: unknown field/, () => ({ body: { hue: 'red' } })],
  'an unknown id': [7, 404, /has this id/, () => ({ id: UNKNOWN_ID })],
  'an unknown group': [8, 422, /id of a group/, () => ({ body: { groups: [UNKNOWN_ID] } })],
  'an unknown tag': [8, 422, /id of a tag/, () => ({ body: { tagIds: [UNKNOWN_ID] } })],
  'a duplicate name': [9, 409, /with this name/, ({ names }) => ({ body: { name: names.tag } })],
} as const satisfies Record<string, Fault>;

type FaultName = keyof typeof faults;

/** The errors that each of the requests can have. */
const COMMON_FAULTS: readonly FaultName[] = [
  'an unknown path',
  'an unknown method',
  'a revoked key',
  'a key over its limit',
  'a pending invitation',
  'an expired invitation',
  'the role member',
  'a read-only key',
  'a query that cannot be decoded',
  'another content type',
  'a content encoding',
  'malformed JSON',
  'an unknown parameter',
  'an unknown field',
];

/** Requests that succeed, with the errors that each can have. */
const requests: readonly (readonly [draft: (own: Tenant, tag: string) => Draft, faults: readonly FaultName[]])[] = [
  [
    (_, tag) => ({ method: 'PATCH', segment: 'tags', id: tag, body: { name: 'renamed' } }),
    [...COMMON_FAULTS, 'a path that cannot be decoded', 'an unknown id', 'a duplicate name'],
  ],
  [
    ({ ids }) => ({
      method: 'PATCH',
      segment: 'inspiration-questions',
      id: ids['inspiration-questions'],
      body: { isActive: true },
    }),
    [...COMMON_FAULTS, 'a path that cannot be decoded', 'an unknown id', 'an unknown group'],
  ],
  [
    () => ({ method: 'POST', segment: 'tags', body: { name: 'new' } }),
    [...COMMON_FAULTS, 'a malformed Idempotency-Key', 'a duplicate name'],
  ],
  [
    () => ({ method: 'POST', segment: 'campaigns', body: createCampaignBody() }),
    [...COMMON_FAULTS, 'a malformed Idempotency-Key', 'an unknown tag'],
  ],
];

/** Returns all pairs of errors of different stages. The error that determines the response is the first. */
function pairFaults(names: readonly FaultName[]): [FaultName, FaultName][] {
  return names.flatMap((first) =>
    names
      .filter((second) => faults[first][0] < faults[second][0])
      .map((second): [FaultName, FaultName] => [first, second]),
  );
}

/** Merges two drafts. The second one takes precedence. */
function mergeDrafts(below: Draft, above: Draft): Draft {
  return {
    ...below,
    ...above,
    key: { ...below.key, ...above.key },
    headers: { ...below.headers, ...above.headers },
    body: { ...below.body, ...above.body },
  };
}

/** The number of requests that a key may send. */
const LIMIT = 4;

async function send(api: Api, { workspaceId }: Tenant, draft: Draft): Promise<ApiResponse> {
  const { method = '', segment, id, query = '', key = {}, headers, body, tail = '' } = draft;
  const { isRevoked, isExhausted, access = 'full', member } = key;
  const secret = await createKey(api, workspaceId, { access, member });
  if (isExhausted) for (let i = 0; i < LIMIT; i++) await api.call('GET', '/domains', { key: secret });
  if (isRevoked) {
    const { keyId } = await api.app.apiKeys.authenticate(secret);
    await api.app.apiKeys.revoke(workspaceId, keyId);
  }
  const all = { 'Content-Type': 'application/json', ...headers };
  const target = `/${[segment, id].filter((part) => part !== undefined).join('/')}${query}`;
  return callRaw(api, { method, target, key: secret, headers: Object.entries(all), body: JSON.stringify(body) + tail });
}

suite('the order of checks', {
  'decides which of two errors a request gets': () =>
    withService(
      async (api) => {
        const own = await createTenant(api, 'own');
        const tag = await api.app.tags.create(own.workspaceId, 'another');
        const before = await readAllLists(api, await createKey(api, own.workspaceId));
        for (const [draft, names] of requests) {
          const good = draft(own, tag.id);
          const cases = pairFaults(names).map(
            ([first, second]) => [`${first} before ${second}`, [first, second]] as const,
          );
          await each(cases, async ([first, second]) => {
            const [, status, message, faulty] = faults[first];
            assertError(
              await send(api, own, mergeDrafts(good, mergeDrafts(faults[second][3](own), faulty(own)))),
              status,
              message,
            );
          });
        }
        assert.deepEqual(await readAllLists(api, await createKey(api, own.workspaceId)), before);
      },
      { settings: { RATE_LIMIT_POINTS: String(LIMIT) } },
    ),

  'finds each error if it is the only one': () =>
    withService(
      async (api) => {
        const own = await createTenant(api, 'own');
        const tag = await api.app.tags.create(own.workspaceId, 'another');
        for (const [draft, names] of requests) {
          const good = draft(own, tag.id);
          await each(
            names.map((name) => [`${good.method} ${good.segment}, ${name}`, faults[name]] as const),
            async ([, status, message, faulty]) => {
              assertError(await send(api, own, mergeDrafts(good, faulty(own))), status, message);
            },
          );
          const { status, text } = await send(api, own, good);
          assert.ok(status === 200 || status === 201, text);
        }
      },
      { settings: { RATE_LIMIT_POINTS: String(LIMIT) } },
    ),
});
