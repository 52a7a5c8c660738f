import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { MemoryBudget } from '../../adapters/http/protection/memory-budget.ts';
import { requestBytes } from '../support/concurrent-clients.ts';
import { each } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import { callRaw, sendRaw } from '../support/raw-requests.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The maximum size of a request body, in bytes. */
const BODY_LIMIT = 2 ** 20;
/** The limit of adapters/http/protection/memory-budget.ts. */
const MAX_MIB = 128;
/**
 * The number of questions on a page. JSON needs six bytes for each character of their descriptions, so a page has three
 * megabytes.
 */
const QUESTION_COUNT = 100;
/**
 * The number of requests of a client that reads no response. One request would be too few, because the first responses
 * fit into the buffers of the connection.
 */
const UNREAD_COUNT = 10;
const CONNECTION_COUNT = 10;
const REJECTED =
  /^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n.*Your workspace sends request bodies or reads responses too slowly/s;

const createHead = (key: string) =>
  `POST /tags HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
const HEAD = createHead(DEMO_API_KEY);

suite('a memory budget', {
  'has an error only if it is exceeded in total, and only for workspaces that use at least the average': () => {
    const budget = new MemoryBudget();
    const hasError = (...workspaces: string[]) =>
      workspaces.map((workspace) => budget.findError(workspace) !== undefined);
    budget.reserve('a', MAX_MIB * 2 ** 20);
    assert.deepEqual(hasError('a', 'b'), [false, false]);
    budget.reserve('b', 2 ** 20);
    assert.deepEqual(hasError('a', 'b', 'c'), [true, false, false]);
    budget.reserve('b', MAX_MIB * 2 ** 20);
    assert.deepEqual(hasError('a', 'b', 'c'), [false, true, false]);
    budget.reserve('b', -(MAX_MIB + 1) * 2 ** 20);
    assert.deepEqual(hasError('a', 'b'), [false, false]);
  },
});

/**
 * Sends bodies of a mebibyte without their last byte, each over a connection of its own. `end` sends the last bytes.
 */
async function sendUnfinished(url: string, count: number, key = DEMO_API_KEY) {
  const bytes = Buffer.concat([
    Buffer.from(`${createHead(key)}Content-Length: ${BODY_LIMIT}\r\n\r\n`),
    Buffer.alloc(BODY_LIMIT - 1, ' '),
  ]);
  const responses: string[] = [];
  const sockets = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('data', (response) => responses.push(String(response))).on('error', () => socket.destroy());
    socket.write(bytes);
  }
  return {
    responses,
    async end() {
      for (const socket of sockets) socket.end('}');
      await Promise.all(sockets.map((socket) => socket.destroyed || once(socket, 'close')));
    },
  };
}

suite('incomplete bodies', {
  'are rejected if they exceed the memory budget, without affecting other workspaces': () =>
    withService(async (api) => {
      const { key } = await createTenant(api, 'other');
      const { url } = api;
      for (const name of ['at first', 'afterwards']) {
        const unfinished = await sendUnfinished(url, MAX_MIB + 32);
        await waitUntil(() => unfinished.responses.length >= 16);
        for (const response of unfinished.responses) assert.match(response, REJECTED);
        const body = JSON.stringify({ name }) + ' '.repeat(BODY_LIMIT - 100);
        const headers = [['Content-Type', 'application/json']] as const;
        assert.equal((await callRaw({ url }, { method: 'POST', target: '/tags', key, headers, body })).status, 201);
        assert.ok(unfinished.responses.length <= 48, `${unfinished.responses.length}`);
        await unfinished.end();
      }
    }),

  'no longer use the memory budget when they have a response': () =>
    withService(async (api) => {
      const part = ' '.repeat(BODY_LIMIT - 100_000);
      const endings: Readonly<Record<string, string>> = {
        'the client ends its side': `${HEAD}Content-Length: ${BODY_LIMIT}\r\n\r\n${part}`,
        'a chunk is broken': `${HEAD}Transfer-Encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n${part}\r\nzz\r\n`,
      };
      await each(endings, async (bytes, name) => {
        for (let sent = 0; sent < 1.2 * MAX_MIB; sent++) await sendRaw(api.url, [bytes], true);
        assert.equal((await api.call('POST', '/tags', { body: { name } })).status, 201);
      });
    }),
});

suite('responses that clients do not read', {
  'use the same memory budget as incomplete bodies, until their connections are closed': () =>
    withService(async ({ url, call }) => {
      for (let i = 0; i < QUESTION_COUNT; i++) {
        const body = { question: `What is ${i}?`, description: '\u0001'.repeat(4_998) };
        assert.equal((await call('POST', '/inspiration-questions', { body })).status, 201);
      }
      const unfinished = await sendUnfinished(url, MAX_MIB - 8);
      const request = requestBytes('GET', `/inspiration-questions?pageSize=${QUESTION_COUNT}`);
      const sockets: Socket[] = [];
      while (sockets.length < CONNECTION_COUNT) {
        const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
        socket.on('error', () => socket.destroy()).write(Buffer.concat(Array(UNREAD_COUNT).fill(request)));
        sockets.push(socket);
      }
      await waitUntil(async () => (await call('GET', '/campaigns')).status === 429);
      const rejected = await call('GET', '/campaigns');
      assertError(rejected, 429, /reads responses too slowly/);
      assert.equal(rejected.json.error.doc_url, '/docs/errors#rate-limit-exceeded-overload');
      for (const socket of sockets) socket.destroy();
      await waitUntil(async () => (await call('GET', '/campaigns')).status === 200);
      await unfinished.end();
    }),
});
