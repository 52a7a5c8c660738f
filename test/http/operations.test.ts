import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import type { Operation } from '../../adapters/api/operation.ts';
import { operations } from '../../adapters/api/operations.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import type { Permission } from '../../core/access/permissions.ts';
import type { InvitationStatus, Role } from '../../core/member/member.ts';
import { each, textCases, withCases } from '../support/each.ts';
import {
  assertError,
  assertHeaders,
  assertInvalidFields,
  comparablePartOf,
  fieldValuesOf,
  UNKNOWN_ID,
} from '../support/expected-responses.ts';
import {
  addQuery,
  allOperations,
  assertChangesNothing,
  deletions,
  type FieldSchema,
  getInputFields,
  getTypes,
  type JsonType,
  newValidCall,
  operationsWithBody,
  operationsWithId,
  pathSegmentOf,
  readAllLists,
  recordIdOf,
  successStatusOf,
  toPath,
} from '../support/operations.ts';
import { callRaw } from '../support/raw-requests.ts';
import {
  type Api,
  type ApiResponse,
  type CallOptions,
  type ServiceOptions,
  withSharedService,
} from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createExpiredKey, createKey, createTenant, type Tenant } from '../support/tenants.ts';

/** An operation with a valid request, for a record of a tenant. */
interface Setup {
  readonly api: Api;
  readonly operation: Operation;
  readonly tenant: Tenant;
  readonly path: string;
  readonly body: object | undefined;
  /** Sends the request with changes. */
  call(changes?: CallOptions & { readonly path?: string }): Promise<ApiResponse>;
  /** Sends the request, and asserts that it succeeds. */
  assertSuccess(changes?: CallOptions & { readonly path?: string }): Promise<ApiResponse>;
}

/** Runs a test for each operation, each with a tenant of its own. */
function eachOperation(table: typeof allOperations, test: (setup: Setup) => unknown, options?: ServiceOptions) {
  return withSharedService((api) => each(table, async (operation) => test(await createSetup(api, operation))), options);
}

async function createSetup(api: Api, operation: Operation): Promise<Setup> {
  const tenant = await createTenant(api, 'tenant');
  const { path, body } = newValidCall(operation, tenant);
  const call: Setup['call'] = ({ path: otherPath = path, ...changes } = {}) =>
    api.call(operation.method, otherPath, { key: tenant.key, body, ...changes });
  const assertSuccess: Setup['call'] = async (changes) => {
    const response = await call(changes);
    assert.equal(response.status, successStatusOf(operation), response.text);
    return response;
  };
  return { api, operation, tenant, path, body, call, assertSuccess };
}

/** Creates values of `Authorization` that are not valid keys. */
async function createBadCredentials(api: Api, { workspaceId, key }: Tenant): Promise<Record<string, string>> {
  const expired = await createExpiredKey(api.app, workspaceId);
  const { apiKey, secret: revoked } = await api.app.apiKeys.create(workspaceId, {});
  await api.app.apiKeys.revoke(workspaceId, apiKey.id);
  return {
    'an empty header': '',
    'a scheme alone': 'Bearer',
    'a key without a scheme': key,
    'the scheme Basic': `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
    'the scheme Token': `Token ${key}`,
    'a scheme without a space': `Bearer${key}`,
    'two keys': `Bearer ${key} ${key}`,
    'two credentials with a comma': `Bearer ${key}, Bearer ${key}`,
    'a key in quotes': `Bearer "${key}"`,
    'an unknown key': `Bearer ${createApiKeySecret('0'.repeat(32))}`,
    'a key with a wrong checksum': `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    'a key without its end': `Bearer ${key.slice(0, -1)}`,
    'a key with one character more': `Bearer ${key}0`,
    'a key in another case': `Bearer ${key.toUpperCase()}`,
    'a text that is not a key': 'Bearer secret',
    'an expired key': `Bearer ${expired}`,
    'a revoked key': `Bearer ${revoked}`,
  };
}

interface Holder {
  readonly access: 'full' | 'read';
  readonly member?: { readonly role: Role; readonly invitation?: InvitationStatus };
}

/**
 * The holders of keys, each with its permissions, and the status of a request without the needed permission. See also
 * test/core/caller.test.ts.
 */
const holders: readonly (readonly [Holder, permissions: readonly Permission[], rejection: number])[] = [
  [{ access: 'full' }, ['read', 'inspect', 'write'], 403],
  [{ access: 'read' }, ['read', 'inspect'], 403],
  [
    { access: 'full', member: { role: 'admin' } },
    ['read', 'inspect', 'write', 'author', 'share', 'accept', 'readOwn'],
    403,
  ],
  [{ access: 'read', member: { role: 'admin' } }, ['read', 'inspect', 'accept', 'readOwn'], 403],
  [{ access: 'full', member: { role: 'member' } }, ['read', 'share', 'accept', 'readOwn'], 403],
  [{ access: 'read', member: { role: 'member' } }, ['read', 'accept', 'readOwn'], 403],
  [{ access: 'full', member: { role: 'admin', invitation: 'pending' } }, ['accept'], 403],
  [{ access: 'read', member: { role: 'member', invitation: 'pending' } }, ['accept'], 403],
  [{ access: 'full', member: { role: 'admin', invitation: 'expired' } }, [], 410],
];

/** The operations whose permission is neither `read` nor `write`. */
const otherPermissions: Readonly<Record<string, Permission>> = {
  createContentPillar: 'author',
  createShare: 'share',
  acceptInvitation: 'accept',
  listEvents: 'inspect',
  listMembers: 'inspect',
  getMember: 'inspect',
  listMyShares: 'readOwn',
  listKeys: 'inspect',
  getKey: 'inspect',
  listWebhooks: 'inspect',
  getWebhook: 'inspect',
};

/** One operation of each path. */
const firstOperationsOfPaths = allOperations.filter(
  ([, { path }], i) => allOperations.findIndex(([, other]) => other.path === path) === i,
);
const operationsBy = (method: Operation['method']) => allOperations.filter(([, one]) => one.method === method);

/** Examples of each JSON type. */
const valuesByType: Readonly<Record<JsonType, readonly unknown[]>> = {
  null: [null],
  boolean: [true, false],
  number: [0, 1, -1.5],
  string: ['no such value', ''],
  array: [[], ['x'], [[]]],
  object: [{}, { $ne: '' }, { length: 1 }],
};

/**
 * Returns values of the types that a field does not accept, and if it is an enumeration, texts that it does not accept.
 */
function invalidValuesOf(schema: FieldSchema): unknown[] {
  const allowedTypes = getTypes(schema);
  assert.ok(allowedTypes.length > 0, 'the schema of a field has types');
  const others = (Object.keys(valuesByType) as JsonType[]).filter((type) => !allowedTypes.includes(type));
  return [...others.flatMap((type) => valuesByType[type]), ...(schema.enum ? valuesByType.string : [])];
}

/** Path segments that are not the ID of any record, but contain the ID of one. */
const createUnknownIds = (id: string) => [
  ...['%00', '%00%00', '%00x', '%20', '%0A', '%EF%BB%BF', '%E2%80%8B', '%EF%BF%BF', '0', '%00'.repeat(2000)].map(
    (end) => id + end,
  ),
  ...[`%00${id}`, `%20${id}`, `${id}%2F${id}`, `${id},${id}`, id.replace('-', '%00'), `${id.slice(0, -1)}%00`],
  ...[UNKNOWN_ID.toUpperCase(), '00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
  ...[UNKNOWN_ID.slice(1), `${UNKNOWN_ID}0`, UNKNOWN_ID.replaceAll('-', ''), `%7B${UNKNOWN_ID}%7D`, `${UNKNOWN_ID}%20`],
  ...['1', '%00', '%20', '%2F', '..%2F..%2Fetc', '%F0%9F%8F%94', '$ne', '__proto__', 'constructor', 'toString'],
  'x'.repeat(8000),
];

function assertRateHeaders({ headers }: ApiResponse): void {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`));
  const [policy, rate] = [headers.get('RateLimit-Policy'), headers.get('RateLimit')];
  assert.equal(limit, '600');
  assert.match(remaining ?? '', /^5\d\d$/);
  assert.match(reset ?? '', /^\d{10}$/);
  assert.equal(policy, '"default";q=600;w=60');
  assert.match(rate ?? '', /^"default";r=5\d\d;t=(?:[1-9]|[1-5]\d|60)$/);
  assert.ok(rate?.startsWith(`"default";r=${remaining};`));
}

const DEFAULT_RATE_LIMIT = { settings: { RATE_LIMIT_POINTS: '600' } };

suite('every operation', {
  'rejects a request without a key': () =>
    eachOperation(allOperations, async ({ call }) => {
      const response = await call({ key: null });
      assertError(response, 401, /^No API key\. Send `Authorization: Bearer <API_KEY>`\.$/);
      assert.equal(response.headers.get('www-authenticate'), 'Bearer');
    }),

  'rejects all invalid keys with the same message': () =>
    withSharedService(async (api) => {
      const badCredentials = await createBadCredentials(api, await createTenant(api, 'tenant'));
      await each(withCases(allOperations, badCredentials), ({ row: operation, cases }) =>
        assertChangesNothing(api, operation, (send, body) =>
          each(cases, async (authorization) => {
            const contentType = body ? [['Content-Type', 'application/json'] as const] : [];
            const response = await send({ key: null, headers: [...contentType, ['Authorization', authorization]] });
            assertError(response, 401, /^The API key is unknown, revoked or expired/);
            assert.equal(response.headers.get('www-authenticate'), 'Bearer');
          }),
        ),
      );
    }),

  'accepts the scheme Bearer in upper or lower case, followed by several spaces': () =>
    eachOperation(allOperations, ({ assertSuccess, tenant }) =>
      assertSuccess({ key: null, headers: { Authorization: `bEARER   ${tenant.key}` } }),
    ),

  'is allowed or rejected by the access of the key, and by the role and the invitation of its member': () =>
    eachOperation(allOperations, async ({ api, operation }) => {
      const unchanged = await createSetup(api, operation);
      const cases = [];
      for (const [holder, permissions, rejection] of holders) {
        const isPermitted = permissions.includes(operation.permission);
        const setup = isPermitted && operation.method !== 'GET' ? await createSetup(api, operation) : unchanged;
        const key = await createKey(api, setup.tenant.workspaceId, holder);
        cases.push({ ...setup, key, isPermitted, rejection, name: JSON.stringify(holder) });
      }
      const before = await readAllLists(api, unchanged.tenant.key);
      for (const { call, assertSuccess, key, isPermitted, rejection, name } of cases) {
        if (isPermitted) await assertSuccess({ key });
        else assertError(await call({ key }), rejection, /./, name);
      }
      assert.deepEqual(await readAllLists(api, unchanged.tenant.key), before);
    }),

  'requires the permission `read` for GET and `write` for other methods, with few exceptions': () => {
    for (const { id, method, permission } of operations) {
      assert.equal(permission, otherPermissions[id] ?? (method === 'GET' ? 'read' : 'write'), id);
    }
  },

  'names unknown parameters of the query and the allowed parameters': () =>
    eachOperation(allOperations, async ({ call, operation, path }) => {
      const unknown = ['colour', 'Page', '__proto__', 'constructor', 'search[$ne]'];
      const response = await call({ path: addQuery(path, unknown.map((name) => `${name}=1&`).join('')) });
      assertUnknown(response, unknown, Object.keys(operation.query.shape));
    }),

  'names unknown fields of the body and the allowed fields': () =>
    eachOperation(operationsWithBody, async ({ call, operation, body }) => {
      const start = '{"colour":"red","id":"x","__proto__":{"admin":true},"toString":1,';
      const response = await call({ body: JSON.stringify(body).replace('{', start) });
      assertUnknown(response, ['colour', 'id', '__proto__', 'toString'], Object.keys(operation.body?.shape ?? {}));
    }),

  'names each field of the body that has a wrong type': () =>
    withSharedService((api) =>
      each(operationsWithBody, (operation) =>
        assertChangesNothing(api, operation, async (send, body) => {
          for (const [field, schema] of getInputFields(operation.body)) {
            for (const value of invalidValuesOf(schema)) {
              const changed = JSON.stringify({ ...JSON.parse(body), [field]: value });
              assertInvalidFields(await send({ body: changed }), [field], `${field} = ${JSON.stringify(value)}`);
            }
          }
        }),
      ),
    ),

  'names up to ten invalid fields, and counts the others': () =>
    eachOperation(operationsWithBody, async ({ call, operation }) => {
      const names = Object.keys(operation.body?.shape ?? {});
      const body = Object.fromEntries([...names, 'colour'].map((name) => [name, { $gt: '' }]));
      assertInvalidFields(await call({ body }), ['colour', ...names]);
    }),

  'returns the same 404 for every unknown ID': () =>
    eachOperation(operationsWithId, async ({ call, operation, tenant }) => {
      const expected = await call({ path: toPath(operation, UNKNOWN_ID) });
      assertError(expected, 404);
      await each(textCases(...createUnknownIds(tenant.ids[pathSegmentOf(operation)])), async (id) => {
        const response = await call({ path: toPath(operation, id) });
        assert.deepEqual(comparablePartOf(response), comparablePartOf(expected));
      });
    }),

  'accepts an ID in upper or lower case': () =>
    eachOperation(operationsWithId, async ({ assertSuccess, operation, tenant }) => {
      const id = recordIdOf(operation, tenant);
      const { json, text } = await assertSuccess({ path: toPath(operation, id.toUpperCase()) });
      // A rotation returns another key, and a test of a webhook returns no record.
      if (!Array.isArray(json) && !['rotateKey', 'testWebhook'].includes(operation.id))
        assert.ok(text.includes(id), text);
    }),

  'changes nothing, not even updatedAt, if it is a PATCH and no value differs': () => {
    let now = Date.now();
    const test = async ({ call, operation, body }: Setup) => {
      const { text } = await call();
      now += 1_000;
      const isEmptyAllowed = operation.body?.safeParse({}).success;
      for (const same of [body, ...(isEmptyAllowed ? [{}] : [])]) {
        assert.equal((await call({ body: same })).text, text);
      }
    };
    return eachOperation(operationsBy('PATCH'), test, { now: () => now });
  },

  'deletes the record and returns its ID if it is a DELETE': () =>
    eachOperation(deletions, async ({ api, call, operation, tenant, path }) => {
      const id = recordIdOf(operation, tenant);
      assert.deepEqual((await call()).json, { id });
      for (const other of operations.filter((one) => one.path === operation.path)) {
        const { body } = newValidCall(other, tenant);
        assertError(await api.call(other.method, path, { key: tenant.key, body }), 404);
      }
      const list = await api.call('GET', `/${pathSegmentOf(operation)}`, { key: tenant.key });
      assert.ok(!fieldValuesOf(list, 'id').includes(id));
    }),

  'responds to HEAD at its path as to GET, but without the body': () =>
    eachOperation(allOperations, async ({ api, operation, tenant: { key }, path }) => {
      // So that `GET /keys` does not change.
      const { workspaceId, keyId } = (await api.app.apiKeys.authenticate(key)).caller;
      await api.app.apiKeys.recordUse(workspaceId, keyId);
      const hasGet = operations.some((other) => other.method === 'GET' && other.path === operation.path);
      await each(textCases(path, `${path}/`, addQuery(path, 'no=1'), toPath(operation, UNKNOWN_ID)), async (target) => {
        const head = await callRaw(api, { method: 'HEAD', target, key });
        const get = await callRaw(api, { method: 'GET', target, key });
        assert.equal(head.text, '');
        if (hasGet) assert.deepEqual(comparablePartOf(head), { ...comparablePartOf(get), text: '' });
        else assert.equal(head.status, 404);
      });
    }),

  'accepts one slash at the end of its path': () =>
    eachOperation(allOperations, async ({ call, assertSuccess, path }) => {
      assertError(await call({ path: path.replace(/(?=\?|$)/, '//') }), 404);
      await assertSuccess({ path: path.replace(/(?=\?|$)/, '/') });
    }),

  'does not exist at similar paths, such as its path in upper case': () =>
    eachOperation(allOperations, async ({ api, operation: { method }, tenant, path }) => {
      const otherPaths = [
        path.toUpperCase(),
        path.replace(/^\/./, (start) => start.toUpperCase()),
        `/v1${path}`,
        `/${path}`,
        path.replace(/(?=\?|$)/, '/more/more'),
        path.replace(/\w(?=\/|\?|$)/, ''),
      ];
      await each(textCases(...otherPaths), async (target) => {
        for (const key of [tenant.key, null]) assertError(await callRaw(api, { method, target, key }), 404);
      });
    }),

  'returns 404 for methods that do not exist at its path': () =>
    eachOperation(firstOperationsOfPaths, async ({ api, operation, tenant, path: target }) => {
      const before = await readAllLists(api, tenant.key);
      const methods: string[] = operations.filter(({ path }) => path === operation.path).map(({ method }) => method);
      const allowed = [...methods, 'CONNECT', ...(methods.includes('GET') ? ['HEAD'] : [])];
      await each(textCases(...METHODS.filter((method) => !allowed.includes(method))), async (method) => {
        for (const key of [tenant.key, null]) {
          const response = await callRaw(api, { method, target, key });
          assert.equal(response.status, 404);
          if (method !== 'HEAD') assertError(response, 404);
        }
      });
      assert.deepEqual(await readAllLists(api, tenant.key), before);
    }),

  'sends the common headers with a success, and a unique request id': async () => {
    const ids = new Set();
    const test = async ({ assertSuccess }: Setup) => {
      const response = await assertSuccess();
      assertHeaders(response);
      assertRateHeaders(response);
      for (const name of ['etag', 'x-powered-by', 'access-control-allow-origin', 'www-authenticate']) {
        assert.equal(response.headers.get(name), null, name);
      }
      ids.add(response.headers.get('x-request-id'));
    };
    await eachOperation(allOperations, test, DEFAULT_RATE_LIMIT);
    assert.equal(ids.size, operations.length);
  },

  'sends the rate limit headers with an error': () => {
    const test = async ({ call, path }: Setup) => {
      const response = await call({ path: addQuery(path, 'no=1') });
      assertError(response, 422);
      assertRateHeaders(response);
    };
    return eachOperation(allOperations, test, DEFAULT_RATE_LIMIT);
  },
});

/** Asserts that a response is a 422 that names each unknown field, and the allowed fields. */
function assertUnknown(response: ApiResponse, names: readonly string[], allowed: readonly string[]): void {
  const hint = allowed.length > 0 ? `allowed fields: ${allowed.join(', ')}` : 'no fields are allowed here';
  assertError(response, 422);
  const expected = names.map((name) => `${name}: unknown field, ${hint}`);
  assert.deepEqual(response.json.error.message.split('; ').sort(), expected.sort());
}
