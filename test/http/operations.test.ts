import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import type { Operation } from '../../adapters/api/operation.ts';
import { operations } from '../../adapters/api/operations.ts';
import { apiKeySecret } from '../../core/access/api-key.ts';
import type { Invitation, Role } from '../../core/access/member.ts';
import { each, texts } from '../support/each.ts';
import { assertFaults, assertHeaders, assertRefused, essence, faultsOf } from '../support/expected-responses.ts';
import {
  callOf,
  everyOperation,
  type FieldSchema,
  fieldsOf,
  type JsonType,
  pathOf,
  successOf,
  typesOf,
  withBody,
  withId,
  withQuery,
} from '../support/operations.ts';
import { callRaw } from '../support/raw.ts';
import { type Answer, type Api, type Call, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createEndedKey, createKey, createTenant, everythingOf, NEVER, type Tenant } from '../support/tenants.ts';

/** Calls an operation so that it succeeds, but for what is given. */
function callWith(api: Api, operation: Operation, tenant: Tenant, call: Call & { path?: string } = {}) {
  const { path, body } = callOf(operation, tenant);
  return api.call(operation.method, call.path ?? path, { key: tenant.key, body, ...call });
}

/** What is sent as `Authorization` and is no key. */
async function badCredentials(api: Api, { workspaceId, key }: Tenant): Promise<Record<string, string>> {
  const ended = await createEndedKey(api.app, workspaceId);
  const { apiKey, secret: revoked } = await api.app.apiKeys.create(workspaceId, {});
  await api.app.apiKeys.revoke(workspaceId, apiKey.id);
  return {
    'an empty header': '',
    'a scheme alone': 'Bearer',
    'a key without a scheme': key,
    'another scheme': `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
    'another scheme with the key': `Token ${key}`,
    'a scheme without a space': `Bearer${key}`,
    'two keys': `Bearer ${key} ${key}`,
    'two credentials with a comma': `Bearer ${key}, Bearer ${key}`,
    'a key in quotes': `Bearer "${key}"`,
    'an unknown key': `Bearer ${apiKeySecret('0'.repeat(32))}`,
    'a key with a wrong checksum': `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
    'a key without its end': `Bearer ${key.slice(0, -1)}`,
    'a key with one character more': `Bearer ${key}0`,
    'a key in another case': `Bearer ${key.toUpperCase()}`,
    'a text that is no key': 'Bearer secret',
    'an ended key': `Bearer ${ended}`,
    'a revoked key': `Bearer ${revoked}`,
  };
}

interface Holder {
  readonly access: 'full' | 'read';
  readonly role?: Role;
  readonly invitation?: Invitation;
}

/** Who holds a key, and what a read and a write with it are answered. */
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

const values: Readonly<Record<JsonType, readonly unknown[]>> = {
  null: [null],
  boolean: [true, false],
  number: [0, 1, -1.5],
  string: ['no such value', ''],
  array: [[], ['x'], [[]]],
  object: [{}, { $ne: '' }, { length: 1 }],
};

/** Values of every type that a field does not take, and a text where it takes a few only. */
function wrongValues(schema: FieldSchema): unknown[] {
  const taken = typesOf(schema);
  assert.ok(taken.length > 0, 'a field tells its types');
  const others = (Object.keys(values) as JsonType[]).filter((type) => !taken.includes(type));
  return [...others.flatMap((type) => values[type]), ...(schema.enum ? values.string : [])];
}

/** What an id in a path can look like and name nothing. */
const nothings = [
  NEVER.toUpperCase(),
  '00000000-0000-0000-0000-000000000000',
  'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
  NEVER.slice(1),
  `${NEVER}0`,
  NEVER.replaceAll('-', ''),
  `%7B${NEVER}%7D`,
  `${NEVER}%20`,
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

function assertRateHeaders({ headers }: Answer): void {
  const [limit, remaining, reset, policy, rate] = rateHeaders.map((name) => headers.get(name));
  assert.equal(limit, '600');
  assert.match(remaining ?? '', /^5\d\d$/);
  assert.match(reset ?? '', /^\d{10}$/);
  assert.equal(policy, '"default";q=600;w=60');
  assert.match(rate ?? '', /^"default";r=5\d\d;t=(?:[1-9]|[1-5]\d|60)$/);
  assert.ok(rate?.startsWith(`"default";r=${remaining};`));
}

suite('every operation', {
  'refuses a request without a key': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(everyOperation, async (operation) => {
        const answer = await callWith(api, operation, tenant, { key: null });
        assertRefused(answer, 401, /No key was sent/);
        assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
      });
    }),

  'refuses whatever is no key, with the same words': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const before = await everythingOf(api, tenant.key);
      await each(await badCredentials(api, tenant), (authorization) =>
        each(everyOperation, async (operation) => {
          const headers = { Authorization: authorization };
          const answer = await callWith(api, operation, tenant, { key: null, headers });
          assertRefused(answer, 401, /^This key is unknown, revoked or ended/);
          assert.equal(answer.headers.get('www-authenticate'), 'Bearer');
        }),
      );
      assert.deepEqual(await everythingOf(api, tenant.key), before);
    }),

  'takes the scheme in any case, and several spaces after it': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(everyOperation, async (operation) => {
        const headers = { Authorization: `bEARER   ${tenant.key}` };
        const answer = await callWith(api, operation, tenant, { key: null, headers });
        assert.equal(answer.status, successOf(operation), answer.text);
      });
    }),

  'does what the key, its role and its invitation allow': () =>
    withService(async (api) => {
      for (const [{ access, ...member }, read, write] of holders) {
        await each(everyOperation, async (operation, name) => {
          const tenant = await createTenant(api, 'tenant');
          const isMembers = member.role !== undefined;
          const key = await createKey(api, tenant.workspaceId, { access, member: isMembers ? member : undefined });
          const before = await everythingOf(api, tenant.key);
          const answer = await callWith(api, operation, tenant, { key });
          const status = operation.permission === 'read' ? read : write;
          const who = `${name} with ${access} access ${JSON.stringify(member)}`;
          if (status === 200) assert.equal(answer.status, successOf(operation), who);
          else assertRefused(answer, status);
          if (status !== 200) assert.deepEqual(await everythingOf(api, tenant.key), before, who);
        });
      }
    }),

  'reads with GET, and writes with all else': () => {
    for (const { id, method, permission } of operations) {
      assert.equal(permission, method === 'GET' ? 'read' : 'write', id);
    }
  },

  'names unknown parameters of the query, and those that it knows': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(everyOperation, async (operation) => {
        const path = `${callOf(operation, tenant).path}?colour=red&Page=1&__proto__=x&constructor=x&search[$ne]=x`;
        const answer = await callWith(api, operation, tenant, { path });
        assertRefused(answer, 422);
        const known = Object.keys(operation.query.shape).join(', ');
        const allowed =
          known === '' ? 'unknown field, no fields are allowed here' : `unknown field, allowed fields: ${known}`;
        const expected = ['colour', 'Page', '__proto__', 'constructor', 'search[$ne]'].map(
          (name) => `${name}: ${allowed}`,
        );
        assert.deepEqual(answer.json.error.message.split('; ').sort(), expected.sort());
      });
    }),

  'names unknown fields of the body, and those that it knows': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(withBody, async (operation) => {
        const fields = JSON.stringify(callOf(operation, tenant).body).slice(1);
        const body = `{"colour":"red","id":"x","__proto__":{"admin":true},"toString":1,${fields}`;
        const answer = await callWith(api, operation, tenant, { body });
        assertRefused(answer, 422);
        const allowed = `unknown field, allowed fields: ${Object.keys(operation.body?.shape ?? {}).join(', ')}`;
        const expected = ['colour', 'id', '__proto__', 'toString'].map((name) => `${name}: ${allowed}`);
        assert.deepEqual(answer.json.error.message.split('; ').sort(), expected.sort());
      });
    }),

  'names each field of a body that has another type': () =>
    withService(async (api) => {
      await each(withBody, async (operation) => {
        const tenant = await createTenant(api, 'tenant');
        const before = await everythingOf(api, tenant.key);
        for (const [field, schema] of fieldsOf(operation.body)) {
          for (const value of wrongValues(schema)) {
            const body = { ...callOf(operation, tenant).body, [field]: value };
            const answer = await callWith(api, operation, tenant, { body });
            const sent = `${field} = ${JSON.stringify(value)}`;
            assert.equal(answer.status, 422, `${sent} was answered ${answer.text}`);
            assertFaults(answer, [field]);
          }
        }
        assert.deepEqual(await everythingOf(api, tenant.key), before);
      });
    }),

  'names every field that fails, not the first alone': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(withBody, async (operation) => {
        const names = Object.keys(operation.body?.shape ?? {});
        const body = Object.fromEntries([...names, 'colour'].map((name) => [name, { $gt: '' }]));
        const answer = await callWith(api, operation, tenant, { body });
        assertFaults(answer, ['colour', ...names].slice(0, 10));
      });
    }),

  'names each parameter that makes no sense': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(withQuery, async (operation) => {
        for (const [name, schema] of fieldsOf(operation.query)) {
          const isText = ['search', 'domain', 'tagNames'].includes(name);
          for (const value of ['%00', '%F0%9F%8F%94%00', ...(isText ? [] : ['-1', 'TRUE', '[object+Object]', '1;2'])]) {
            const answer = await callWith(api, operation, tenant, { path: `${operation.path}?${name}=${value}` });
            assert.equal(answer.status, 422, `${name}=${value} was answered ${answer.text}`);
            assert.match(
              faultsOf(answer).join(),
              schema.type === 'array' ? new RegExp(`^${name}\\.0$`) : RegExp(`^${name}$`),
            );
          }
        }
      });
    }),

  'takes a parameter of one value once': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(withQuery, async (operation) => {
        const singles = fieldsOf(operation.query).filter(([, { type }]) => type !== 'array');
        for (const [name] of singles) {
          const value = { search: 'x', domain: 'x.example', userId: NEVER }[name] ?? '1';
          const answer = await callWith(api, operation, tenant, {
            path: `${operation.path}?${name}=${value}&${name}=${value}`,
          });
          assertFaults(answer, [name]);
          assert.match(answer.json.error.message, /must not be repeated$/);
        }
      });
    }),

  'answers every id that names nothing with the same 404': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(withId, async (operation) => {
        const expected = await callWith(api, operation, tenant, { path: pathOf(operation, NEVER) });
        assertRefused(expected, 404);
        await each(texts(...nothings), async (id) => {
          const answer = await callWith(api, operation, tenant, { path: pathOf(operation, id) });
          assert.deepEqual(essence(answer), essence(expected));
        });
      });
    }),

  'takes the id in either case': () =>
    withService(async (api) => {
      await each(withId, async (operation) => {
        const tenant = await createTenant(api, 'tenant');
        const { path } = callOf(operation, tenant);
        const id = path.split('/')[2] as string;
        const answer = await callWith(api, operation, tenant, { path: pathOf(operation, id.toUpperCase()) });
        assert.equal(answer.status, 200, answer.text);
        assert.equal(answer.json.id, id);
      });
    }),

  'answers HEAD where it answers GET, without the body': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const { key } = tenant;
      await each(everyOperation, async (operation) => {
        const { path } = callOf(operation, tenant);
        await each(texts(path, `${path}/`, `${path}?no=1`, pathOf(operation, NEVER)), async (target) => {
          const head = await callRaw(api, { method: 'HEAD', target, key });
          const isRead = operations.some((other) => other.method === 'GET' && other.path === operation.path);
          const get = await callRaw(api, { method: 'GET', target, key });
          assert.equal(head.text, '');
          if (isRead) assert.deepEqual(essence(head), { ...essence(get), text: '' });
          else assert.equal(head.status, 404);
        });
      });
    }),

  'accepts one slash at the end of its path': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(everyOperation, async (operation) => {
        const { path } = callOf(operation, tenant);
        assertRefused(await callWith(api, operation, tenant, { path: `${path}//` }), 404);
        const answer = await callWith(api, operation, tenant, { path: `${path}/` });
        assert.equal(answer.status, successOf(operation), answer.text);
      });
    }),

  'is at its path alone, in its case': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await each(everyOperation, async (operation) => {
        const { path } = callOf(operation, tenant);
        const others = texts(
          path.toUpperCase(),
          path.replace(/^\/./, (start) => start.toUpperCase()),
          `/v1${path}`,
          `/${path}`,
          `${path}/more/more`,
          path.replace(/s(\/|$)/, '$1'),
        );
        await each(others, async (target) => {
          for (const key of [tenant.key, null]) {
            assertRefused(await callRaw(api, { method: operation.method, target, key }), 404);
          }
        });
      });
    }),

  'is alone at its path with its method': () =>
    withService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const before = await everythingOf(api, tenant.key);
      const paths = [...new Set(operations.map(({ path }) => path))];
      await each(texts(...paths), async (path) => {
        const here = operations.filter((operation) => operation.path === path);
        const taken = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
        const target = callOf(here[0] as Operation, tenant).path;
        const others = METHODS.filter((method) => method !== 'CONNECT' && !taken.includes(method));
        await each(texts(...others), async (method) => {
          for (const key of [tenant.key, null]) {
            const answer = await callRaw(api, { method, target, key });
            assert.equal(answer.status, 404);
            if (method !== 'HEAD') assertRefused(answer, 404);
          }
        });
      });
      assert.deepEqual(await everythingOf(api, tenant.key), before);
    }),

  'answers a success with its headers': () =>
    withService(
      async (api) => {
        const ids = new Set();
        await each(everyOperation, async (operation) => {
          const answer = await callWith(api, operation, await createTenant(api, 'tenant'));
          assert.equal(answer.status, successOf(operation), answer.text);
          assertHeaders(answer);
          assertRateHeaders(answer);
          for (const name of ['etag', 'x-powered-by', 'access-control-allow-origin', 'www-authenticate']) {
            assert.equal(answer.headers.get(name), null, name);
          }
          ids.add(answer.headers.get('x-request-id'));
        });
        assert.equal(ids.size, operations.length, 'each request has an id of its own');
      },
      { settings: { RATE_LIMIT_POINTS: '600' } },
    ),

  'answers a refusal with its headers': () =>
    withService(
      async (api) => {
        const tenant = await createTenant(api, 'tenant');
        await each(everyOperation, async (operation) => {
          const answer = await callWith(api, operation, tenant, { path: `${callOf(operation, tenant).path}?no=1` });
          assertRefused(answer, 422);
          assertRateHeaders(answer);
        });
      },
      { settings: { RATE_LIMIT_POINTS: '600' } },
    ),
});
