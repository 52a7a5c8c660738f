import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import type { Operation } from '../../adapters/api/operation.ts';
import { operations } from '../../adapters/api/operations.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import type { Invitation, Role } from '../../core/access/member.ts';
import { each, textCases } from '../support/each.ts';
import {
  assertError,
  assertHeaders,
  assertInvalidFields,
  comparablePartOf,
  invalidFieldsOf,
  UNKNOWN_ID,
} from '../support/expected-responses.ts';
import {
  allOperations,
  type FieldSchema,
  fieldsOf,
  type JsonType,
  operationsWithBody,
  operationsWithId,
  operationsWithQuery,
  pathOf,
  successStatusOf,
  typesOf,
  validCallOf,
} from '../support/operations.ts';
import { callRaw } from '../support/raw-requests.ts';
import { type Api, type ApiResponse, type RequestOptions, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createExpiredKey, createKey, createTenant, readAllLists, type Tenant } from '../support/tenants.ts';

/** Calls an operation with a valid request, to which `changes` are applied. */
function callWith(api: Api, operation: Operation, tenant: Tenant, changes: RequestOptions & { path?: string } = {}) {
  const { path, body } = validCallOf(operation, tenant);
  return api.call(operation.method, changes.path ?? path, { key: tenant.key, body, ...changes });
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
  readonly role?: Role;
  readonly invitation?: Invitation;
}

/** The holders of keys, with the statuses of a read and a write. `200` means any success. */
const holders: readonly (readonly [Holder, read: number, write: number])[] = [
  [{ access: 'full' }, 200, 200],
  [{ access: 'read' }, 200, 403],
  [{ access: 'full', role: 'admin' }, 200, 200],
  [{ access: 'read', role: 'admin' }, 200, 403],
  [{ access: 'full', role: 'member' }, 200, 403],
  [{ access: 'read', role: 'member' }, 200, 403],
  [{ access: 'full', role: 'admin', invitation: 'pending' }, 403, 403],
  [{ access: 'read', role: 'member', invitation: 'pending' }, 403, 403],
  [{ access: 'full', role: 'admin', invitation: 'expired' }, 410, 410],
  [{ access: 'read', role: 'member', invitation: 'expired' }, 410, 410],
];

/** Examples of each JSON type. */
const valuesByType: Readonly<Record<JsonType, readonly unknown[]>> = {
  null: [null],
  boolean: [true, false],
  number: [0, 1, -1.5],
  string: ['no such value', ''],
  array: [[], ['x'], [[]]],
  object: [{}, { $ne: '' }, { length: 1 }],
};

/** Returns values of the types that a field does not accept, and if it is an enumeration, texts that it does not accept. */
function invalidValuesOf(schema: FieldSchema): unknown[] {
  const allowedTypes = typesOf(schema);
  assert.ok(allowedTypes.length > 0, 'the schema of a field has types');
  const others = (Object.keys(valuesByType) as JsonType[]).filter((type) => !allowedTypes.includes(type));
  return [...others.flatMap((type) => valuesByType[type]), ...(schema.enum ? valuesByType.string : [])];
}

/** Path segments that are not the id of any record. */
const unknownIds = [
  UNKNOWN_ID.toUpperCase(),
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  UNKNOWN_ID.slice(1),
  `${UNKNOWN_ID}0`,
  UNKNOWN_ID.replaceAll('-', ''),
  `%7B${UNKNOWN_ID}%7D`,
  `${UNKNOWN_ID}%20`,
  '1',
  '%00',
  '%20',
  '%2F',
  '..%2F..%2Fetc',
  '%F0%9F%8F%94',
  '$ne',
  '__proto__',
  'constructor',
  'toString',
  'x'.repeat(8000),
];

const rateHeaders = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];

function assertRateHeaders({ headers }: ApiResponse): void {
  const [limit, remaining, reset, policy, rate] = rateHeaders.map((name) => headers.get(name));
  assert.equal(limit, '600');
  assert.match(remaining ?? '', /^5\d\d$/);
  assert.match(reset ?? '', /^\d{10}$/);
  assert.equal(policy, '"default";q=600;w=60');
  assert.match(rate ?? '', /^"default";r=5\d\d;t=(?:[1-9]|[1-5]\d|60)$/);
  assert.ok(rate?.startsWith(`"default";r=${remaining};`));
}

suite('every operation', {
  'rejects a request without a key': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(allOperations, async (operation) => {
        const response = await callWith(api, operation, tenant, { key: null });
        assertError(response, 401, /No key was sent/);
        assert.equal(response.headers.get('www-authenticate'), 'Bearer');
      });
    }),

  'rejects all invalid keys with the same message': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const before = await readAllLists(api, tenant.key);
      await each(await createBadCredentials(api, tenant), (authorization) =>
        each(allOperations, async (operation) => {
          const headers = { Authorization: authorization };
          const response = await callWith(api, operation, tenant, { key: null, headers });
          assertError(response, 401, /^The API key is unknown, revoked or expired/);
          assert.equal(response.headers.get('www-authenticate'), 'Bearer');
        }),
      );
      assert.deepEqual(await readAllLists(api, tenant.key), before);
    }),

  'accepts the scheme Bearer in upper or lower case, followed by several spaces': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(allOperations, async (operation) => {
        const headers = { Authorization: `bEARER   ${tenant.key}` };
        const response = await callWith(api, operation, tenant, { key: null, headers });
        assert.equal(response.status, successStatusOf(operation), response.text);
      });
    }),

  'is allowed or rejected by the access of the key, and by the role and the invitation of its member': () =>
    withService(async (api) => {
      for (const [{ access, ...member }, read, write] of holders) {
        await each(allOperations, async (operation, name) => {
          const tenant = await createTenant(api, 'tenant');
          const hasMember = member.role !== undefined;
          const key = await createKey(api, tenant.workspaceId, { access, member: hasMember ? member : undefined });
          const before = await readAllLists(api, tenant.key);
          const response = await callWith(api, operation, tenant, { key });
          const status = operation.permission === 'read' ? read : write;
          const description = `${name} with ${access} access ${JSON.stringify(member)}`;
          if (status === 200) assert.equal(response.status, successStatusOf(operation), description);
          else assertError(response, status);
          if (status !== 200) assert.deepEqual(await readAllLists(api, tenant.key), before, description);
        });
      }
    }),

  'requires read access for GET, and write access for other methods': () => {
    for (const { id, method, permission } of operations) {
      assert.equal(permission, method === 'GET' ? 'read' : 'write', id);
    }
  },

  'names unknown parameters of the query and the allowed parameters': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(allOperations, async (operation) => {
        const path = `${validCallOf(operation, tenant).path}?colour=red&Page=1&__proto__=x&constructor=x&search[$ne]=x`;
        const response = await callWith(api, operation, tenant, { path });
        assertError(response, 422);
        const known = Object.keys(operation.query.shape).join(', ');
        const allowed =
          known === '' ? 'unknown field, no fields are allowed here' : `unknown field, allowed fields: ${known}`;
        const expected = ['colour', 'Page', '__proto__', 'constructor', 'search[$ne]'].map(
          (name) => `${name}: ${allowed}`,
        );
        assert.deepEqual(response.json.error.message.split('; ').sort(), expected.sort());
      });
    }),

  'names unknown fields of the body and the allowed fields': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(operationsWithBody, async (operation) => {
        const fields = JSON.stringify(validCallOf(operation, tenant).body).slice(1);
        const body = `{"colour":"red","id":"x","__proto__":{"admin":true},"toString":1,${fields}`;
        const response = await callWith(api, operation, tenant, { body });
        assertError(response, 422);
        const allowed = `unknown field, allowed fields: ${Object.keys(operation.body?.shape ?? {}).join(', ')}`;
        const expected = ['colour', 'id', '__proto__', 'toString'].map((name) => `${name}: ${allowed}`);
        assert.deepEqual(response.json.error.message.split('; ').sort(), expected.sort());
      });
    }),

  'names each field of the body that has a wrong type': () =>
    withService(async (api) => {
      await each(operationsWithBody, async (operation) => {
        const tenant = await createTenant(api, 'tenant');
        const before = await readAllLists(api, tenant.key);
        for (const [field, schema] of fieldsOf(operation.body)) {
          for (const value of invalidValuesOf(schema)) {
            const body = { ...validCallOf(operation, tenant).body, [field]: value };
            const response = await callWith(api, operation, tenant, { body });
            const sent = `${field} = ${JSON.stringify(value)}`;
            assert.equal(response.status, 422, `${sent} got ${response.text}`);
            assertInvalidFields(response, [field]);
          }
        }
        assert.deepEqual(await readAllLists(api, tenant.key), before);
      });
    }),

  'names every invalid field, not only the first one': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(operationsWithBody, async (operation) => {
        const names = Object.keys(operation.body?.shape ?? {});
        const body = Object.fromEntries([...names, 'colour'].map((name) => [name, { $gt: '' }]));
        const response = await callWith(api, operation, tenant, { body });
        assertInvalidFields(response, ['colour', ...names].slice(0, 10));
      });
    }),

  'names each invalid parameter': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(operationsWithQuery, async (operation) => {
        for (const [name, schema] of fieldsOf(operation.query)) {
          const isText = ['search', 'domain', 'tagNames'].includes(name);
          for (const value of ['%00', '%F0%9F%8F%94%00', ...(isText ? [] : ['-1', 'TRUE', '[object+Object]', '1;2'])]) {
            const response = await callWith(api, operation, tenant, { path: `${operation.path}?${name}=${value}` });
            assert.equal(response.status, 422, `${name}=${value} got ${response.text}`);
            assert.match(
              invalidFieldsOf(response).join(),
              schema.type === 'array' ? new RegExp(`^${name}\\.0$`) : RegExp(`^${name}$`),
            );
          }
        }
      });
    }),

  'rejects a parameter with a single value if it is repeated': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(operationsWithQuery, async (operation) => {
        const singles = fieldsOf(operation.query).filter(([, { type }]) => type !== 'array');
        for (const [name] of singles) {
          const value = { search: 'x', domain: 'x.example', userId: UNKNOWN_ID }[name] ?? '1';
          const response = await callWith(api, operation, tenant, {
            path: `${operation.path}?${name}=${value}&${name}=${value}`,
          });
          assertInvalidFields(response, [name]);
          assert.match(response.json.error.message, /must not be repeated$/);
        }
      });
    }),

  'returns the same 404 for every unknown id': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(operationsWithId, async (operation) => {
        const expected = await callWith(api, operation, tenant, { path: pathOf(operation, UNKNOWN_ID) });
        assertError(expected, 404);
        await each(textCases(...unknownIds), async (id) => {
          const response = await callWith(api, operation, tenant, { path: pathOf(operation, id) });
          assert.deepEqual(comparablePartOf(response), comparablePartOf(expected));
        });
      });
    }),

  'accepts an id in upper or lower case': () =>
    withService(async (api) => {
      await each(operationsWithId, async (operation) => {
        const tenant = await createTenant(api, 'tenant');
        const { path } = validCallOf(operation, tenant);
        const id = path.split('/')[2] as string;
        const response = await callWith(api, operation, tenant, { path: pathOf(operation, id.toUpperCase()) });
        assert.equal(response.status, 200, response.text);
        assert.equal(response.json.id, id);
      });
    }),

  'responds to HEAD at its path as to GET, but without the body': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const { key } = tenant;
      await each(allOperations, async (operation) => {
        const { path } = validCallOf(operation, tenant);
        await each(textCases(path, `${path}/`, `${path}?no=1`, pathOf(operation, UNKNOWN_ID)), async (target) => {
          const head = await callRaw(api, { method: 'HEAD', target, key });
          const isRead = operations.some((other) => other.method === 'GET' && other.path === operation.path);
          const get = await callRaw(api, { method: 'GET', target, key });
          assert.equal(head.text, '');
          if (isRead) assert.deepEqual(comparablePartOf(head), { ...comparablePartOf(get), text: '' });
          else assert.equal(head.status, 404);
        });
      });
    }),

  'accepts one slash at the end of its path': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(allOperations, async (operation) => {
        const { path } = validCallOf(operation, tenant);
        assertError(await callWith(api, operation, tenant, { path: `${path}//` }), 404);
        const response = await callWith(api, operation, tenant, { path: `${path}/` });
        assert.equal(response.status, successStatusOf(operation), response.text);
      });
    }),

  'exists only at its exact path, which is case-sensitive': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(allOperations, async (operation) => {
        const { path } = validCallOf(operation, tenant);
        const others = textCases(
          path.toUpperCase(),
          path.replace(/^\/./, (start) => start.toUpperCase()),
          `/v1${path}`,
          `/${path}`,
          `${path}/more/more`,
          path.replace(/s(\/|$)/, '$1'),
        );
        await each(others, async (target) => {
          for (const key of [tenant.key, null]) {
            assertError(await callRaw(api, { method: operation.method, target, key }), 404);
          }
        });
      });
    }),

  'returns 404 for other methods at its path': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const before = await readAllLists(api, tenant.key);
      const paths = [...new Set(operations.map(({ path }) => path))];
      await each(textCases(...paths), async (path) => {
        const operationsHere = operations.filter((operation) => operation.path === path);
        const allowedMethods = operationsHere.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
        const target = validCallOf(operationsHere[0] as Operation, tenant).path;
        const others = METHODS.filter((method) => method !== 'CONNECT' && !allowedMethods.includes(method));
        await each(textCases(...others), async (method) => {
          for (const key of [tenant.key, null]) {
            const response = await callRaw(api, { method, target, key });
            assert.equal(response.status, 404);
            if (method !== 'HEAD') assertError(response, 404);
          }
        });
      });
      assert.deepEqual(await readAllLists(api, tenant.key), before);
    }),

  'sends the common headers with a success': () =>
    withService(
      async (api) => {
        const ids = new Set();
        await each(allOperations, async (operation) => {
          const response = await callWith(api, operation, await createTenant(api, 'tenant'));
          assert.equal(response.status, successStatusOf(operation), response.text);
          assertHeaders(response);
          assertRateHeaders(response);
          for (const name of ['etag', 'x-powered-by', 'access-control-allow-origin', 'www-authenticate']) {
            assert.equal(response.headers.get(name), null, name);
          }
          ids.add(response.headers.get('x-request-id'));
        });
        assert.equal(ids.size, operations.length, 'each request has a unique id');
      },
      { settings: { RATE_LIMIT_POINTS: '600' } },
    ),

  'sends the rate limit headers with an error': () =>
    withService(
      async (api) => {
        const tenant = await createTenant(api, 'tenant');
        await each(allOperations, async (operation) => {
          const response = await callWith(api, operation, tenant, {
            path: `${validCallOf(operation, tenant).path}?no=1`,
          });
          assertError(response, 422);
          assertRateHeaders(response);
        });
      },
      { settings: { RATE_LIMIT_POINTS: '600' } },
    ),
});
