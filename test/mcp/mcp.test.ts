import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Operation } from '../../adapters/api/operation.ts';
import { operationSections, operations } from '../../adapters/api/operations.ts';
import type { NewApiKeyFields } from '../../core/access/api-key.ts';
import type { NewMemberFields } from '../../core/member/member.ts';
import { each } from '../support/each.ts';
import { assertError, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { createFixture, withFixture } from '../support/fixture.ts';
import {
  callTool,
  generations,
  type MessageOptions,
  sendMessage,
  toArguments,
  toToolResult,
  withMcpClient,
} from '../support/mcp.ts';
import { allOperations, newValidCall, toPath } from '../support/operations.ts';
import { type Api, type ApiResponse, request, withService, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createKey, createTenant } from '../support/tenants.ts';

/** A tool of a list, as tests need it. */
interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, unknown>>;
    readonly required?: readonly string[];
  };
  readonly annotations: object;
}

async function listTools(api: Pick<Api, 'url'>, options: MessageOptions): Promise<ListedTool[]> {
  return jsonOf(await sendMessage(api, options)).result.tools;
}

async function listNames(api: Pick<Api, 'url'>, options: MessageOptions): Promise<string[]> {
  return (await listTools(api, options)).map(({ name }) => name);
}

/** The operations whose responses have a secret. */
const WITH_SECRET = ['createKey', 'rotateKey', 'createWebhook'];
const expectedTools = operations.filter(({ id }) => !WITH_SECRET.includes(id));

/** Keys of all kinds that can be used. */
const keys: Readonly<Record<string, NewApiKeyFields & { readonly member?: Partial<NewMemberFields> }>> = {
  'no member': {},
  'no member, read': { access: 'read' },
  admin: { member: {} },
  'admin, read': { member: {}, access: 'read' },
  member: { member: { role: 'member' } },
  'member, read': { member: { role: 'member' }, access: 'read' },
  'pending admin': { member: { invitation: 'pending' } },
};

/** Returns the path of an operation with an unknown parameter, so that it has no effect. */
function toInvalidPath(operation: Operation): string {
  return `${toPath(operation, UNKNOWN_ID)}?unknown=`;
}

suite('the tools of MCP', {
  'are listed and called in both generations of the protocol': () =>
    withFixture(async ({ key, create }, { url }) => {
      const tag = await create('/tags', { name: 'Launch' });
      await each(generations, (negotiation, version) =>
        withMcpClient({ url, key }, negotiation, async (client) => {
          assert.equal(client.getNegotiatedProtocolVersion(), version);
          assert.equal(client.getServerVersion()?.name, 'workspace-advocacy');
          assert.deepEqual(client.getServerCapabilities(), { tools: {} });
          const { tools } = await client.listTools();
          assert.deepEqual(
            tools.map(({ name }) => name),
            expectedTools.map(({ id }) => id),
          );
          const found = await client.callTool({ name: 'getTag', arguments: { id: tag.id } });
          assert.deepEqual(toToolResult(found as never), { texts: [JSON.stringify(tag)], isError: false });
          const missing = toToolResult(
            (await client.callTool({ name: 'getTag', arguments: { id: UNKNOWN_ID } })) as never,
          );
          assert.ok(missing.isError);
          assert.match(missing.texts[0] ?? '', /^\{"error":\{"code":"not_found","message":"No such tag/);
          await assert.rejects(client.callTool({ name: 'createKey' }), {
            code: -32602,
            message: /Unknown tool: createKey/,
          });
        }),
      );
    }),

  'are the operations that the key may call over HTTP, without those that return a secret': () =>
    withSharedService(async (api) => {
      const { workspaceId } = await createFixture(api);
      await each(keys, async (fields) => {
        const key = await createKey(api, workspaceId, fields);
        const isAllowed = async (operation: Operation) =>
          (await request(api.url + toInvalidPath(operation), operation.method, { key })).status !== 403;
        const allowed = await Promise.all(expectedTools.map(isAllowed));
        const expected = expectedTools.filter((_, i) => allowed[i]).map(({ id }) => id);
        assert.deepEqual(await listNames(api, { key }), expected);
        // A tool that is not listed is unknown.
        for (const { id } of operations.filter((operation) => !expected.includes(operation.id))) {
          const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: id, arguments: {} } };
          const error = { code: -32602, message: `Unknown tool: ${id}` };
          assert.deepEqual(jsonOf(await sendMessage(api, { key, body })), { jsonrpc: '2.0', id: 7, error });
        }
      });
    }),

  'have the texts, the schemas and the hints of their operations': () =>
    withFixture(async ({ key }, api) => {
      const tools = await listTools(api, { key });
      const document = jsonOf(await api.call('GET', '/openapi.json', { key: null }));
      const ajv = new Ajv2020({ strict: false, logger: false });
      await each(
        tools.map((tool) => [tool.name, tool] as const),
        ({ name, description, inputSchema, annotations, ...others }) => {
          const operation = operations.find(({ id }) => id === name) as Operation;
          const { method, path, example } = operation;
          assert.deepEqual(others, {});

          assert.deepEqual(annotations, {
            readOnlyHint: method === 'GET',
            destructiveHint: method === 'DELETE',
            idempotentHint: ['GET', 'PATCH', 'DELETE'].includes(method),
          });
          const { parameters = [], requestBody, ...texts } = document.paths[path][method.toLowerCase()];
          assert.equal(description, `${texts.summary}. ${texts.description}`);
          const names: string[] = parameters.map((it: { name?: string }) => it.name ?? 'id');
          const bodyName = requestBody?.content['application/json'].schema.$ref.split('/').at(-1);
          const body = document.components.schemas[bodyName] ?? { properties: {} };
          const isHeader = (it: { $ref?: string }) => it.$ref?.endsWith('Idempotency-Key');
          const inPathOrQuery = parameters.filter((it: object) => !isHeader(it));
          assert.deepEqual(
            Object.keys(inputSchema.properties),
            [...inPathOrQuery.map((it: { name?: string }) => it.name ?? 'id'), ...Object.keys(body.properties)],
            names.join(),
          );
          const required = inPathOrQuery.filter((it: { $ref?: string; required?: true }) => it.$ref ?? it.required);
          assert.deepEqual(inputSchema.required ?? [], [
            ...required.map((it: { name?: string }) => it.name ?? 'id'),
            ...(body.required ?? []),
          ]);
          const validate = ajv.compile({ ...inputSchema, $id: name });
          const valid = { ...(path.includes('{id}') && { id: UNKNOWN_ID }), ...example.query, ...example.body };
          assert.ok(validate(valid), JSON.stringify(validate.errors));
          assert.ok(!validate({ ...valid, unknown: 1 }), 'the schema is closed');
        },
      );
      const { sortBy } = tools.find(({ name }) => name === 'listTags')?.inputSchema.properties ?? {};
      assert.equal((sortBy as { default: string }).default, 'createdAt');
    }),

  'return the JSON that HTTP would send': () =>
    withSharedService(async (api) => {
      const shared = await createTenant(api, 'tenant');
      const withoutUse = (text = '') => text.replaceAll(/"lastUsedAt":"[^"]*"/g, '"lastUsedAt":null');
      await each(
        allOperations.filter(([, operation]) => expectedTools.includes(operation)),
        async (operation) => {
          const isRead = operation.method === 'GET';
          const tenant = isRead ? shared : await createTenant(api, 'tenant');
          const { path, body } = newValidCall(operation, tenant);
          const { texts, isError } = await callTool(api, tenant.key, operation.id, toArguments(operation, path, body));
          assert.ok(!isError, texts[0]);
          assert.equal(texts.length, 1);
          // After a write, the same request has another result.
          if (isRead) {
            const { text } = await api.call('GET', path, { key: tenant.key });
            assert.equal(withoutUse(texts[0]), withoutUse(text));
          } else
            assert.deepEqual(operation.response.parse(JSON.parse(texts[0] as string)), JSON.parse(texts[0] as string));
        },
      );
    }),

  'return the error object that HTTP would send': () =>
    withSharedService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      const { key, ids, names } = tenant;
      await each<[id: string, toolArguments: object, method: string, path: string, body?: object]>(
        {
          'an unknown ID': ['getTag', { id: UNKNOWN_ID }, 'GET', `/tags/${UNKNOWN_ID}`],
          'a malformed ID': ['getTag', { id: '../tags' }, 'GET', '/tags/..%2Ftags'],
          'a missing field': ['createTag', {}, 'POST', '/tags', {}],
          'no arguments': ['createTag', undefined as never, 'POST', '/tags', {}],
          'an unknown field': ['createTag', { name: 'x', hue: 1 }, 'POST', '/tags', { name: 'x', hue: 1 }],
          'an unknown parameter': ['listTags', { hue: 1 }, 'GET', '/tags?hue=1'],
          'an unknown name of each object': ['listTags', { constructor: 1 }, 'GET', '/tags?constructor=1'],
          'an ID that the path does not have': ['createTag', { id: 'x' }, 'POST', '/tags', { id: 'x' }],
          'several invalid parameters': ['listTags', { page: 0, sortBy: 'x' }, 'GET', '/tags?page=0&sortBy=x'],
          'a fraction': ['listTags', { page: 1.5 }, 'GET', '/tags?page=1.5'],
          'two values of a single parameter': ['listTags', { search: ['a', 'b'] }, 'GET', '/tags?search=a&search=b'],
          'a name that is taken': ['createTag', { name: names.tag }, 'POST', '/tags', { name: names.tag }],
          'an unknown reference': [
            'updateCampaign',
            { id: ids.campaigns, tagIds: [UNKNOWN_ID] },
            'PATCH',
            `/campaigns/${ids.campaigns}`,
            { tagIds: [UNKNOWN_ID] },
          ],
          'a published campaign': ['deleteCampaign', { id: ids.campaigns }, 'DELETE', `/campaigns/${ids.campaigns}`],
        },
        async ([name, toolArguments, method, path, body]) => {
          const { status, text } = await api.call(method, path, { key, body });
          assert.ok(status >= 400, text);
          assert.deepEqual(await callTool(api, key, name, toolArguments), { texts: [text], isError: true });
        },
      );
    }),

  'reject values that have no form in a query, or are too long, and a missing ID': () =>
    withFixture(async ({ key }, api) => {
      const cases: Readonly<Record<string, readonly [name: string, toolArguments: object, message: RegExp]>> = {
        null: ['listTags', { search: null }, /^search: must be a string$/],
        'an object': ['listTags', { search: {} }, /^search: must be a string$/],
        'a long text': ['listCampaigns', { tagNames: ','.repeat(16_385) }, /^tagNames: must have at most 16384 /],
        'many values': ['listCampaigns', { tagNames: Array(9_000).fill('a') }, /^tagNames: must have at most 16384 /],
        'an object without a text': ['listTags', { search: [{ toString: 1 }] }, /^search: must be a string$/],
        'a name of all objects': ['createTag', { name: 'x', constructor: 1 }, /^constructor: .* fields: name$/],
        'an object in an array': ['listCampaigns', { tagIds: [{}] }, /^tagIds.0: must be a UUID$/],
        'no ID': ['getTag', {}, /^id: is required$/],
        'a number as an ID': ['updateTag', { id: 5, name: 'x' }, /^id: must be a string$/],
      };
      await each(cases, async ([name, toolArguments, message]) => {
        const { texts, isError } = await callTool(api, key, name, toolArguments);
        assert.ok(isError);
        const { code, message: text } = JSON.parse(texts[0] as string).error;
        assert.equal(code, 'unprocessable_entity');
        assert.match(text, message);
      });
    }),

  'take numbers, booleans and arrays as the JSON that the schema describes': () =>
    withFixture(async ({ key, create }, api) => {
      for (const slug of ['a.example', 'b.example', 'c.example']) await create('/domains', { slug });
      const { id } = await create('/domains', { slug: 'd.example' });
      await api.call('PATCH', `/domains/${id}`, { key, body: { archived: true } });
      const tags = [await create('/tags'), await create('/tags')].map((tag) => tag.id);
      const list = async (name: string, toolArguments: object) =>
        JSON.parse((await callTool(api, key, name, toolArguments)).texts[0] as string);
      assert.equal((await list('listDomains', { includeArchived: true })).length, 4);
      assert.equal((await list('listDomains', { includeArchived: false, pageSize: 2, page: 2 })).length, 1);
      await create('/campaigns', { tagIds: [tags[0]] });
      await create('/campaigns', { tagIds: [tags[1]] });
      await create('/campaigns', {});
      assert.equal((await list('listCampaigns', { tagIds: tags })).length, 2);
      assert.equal((await list('listCampaigns', { tagIds: tags.join() })).length, 2);
      assert.equal((await list('listCampaigns', { tagIds: [] })).length, 3, 'an empty array is not a filter');
    }),

  'say how to get the next page': () =>
    withFixture(async ({ key, create, list }, api) => {
      for (let i = 0; i < 5; i++) {
        await create('/tags');
        await create('/members');
      }
      const readAll = async (name: string) => {
        const records: unknown[] = [];
        let next: object | undefined = {};
        while (next) {
          const { texts, isError } = await callTool(api, key, name, { pageSize: 2, ...next });
          assert.ok(!isError);
          records.push(...JSON.parse(texts[0] as string));
          const [, parameter = '', value] = /and with `(\w+)` (\d+)\.$/.exec(texts[1] ?? '') ?? [];
          next = parameter === '' ? undefined : { [parameter]: Number(value) };
        }
        return records;
      };
      assert.deepEqual(await readAll('listTags'), await list('/tags'));
      const events = await list('/events');
      assert.ok(events.length >= 5);
      assert.deepEqual(await readAll('listEvents'), events);
    }),

  'are narrowed to sections of the reference': () =>
    withFixture(async ({ key }, api) => {
      const { text: page } = await api.call('GET', '/docs', { key: null });
      const anchors = [...page.matchAll(/<h2 id="([^"]+)"/g)].map(([, anchor]) => anchor as string);
      assert.equal(anchors.length, operationSections.length);
      const listOf = (query: string) => listNames(api, { key, query });
      for (const [i, anchor] of anchors.entries()) {
        const ids = operationSections[i]?.operations.map(({ id }) => id).filter((id) => !WITH_SECRET.includes(id));
        assert.deepEqual(await listOf(`?sections=${anchor}`), ids, anchor);
      }
      const both = await listOf('?sections=tags,groups');
      assert.deepEqual(both, await listOf('?sections=groups&sections=tags'), 'in the order of the reference');
      assert.deepEqual(both.slice(0, 2), ['createGroup', 'listGroups']);
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'listGroups' } };
      assert.ok(jsonOf(await sendMessage(api, { key, body, query: '?sections=groups' })).result);
      const { error } = jsonOf(await sendMessage(api, { key, body, query: '?sections=tags' }));
      assert.equal(error.message, 'Unknown tool: listGroups');
      for (const unknown of ['tag', 'Tags', 'tags,', '', 'tags&sections=', 'constructor']) {
        assertError(
          await sendMessage(api, { key, query: `?sections=${unknown}` }),
          400,
          /^sections: must be among caller, campaigns, .*tags/,
        );
      }
      assertError(await sendMessage(api, { key, query: '?sections=%ff' }), 400, /cannot be decoded/);
    }),

  'let a pending member accept the invitation': () =>
    withSharedService(async (api) => {
      const { workspaceId } = await createFixture(api);
      const key = await createKey(api, workspaceId, {
        member: { role: 'member', invitation: 'pending' },
        access: 'read',
      });
      assert.deepEqual(await listNames(api, { key }), ['acceptInvitation']);
      const { texts, isError } = await callTool(api, key, 'acceptInvitation');
      assert.ok(!isError, texts[0]);
      assert.equal(JSON.parse(texts[0] as string).member.invitation, 'accepted');
    }),

  'show no text of an unexpected error': () => {
    const lines: string[] = [];
    const log = { write: (line: string) => void lines.push(line) };
    return withService(
      async (api) => {
        const { key } = await createFixture(api);
        api.app.tags.list = () => Promise.reject(new Error('confidential'));
        const { texts, isError } = await callTool(api, key, 'listTags');
        assert.ok(isError);
        assert.equal(texts[0], (await api.call('GET', '/tags', { key })).text);
        assert.doesNotMatch(texts.join(), /confidential/);
        const errors = lines.map((line) => JSON.parse(line)).filter(({ err }) => err);
        assert.deepEqual(
          errors.map(({ err, tool }) => [err.message, tool]),
          [
            ['confidential', 'listTags'],
            ['confidential', undefined],
          ],
        );
      },
      { log },
    );
  },

  'have a log line with the tool, the member and the record': () => {
    const lines: string[] = [];
    const log = { write: (line: string) => void lines.push(line) };
    return withService(
      async (api) => {
        const { key, admin } = await createFixture(api);
        const created = await callTool(api, key, 'createTag', { name: 'Launch' });
        const { id } = JSON.parse(created.texts[0] as string);
        await callTool(api, key, 'createTag', { name: 'Launch' });
        await sendMessage(api, { key });
        const shown = lines.map((line) => JSON.parse(line)).filter(({ route }) => route === '/mcp');
        assert.deepEqual(
          shown.map(({ method, tool, memberId, recordId, status }) => [method, tool, memberId, recordId, status]),
          [
            ['POST', 'createTag', admin.id, id, 200],
            ['POST', 'createTag', admin.id, undefined, 200],
            ['POST', undefined, admin.id, undefined, 200],
          ],
        );
      },
      { log },
    );
  },
});

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

suite('POST /mcp', {
  'rejects a request with the error object and the checks of HTTP': () =>
    withService(
      async (api) => {
        const { workspaceId } = await createFixture(api);
        const key = await createKey(api, workspaceId);
        const expired = await createKey(api, workspaceId, { member: { invitation: 'expired' } });
        const exhausted = await createKey(api, workspaceId);
        const cases: Readonly<Record<string, readonly [MessageOptions, status: number, message: RegExp]>> = {
          'no key': [{ key: null }, 401, /^No API key/],
          'another scheme': [{ key: null, headers: { Authorization: 'Basic eA==' } }, 401, /./],
          'an unknown key': [{ key: 'adv_unknown' }, 401, /key is unknown/],
          'an expired invitation': [{ key: expired }, 410, /invitation .* expired/],
          'an Origin header': [{ key, headers: { Origin: 'http://127.0.0.1:3000' } }, 403, /Origin/],
          'an empty Origin header': [{ key, headers: { Origin: '' } }, 403, /Origin/],
          'an array': [{ key, body: [PING] }, 400, /must be a JSON object/],
          'an array of two': [{ key, body: [PING, PING] }, 400, /must be a JSON object/],
          'an empty array': [{ key, body: [] }, 400, /must be a JSON object/],
          'no message': [{ key, body: {} }, 400, /not a valid JSON-RPC message$/],
          'another version of JSON-RPC': [{ key, body: { ...PING, jsonrpc: '1.0' } }, 400, /JSON-RPC message$/],
          'an incomplete message of the newest version': [
            { key, body: PING, headers: { 'MCP-Protocol-Version': '2026-07-28' } },
            400,
            /missing .* _meta$/,
          ],
          'an unknown version of the protocol': [
            { key, headers: { 'MCP-Protocol-Version': '1999-01-01' } },
            400,
            /Unsupported protocol version: 1999-01-01/,
          ],
          'invalid JSON': [{ key, body: '{' }, 400, /not valid JSON/],
          'an empty body': [{ key, body: '' }, 400, /must not be empty/],
          'another content type': [{ key, headers: { 'Content-Type': 'text/plain' } }, 400, /must be JSON/],
          'a content encoding': [{ key, headers: { 'Content-Encoding': 'gzip' } }, 400, /compressed/],
          'a large body': [{ key, body: { ...PING, params: { x: 'x'.repeat(2_000) } } }, 400, /too large/],
          // Of several errors, the first one in this order determines the response.
          'an unknown key and an Origin header': [{ key: 'x', headers: { Origin: 'null' } }, 401, /unknown/],
          'an expired invitation and an Origin header': [{ key: expired, headers: { Origin: 'null' } }, 410, /./],
          'an Origin header and an unknown section': [
            { key, headers: { Origin: 'x' }, query: '?sections=x' },
            403,
            /./,
          ],
          'an unknown parameter': [{ key, query: '?section=tags' }, 400, /^section: unknown parameter, .*: sections$/],
          'an unknown parameter beside sections': [
            { key, query: '?sections=tags&__proto__=1' },
            400,
            /^__proto__: .*: sections$/,
          ],
          'an unknown section and invalid JSON': [{ key, query: '?sections=x', body: '{' }, 400, /^sections: /],
        };
        await each(cases, async ([options, status, message]) =>
          assertError(await sendMessage(api, options), status, message),
        );
        for (let i = 0; i < 25; i++) await sendMessage(api, { key: exhausted, body: PING });
        const origin = { Origin: 'null' };
        assertError(await sendMessage(api, { key: exhausted }), 429, /^Too many requests with this key/);
        assertError(await sendMessage(api, { key: exhausted, headers: origin }), 429, /^Too many requests/);
        assertError(await api.call('GET', '/tags', { key: exhausted }), 429);
      },
      { settings: { RATE_LIMIT_POINTS: '25', BODY_LIMIT_BYTES: '1000' } },
    ),

  'lists the versions of the protocol to a client that sends another one': () =>
    withFixture(async ({ key }, api) => {
      const version = '2099-01-01';
      const _meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const method = 'server/discover';
      const headers = { 'MCP-Protocol-Version': version, 'MCP-Method': method };
      const body = { jsonrpc: '2.0', id: 1, method, params: { _meta } };
      const { error } = jsonOf(await sendMessage(api, { key, body, headers }), 400);
      assert.deepEqual(error.data, { supported: ['2026-07-28'], requested: version });
    }),

  'counts a message as one request': () =>
    withService(
      async (api) => {
        const { key } = await createFixture(api);
        const getRemaining = ({ headers }: ApiResponse) => Number(headers.get('x-ratelimit-remaining'));
        assert.equal(getRemaining(await sendMessage(api, { key })), 9);
        assert.equal(
          getRemaining(await sendMessage(api, { key, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })),
          8,
        );
        await callTool(api, key, 'listTags');
        assert.equal(getRemaining(await api.call('GET', '/tags', { key })), 6);
      },
      { settings: { RATE_LIMIT_POINTS: '10' } },
    ),

  'responds in JSON, and with the headers of other responses': () =>
    withFixture(async ({ key }, api) => {
      const { status, headers, json } = await sendMessage(api, { key, body: PING });
      assert.deepEqual([status, json], [200, { jsonrpc: '2.0', id: 1, result: {} }]);
      assert.equal(headers.get('content-type'), 'application/json');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
      assert.ok(!headers.has('mcp-session-id'));
      const notification = await sendMessage(api, {
        key,
        body: { jsonrpc: '2.0', method: 'notifications/initialized' },
      });
      assert.deepEqual([notification.status, notification.text], [202, '']);
      const unacceptable = await sendMessage(api, { key, body: PING, headers: { Accept: 'text/html' } });
      assert.equal(unacceptable.status, 406);
      const { error } = jsonOf(await sendMessage(api, { key, body: { ...PING, method: 'resources/list' } }));
      assert.equal(error.code, -32601);
    }),

  'ends a subscription at once, because the tools of a key do not change': () =>
    withFixture(async ({ key }, { url }) =>
      withMcpClient({ url, key }, generations['2026-07-28'] as never, async (client) => {
        const subscription = await client.listen({ toolsListChanged: true });
        assert.deepEqual(subscription.honoredFilter, {});
      }),
    ),

  'is the only method of its path': () =>
    withFixture(async (_, api) => {
      for (const path of ['/mcp', '/mcp/', '/mcp?sections=unknown']) {
        for (const method of ['GET', 'DELETE', 'HEAD']) {
          const response = await request(api.url + path, method, { key: null, headers: { Origin: 'null' } });
          assert.deepEqual([response.status, response.headers.get('allow'), response.text], [405, 'POST', ''], method);
        }
      }
      for (const method of ['PUT', 'PATCH', 'OPTIONS']) assertError(await request(`${api.url}/mcp`, method, {}), 404);
      assertError(await request(`${api.url}/mcp/x`, 'POST', {}), 404);
      assert.equal((await sendMessage({ url: `${api.url}` }, { query: '/', key: null })).status, 401);
    }),

  'does not exist with MCP=false': () =>
    withService(
      async (api) => {
        assertError(await sendMessage(api), 404, /^The operation POST \/mcp does not exist/);
        for (const method of ['GET', 'DELETE']) assertError(await api.call(method, '/mcp', { key: null }), 404);
      },
      { settings: { MCP: 'false' } },
    ),

  'is not in the OpenAPI document, but in the text for language models': () =>
    withFixture(async (_, { call }) => {
      assert.ok(!('/mcp' in jsonOf(await call('GET', '/openapi.json', { key: null })).paths));
      assert.match((await call('GET', '/llms.txt', { key: null })).text, /Model Context Protocol.*`POST \/mcp`/);
    }),
});
