import assert from 'node:assert/strict';
import type { Access } from '../../core/access/caller.ts';
import type { NewMember } from '../../core/access/member-service.ts';
import { each } from '../support/each.ts';
import { assertRefused } from '../support/expected-responses.ts';
import { callRaw } from '../support/raw.ts';
import { type Answer, type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createKey, createTenant, everythingOf, NEVER, type Tenant } from '../support/tenants.ts';

/** A request in parts, so that a fault of one part can be put together with that of another. */
interface Draft {
  readonly method?: string;
  readonly segment?: string;
  readonly id?: string;
  readonly query?: string;
  readonly key?: {
    readonly isRevoked?: boolean;
    readonly isSpent?: boolean;
    readonly access?: Access;
    readonly member?: Partial<NewMember>;
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Comes after the JSON of the body. */
  readonly tail?: string;
}

/** Of two faults the one of the lower stage is answered. */
type Fault = readonly [stage: number, status: number, message: RegExp, draft: (own: Tenant) => Draft];

const faults = {
  'an unknown path': [0, 404, /^There is no /, () => ({ segment: 'nothing' })],
  'an unknown method': [0, 404, /^There is no PUT /, () => ({ method: 'PUT' })],
  'a path that cannot be decoded': [0, 400, /path cannot be decoded/, () => ({ id: '%ff' })],
  'a revoked key': [2, 401, /key is unknown/, () => ({ key: { isRevoked: true } })],
  'a spent key': [3, 429, /^Too many requests/, () => ({ key: { isSpent: true } })],
  'a pending invitation': [4, 403, /pending/, () => ({ key: { member: { invitation: 'pending' } } })],
  'an expired invitation': [4, 410, /expired/, () => ({ key: { member: { invitation: 'expired' } } })],
  'the role member': [4, 403, /role member/, () => ({ key: { member: { role: 'member' } } })],
  'a key that reads': [4, 403, /read access/, () => ({ key: { access: 'read' } })],
  'a query that cannot be decoded': [5, 400, /query cannot be decoded/, () => ({ query: '?page=%ff' })],
  'another content type': [5, 400, /must be JSON/, () => ({ headers: { 'Content-Type': 'text/plain' } })],
  'a content encoding': [5, 400, /compressed/, () => ({ headers: { 'Content-Encoding': 'gzip' } })],
  'broken JSON': [5, 400, /not valid JSON/, () => ({ tail: '}' })],
  'a malformed Idempotency-Key': [5, 400, /Idempotency-Key/, () => ({ headers: { 'Idempotency-Key': 'a b' } })],
  'an unknown parameter': [6, 422, /^colour: unknown field/, () => ({ query: '?colour=red' })],
  'an unknown field': [6, 422, /^hue: unknown field/, () => ({ body: { hue: 'red' } })],
  'an unknown id': [7, 404, /with this id/, () => ({ id: NEVER })],
  'an unknown group': [8, 422, /no group/, () => ({ body: { groups: [NEVER] } })],
  'an unknown tag': [8, 422, /no tag/, () => ({ body: { tagIds: [NEVER] } })],
  'a taken name': [9, 409, /of this name/, ({ names }) => ({ body: { name: names.tag } })],
} as const satisfies Record<string, Fault>;

type FaultName = keyof typeof faults;

const FORMS: readonly FaultName[] = [
  'an unknown path',
  'an unknown method',
  'a revoked key',
  'a spent key',
  'a pending invitation',
  'an expired invitation',
  'the role member',
  'a key that reads',
  'a query that cannot be decoded',
  'another content type',
  'a content encoding',
  'broken JSON',
  'an unknown parameter',
  'an unknown field',
];

/** Requests that succeed, and the faults that each can have. */
const requests: readonly (readonly [draft: (own: Tenant, tag: string) => Draft, faults: readonly FaultName[]])[] = [
  [
    (_, tag) => ({ method: 'PATCH', segment: 'tags', id: tag, body: { name: 'renamed' } }),
    [...FORMS, 'a path that cannot be decoded', 'an unknown id', 'a taken name'],
  ],
  [
    ({ ids }) => ({
      method: 'PATCH',
      segment: 'inspiration-questions',
      id: ids['inspiration-questions'],
      body: { isActive: true },
    }),
    [...FORMS, 'a path that cannot be decoded', 'an unknown id', 'an unknown group'],
  ],
  [
    () => ({ method: 'POST', segment: 'tags', body: { name: 'new' } }),
    [...FORMS, 'a malformed Idempotency-Key', 'a taken name'],
  ],
  [
    () => ({ method: 'POST', segment: 'campaigns', body: campaignBody() }),
    [...FORMS, 'a malformed Idempotency-Key', 'an unknown tag'],
  ],
];

/** Every two faults that a request can have at once, the one that is to be answered first. */
function pairs(names: readonly FaultName[]): [FaultName, FaultName][] {
  return names.flatMap((first) =>
    names
      .filter((second) => faults[first][0] < faults[second][0])
      .map((second): [FaultName, FaultName] => [first, second]),
  );
}

/** A draft with another laid over it. */
function over(below: Draft, above: Draft): Draft {
  return {
    ...below,
    ...above,
    key: { ...below.key, ...above.key },
    headers: { ...below.headers, ...above.headers },
    body: { ...below.body, ...above.body },
  };
}

const LIMIT = 4;

async function ask(api: Api, { workspaceId }: Tenant, draft: Draft): Promise<Answer> {
  const { method = '', segment, id, query = '', key = {}, headers, body, tail = '' } = draft;
  const { isRevoked, isSpent, access = 'full', member } = key;
  const secret = await createKey(api, workspaceId, { access, member });
  if (isSpent) for (let i = 0; i < LIMIT; i++) await api.call('GET', '/domains', { key: secret });
  if (isRevoked) {
    const { keyId } = await api.app.apiKeys.authenticate(secret);
    await api.app.apiKeys.revoke(workspaceId, keyId);
  }
  const all = { 'Content-Type': 'application/json', ...headers };
  const target = `/${[segment, id].filter((part) => part !== undefined).join('/')}${query}`;
  return callRaw(api, { method, target, key: secret, headers: Object.entries(all), body: JSON.stringify(body) + tail });
}

suite('of two faults the earlier check', {
  'is answered, whatever the later one is': () =>
    withService(
      async (api) => {
        const own = await createTenant(api, 'own');
        const tag = await api.app.tags.create(own.workspaceId, 'another');
        const before = await everythingOf(api, await createKey(api, own.workspaceId));
        for (const [draft, names] of requests) {
          const good = draft(own, tag.id);
          const cases = pairs(names).map(([first, second]) => [`${first} before ${second}`, [first, second]] as const);
          await each(cases, async ([first, second]) => {
            const [, status, message, faulty] = faults[first];
            assertRefused(await ask(api, own, over(good, over(faults[second][3](own), faulty(own)))), status, message);
          });
        }
        assert.deepEqual(await everythingOf(api, await createKey(api, own.workspaceId)), before);
      },
      { settings: { RATE_LIMIT_POINTS: String(LIMIT) } },
    ),

  'is one that finds each fault alone': () =>
    withService(
      async (api) => {
        const own = await createTenant(api, 'own');
        const tag = await api.app.tags.create(own.workspaceId, 'another');
        for (const [draft, names] of requests) {
          const good = draft(own, tag.id);
          await each(
            names.map((name) => [`${good.method} ${good.segment}, ${name}`, faults[name]] as const),
            async ([, status, message, faulty]) => {
              assertRefused(await ask(api, own, over(good, faulty(own))), status, message);
            },
          );
          const { status, text } = await ask(api, own, good);
          assert.ok(status === 200 || status === 201, text);
        }
      },
      { settings: { RATE_LIMIT_POINTS: String(LIMIT) } },
    ),
});
