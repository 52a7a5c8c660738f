import assert from 'node:assert/strict';
import { API_KEY_CACHE_TTL_MS } from '../../adapters/http/api-key-cache.ts';
import type { Access } from '../../core/access/permissions.ts';
import type { NewMemberFields } from '../../core/member/member.ts';
import { each } from '../support/each.ts';
import { assertError, UNKNOWN_ID } from '../support/expected-responses.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { readAllLists } from '../support/operations.ts';
import { callRaw } from '../support/raw-requests.ts';
import { campaignBody } from '../support/samples.ts';
import { type Api, type ApiResponse, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey, createTenant, type Tenant } from '../support/tenants.ts';

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
    readonly member?: Partial<NewMemberFields>;
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Text that follows the JSON of the body. */
  readonly tail?: string;
}

/** An error of a request. Of two errors, the one with the lower stage determines the response. */
type Fault = readonly [
  stage: number,
  status: number,
  message: RegExp,
  draft: (own: Tenant) => Draft,
  /** Whether a request can have the error. By default, every request can. */
  canHave?: (request: Draft) => boolean,
];

const hasId = ({ id }: Draft) => id !== undefined;
const isPost = ({ method }: Draft) => method === 'POST';
const isFor = (segment: string) => (request: Draft) => request.segment === segment;

const faults: Readonly<Record<string, Fault>> = {
  'an unknown path': [0, 404, /^The operation .* does not exist/, () => ({ segment: 'nothing' })],
  'an unknown method': [0, 404, /^The operation PUT .* does not exist/, () => ({ method: 'PUT' })],
  'a path that cannot be decoded': [0, 400, /path cannot be decoded/, () => ({ id: '%ff' }), hasId],
  'a revoked key': [1, 401, /key is unknown/, () => ({ key: { isRevoked: true } })],
  'a key over its limit': [2, 429, /^Too many requests/, () => ({ key: { isExhausted: true } })],
  'a pending invitation': [3, 403, /pending/, () => ({ key: { member: { invitation: 'pending' } } })],
  'an expired invitation': [3, 410, /expired/, () => ({ key: { member: { invitation: 'expired' } } })],
  'the role member': [3, 403, /role member/, () => ({ key: { member: { role: 'member' } } })],
  'a read-only key': [3, 403, /read access/, () => ({ key: { access: 'read' } })],
  'a query that cannot be decoded': [4, 400, /query cannot be decoded/, () => ({ query: '?page=%ff' })],
  'another content type': [4, 400, /must be JSON/, () => ({ headers: { 'Content-Type': 'text/plain' } })],
  'a content encoding': [4, 400, /compressed/, () => ({ headers: { 'Content-Encoding': 'gzip' } })],
  'malformed JSON': [4, 400, /not valid JSON/, () => ({ tail: '}' })],
  'a malformed Idempotency-Key': [4, 400, /Idempotency-Key/, () => ({ headers: { 'Idempotency-Key': 'a b' } }), isPost],
  'an unknown parameter': [5, 422, /^colour: unknown field/, () => ({ query: '?colour=red' })],
  'an unknown field': [5, 422, /^hue: unknown field/, () => ({ body: { hue: 'red' } })],
  'an unknown ID': [6, 404, /^No such/, () => ({ id: UNKNOWN_ID }), hasId],
  'an unknown group': [
    7,
    422,
    /ID of a group/,
    () => ({ body: { groups: [UNKNOWN_ID] } }),
    isFor('inspiration-questions'),
  ],
  'an unknown tag': [7, 422, /ID of a tag/, () => ({ body: { tagIds: [UNKNOWN_ID] } }), isFor('campaigns')],
  'an end before the start': [
    7,
    422,
    /^endDate: /,
    () => ({ body: { endDate: '2000-01-01' } }),
    (request) => isFor('campaigns')(request) && hasId(request),
  ],
  'a change of the status that is not allowed': [
    8,
    409,
    /^The status cannot change/,
    () => ({ body: { status: 'draft' } }),
    (request) => isFor('campaigns')(request) && hasId(request),
  ],
  'a duplicate name': [8, 409, /with this name/, ({ names }) => ({ body: { name: names.tag } }), isFor('tags')],
};

/** Requests that succeed. */
const requests: readonly ((own: Tenant, tag: string) => Draft)[] = [
  (_, tag) => ({ method: 'PATCH', segment: 'tags', id: tag, body: { name: 'renamed' } }),
  ({ ids }) => {
    const segment = 'inspiration-questions';
    return { method: 'PATCH', segment, id: ids[segment], body: { isActive: true } };
  },
  ({ ids }) => ({ method: 'PATCH', segment: 'campaigns', id: ids.campaigns, body: { targetShares: null } }),
  () => ({ method: 'POST', segment: 'tags', body: { name: 'new' } }),
  () => ({ method: 'POST', segment: 'campaigns', body: campaignBody }),
];

/** Returns each error alone, and all pairs of errors of different stages. The first error determines the response. */
function combineFaults(request: Draft): [name: string, faults: Fault[]][] {
  const possible = Object.entries(faults).filter(([, [, , , , canHave]]) => canHave?.(request) ?? true);
  return possible.flatMap(([name, fault]) => [
    [name, [fault]],
    ...possible
      .filter(([, [stage]]) => fault[0] < stage)
      .map(([otherName, other]): [string, Fault[]] => [`${name} before ${otherName}`, [fault, other]]),
  ]);
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
const LIMIT = 8;

async function send(api: Api, { workspaceId }: Tenant, draft: Draft): Promise<ApiResponse> {
  const { method = '', segment, id, query = '', key = {}, headers, body, tail = '' } = draft;
  const { isRevoked, isExhausted, access = 'full', member } = key;
  const secret = await createKey(api, workspaceId, { access, member });
  const { keyId } = (await api.app.apiKeys.authenticate(secret)).caller;
  if (isExhausted) for (let i = 0; i < LIMIT; i++) await api.call('GET', '/domains', { key: secret });
  if (isRevoked) await api.app.apiKeys.revoke(workspaceId, keyId);
  const all = { 'Content-Type': 'application/json', ...headers };
  const target = `/${[segment, id].filter((part) => part !== undefined).join('/')}${query}`;
  const request = { method, target, key: secret, headers: Object.entries(all), body: JSON.stringify(body) + tail };
  const sentAt = performance.now();
  // The caller of a revoked key is cached until this time has passed.
  const response = await (isRevoked
    ? withMonotonicClock(
        () => sentAt + API_KEY_CACHE_TTL_MS,
        () => callRaw(api, request),
      )
    : callRaw(api, request));
  // A workspace has at most 100 working keys without a member.
  await api.app.apiKeys.revoke(workspaceId, keyId);
  return response;
}

suite('the order of checks', {
  'decides which error is in the response to a request with one or two errors': () =>
    withService(
      async (api) => {
        const own = await createTenant(api, 'own');
        const tag = await api.app.tags.create(own.workspaceId, { name: 'another' });
        // Each request has a key of its own, and some have a member of their own.
        const readLists = async () => readAllLists(api, await createKey(api, own.workspaceId), ['/keys', '/members']);
        const before = await readLists();
        for (const createRequest of requests) {
          const good = createRequest(own, tag.id);
          await each(combineFaults(good), async (combined) => {
            const [, status, message] = combined[0] as Fault;
            const faulty = combined.map(([, , , draft]) => draft(own)).reduceRight(mergeDrafts);
            assertError(await send(api, own, mergeDrafts(good, faulty)), status, message);
          });
        }
        assert.deepEqual(await readLists(), before);
        for (const createRequest of requests) {
          const { status, text } = await send(api, own, createRequest(own, tag.id));
          assert.ok(status === 200 || status === 201, text);
        }
      },
      { settings: { RATE_LIMIT_POINTS: String(LIMIT) } },
    ),
});
