import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { each } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import { callRaw, chunked, type RawRequest, sendRaw } from '../support/raw-requests.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The maximum size of a request body, in bytes. */
const BODY_LIMIT = 2 ** 20;
/** The limits of adapters/http/protection/memory-budget.ts for one workspace, and for all workspaces before a lower limit applies. */
const MAX_WORKSPACE_MIB = 32;
const PRESSURE_MIB = 128;
/** A size that is within the limit of a workspace, however many chunks the bodies arrive in. */
const ALLOWED_MIB = 24;
const REJECTED_RESPONSE = /^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n.*Too many request bodies of your workspace/s;
const TOO_LARGE = /^The request body must have at most 1048576 bytes\.$/;

const TYPE = ['Content-Type', 'application/json'] as const;
const LENGTH_OVER_LIMIT = ['Content-Length', String(BODY_LIMIT + 1)] as const;
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const;
const EXPECT = ['Expect', '100-continue'] as const;

/** Returns the start of a request. The headers that frame its body, an empty line and the body must follow. */
const createHead = (key: string) =>
  `POST /tags HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${TYPE.join(': ')}\r\n`;
const HEAD = createHead(DEMO_API_KEY);

const post = (request: Partial<RawRequest>) => ({ method: 'POST', target: '/tags', key: DEMO_API_KEY, ...request });

/** Requests with a body over the limit, which the client does not send completely. */
const overLimit: Readonly<Record<string, RawRequest>> = {
  'its Content-Length is over the limit': post({ headers: [TYPE, LENGTH_OVER_LIMIT], body: '{' }),
  'its Content-Length is over the limit, and no byte follows': post({ headers: [TYPE, LENGTH_OVER_LIMIT] }),
  'the client waits for 100 Continue': post({ headers: [TYPE, LENGTH_OVER_LIMIT, EXPECT] }),
  'its chunks are over the limit': post({
    headers: [TYPE, CHUNKED],
    body: chunked(' '.repeat(BODY_LIMIT + 1)).slice(0, -5),
  }),
};

/** Sends bodies of a mebibyte without their last byte, each over a connection of its own. `end` sends the last bytes. */
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
  'are rejected if one workspace uses too much memory for them, without affecting other workspaces': () =>
    withService(async (api) => {
      const { key } = await createTenant(api, 'other');
      const { url } = api;
      for (const name of ['at first', 'afterwards']) {
        const unfinished = await sendUnfinished(url, 2 * MAX_WORKSPACE_MIB);
        await waitUntil(() => unfinished.responses.length >= MAX_WORKSPACE_MIB / 2);
        for (const response of unfinished.responses) assert.match(response, REJECTED_RESPONSE);
        const body = JSON.stringify({ name }) + ' '.repeat(BODY_LIMIT - 100);
        assert.equal((await callRaw({ url }, post({ key, headers: [TYPE], body }))).status, 201);
        assert.ok(unfinished.responses.length <= MAX_WORKSPACE_MIB + 2, `${unfinished.responses.length}`);
        await unfinished.end();
      }
    }),

  'are rejected earlier if all workspaces use much memory for them, without affecting workspaces with few': () =>
    withService(async ({ url, app }) => {
      const keys: string[] = [];
      while (keys.length * ALLOWED_MIB < PRESSURE_MIB + MAX_WORKSPACE_MIB) {
        keys.push((await createTenant({ app }, `t${keys.length}`)).key);
      }
      const { key } = await createTenant({ app }, 'other');
      const unfinished = await Promise.all(keys.map((key) => sendUnfinished(url, ALLOWED_MIB, key)));
      const responses = () => unfinished.flatMap((sending) => sending.responses);
      await waitUntil(() => responses().length >= keys.length * ALLOWED_MIB - PRESSURE_MIB);
      for (const response of responses()) assert.match(response, REJECTED_RESPONSE);
      const body = JSON.stringify({ name: 'created meanwhile' }) + ' '.repeat(BODY_LIMIT - 100);
      assert.equal((await callRaw({ url }, post({ key, headers: [TYPE], body }))).status, 201);
      await Promise.all(unfinished.map((sending) => sending.end()));
    }),

  'do not crash the service if some of them are also over the size limit': () =>
    withService(async ({ url, call }) => {
      const unfinished = await sendUnfinished(url, MAX_WORKSPACE_MIB - 1);
      const begin = (length: number) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        socket.on('error', () => socket.destroy()).resume();
        socket.write(`${HEAD}Content-Length: ${length}\r\n\r\n${' '.repeat(60_000)}`);
        return socket;
      };
      const sockets: Socket[] = [];
      for (let sent = 0; sent < BODY_LIMIT; sent += 60_000) {
        sockets.push(begin(BODY_LIMIT), begin(2 * BODY_LIMIT));
        await delay(20);
      }
      assert.equal((await call('GET', '/campaigns')).status, 200);
      for (const socket of sockets) socket.destroy();
      await unfinished.end();
    }),

  'no longer use the memory budget when they have a response': () =>
    withService(async (api) => {
      const part = ' '.repeat(BODY_LIMIT - 100_000);
      const endings: Readonly<Record<string, string>> = {
        'the client ends its side': `${HEAD}Content-Length: ${BODY_LIMIT}\r\n\r\n${part}`,
        'a chunk is broken': `${HEAD}${CHUNKED.join(': ')}\r\n\r\n${part.length.toString(16)}\r\n${part}\r\nzz\r\n`,
      };
      await each(endings, async (bytes) => {
        for (let sent = 0; sent < 2 * MAX_WORKSPACE_MIB; sent++) await sendRaw(api.url, [bytes], true);
        const unfinished = await sendUnfinished(api.url, ALLOWED_MIB);
        await delay(500);
        assert.deepEqual(unfinished.responses, []);
        await unfinished.end();
      });
    }),
});

suite('a body in many chunks', {
  'is rejected if the chunks take much more memory than their bytes': () =>
    withService(async ({ url }) => {
      const pieces = '1\r\n \r\n'.repeat(100_000);
      const responses = await sendRaw(url, [`${HEAD}Transfer-Encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`], false);
      assert.deepEqual(
        responses.map(({ status }) => status),
        [429],
      );
    }),
});

suite('a body over the limit', {
  'is rejected before it has arrived completely, without a 100 Continue': () =>
    withService((api) => each(overLimit, async (request) => assertError(await callRaw(api, request), 400, TOO_LARGE))),

  'does not delay the response if the request has another error': () =>
    withService(async (api) => {
      const headers = [TYPE, LENGTH_OVER_LIMIT, EXPECT];
      assertError(await callRaw(api, post({ headers, key: null })), 401);
      assertError(await callRaw(api, post({ headers, target: '/nothing' })), 404);
      assertError(await callRaw(api, post({ headers: [LENGTH_OVER_LIMIT, EXPECT] })), 400, /must be JSON/);
    }),

  'does not delay an operation that ignores its body': () =>
    withService(async (api) => {
      const response = await callRaw(api, {
        method: 'GET',
        target: '/domains',
        key: DEMO_API_KEY,
        headers: [LENGTH_OVER_LIMIT],
      });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('connection'), 'close');
    }),

  'gets a response that the client can read even after it has sent the whole body': () =>
    withService(async (api) => {
      const body = Buffer.alloc(64 * BODY_LIMIT, ' ');
      assertError(await callRaw(api, post({ headers: [TYPE], body })), 400, TOO_LARGE);
      const head = `${(body.length).toString(16)}\r\n`;
      const inChunks = Buffer.concat([Buffer.from(head), body]);
      assertError(await callRaw(api, post({ headers: [TYPE, CHUNKED], body: inChunks })), 400, TOO_LARGE);
    }),

  'closes the connection, so that no later request is served': () =>
    withService(async (api) => {
      const request = (headers: string, body: string) => `${HEAD}${headers}\r\n${body}`;
      const next = request('Content-Length: 16\r\n', '{"name":"never"}');
      for (const first of [
        request(`${LENGTH_OVER_LIMIT.join(': ')}\r\n`, ' '.repeat(BODY_LIMIT + 1)),
        request(`${CHUNKED.join(': ')}\r\n`, chunked(' '.repeat(4 * BODY_LIMIT))),
      ]) {
        const responses = await sendRaw(api.url, [first, next], false);
        assert.deepEqual(
          responses.map(({ status }) => status),
          [400],
        );
      }
      assert.equal((await api.call('POST', '/tags', { body: { name: 'never' } })).status, 201);
    }),
});
