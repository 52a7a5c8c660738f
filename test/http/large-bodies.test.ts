import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { each } from '../support/each.ts';
import { assertRefused } from '../support/expected-responses.ts';
import { callRaw, chunked, converse, type RawRequest } from '../support/raw.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';
import { until } from '../support/until.ts';

const LIMIT = 2 ** 20;
const MOST_ARRIVING_MIB = 32;
const MUCH_ARRIVING_OF_ALL_MIB = 128;
/** What is not too much for a workspace, in however many pieces it comes. */
const LESS_ARRIVING_MIB = 24;
const TOO_MANY = /^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n.*Too many bodies of your workspace/s;
const TOO_LARGE = /^The request body must have at most 1048576 bytes\.$/;

const TYPE = ['Content-Type', 'application/json'] as const;
const OVER = ['Content-Length', String(LIMIT + 1)] as const;
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const;
const EXPECT = ['Expect', '100-continue'] as const;

/** What stands before the headers that frame a body. */
const headOf = (key: string) =>
  `POST /tags HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${TYPE.join(': ')}\r\n`;
const HEAD = headOf(DEMO_API_KEY);

const post = (request: Partial<RawRequest>) => ({ method: 'POST', target: '/tags', key: DEMO_API_KEY, ...request });

/** Bodies over the limit of which the client never sends the end. */
const unfinished: Readonly<Record<string, RawRequest>> = {
  'its length tells it': post({ headers: [TYPE, OVER], body: '{' }),
  'its length tells it before the first byte': post({ headers: [TYPE, OVER] }),
  'the client waits for 100 Continue': post({ headers: [TYPE, OVER, EXPECT] }),
  'it comes in chunks': post({ headers: [TYPE, CHUNKED], body: chunked(' '.repeat(LIMIT + 1)).slice(0, -5) }),
};

/** Bodies of nearly a megabyte whose last byte does not come, and what is answered to some of them meanwhile. */
async function sendUnfinished(url: string, count: number, key = DEMO_API_KEY) {
  const bytes = Buffer.concat([
    Buffer.from(`${headOf(key)}Content-Length: ${LIMIT}\r\n\r\n`),
    Buffer.alloc(LIMIT - 1, ' '),
  ]);
  const answers: string[] = [];
  const sockets = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('data', (answer) => answers.push(String(answer))).on('error', () => socket.destroy());
    socket.write(bytes);
  }
  return {
    answers,
    async end() {
      for (const socket of sockets) socket.end('}');
      await Promise.all(sockets.map((socket) => socket.destroyed || once(socket, 'close')));
    },
  };
}

suite('bodies that do not come whole', {
  'are refused where those of a workspace hold too much, and no other workspace notices': () =>
    withService(async (api) => {
      const { key } = await createTenant(api, 'other');
      const { url } = api;
      for (const name of ['at first', 'when they have gone']) {
        const unfinished = await sendUnfinished(url, 2 * MOST_ARRIVING_MIB);
        await until(() => unfinished.answers.length >= MOST_ARRIVING_MIB / 2);
        for (const answer of unfinished.answers) assert.match(answer, TOO_MANY);
        const body = JSON.stringify({ name }) + ' '.repeat(LIMIT - 100);
        assert.equal((await callRaw({ url }, post({ key, headers: [TYPE], body }))).status, 201);
        assert.ok(unfinished.answers.length <= MOST_ARRIVING_MIB + 2, `${unfinished.answers.length}`);
        await unfinished.end();
      }
    }),

  'are refused where those of all hold much, and no workspace notices that has hardly any': () =>
    withService(async ({ url, app }) => {
      const keys: string[] = [];
      while (keys.length * LESS_ARRIVING_MIB < MUCH_ARRIVING_OF_ALL_MIB + MOST_ARRIVING_MIB) {
        keys.push((await createTenant({ app }, `t${keys.length}`)).key);
      }
      const { key } = await createTenant({ app }, 'other');
      const unfinished = await Promise.all(keys.map((key) => sendUnfinished(url, LESS_ARRIVING_MIB, key)));
      const answers = () => unfinished.flatMap((each) => each.answers);
      await until(() => answers().length >= keys.length * LESS_ARRIVING_MIB - MUCH_ARRIVING_OF_ALL_MIB);
      for (const answer of answers()) assert.match(answer, TOO_MANY);
      const body = JSON.stringify({ name: 'made meanwhile' }) + ' '.repeat(LIMIT - 100);
      assert.equal((await callRaw({ url }, post({ key, headers: [TYPE], body }))).status, 201);
      await Promise.all(unfinished.map((each) => each.end()));
    }),

  'do no harm where they are also too large': () =>
    withService(async ({ url, call }) => {
      const unfinished = await sendUnfinished(url, MOST_ARRIVING_MIB - 1);
      const begin = (length: number) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        socket.on('error', () => socket.destroy()).resume();
        socket.write(`${HEAD}Content-Length: ${length}\r\n\r\n${' '.repeat(60_000)}`);
        return socket;
      };
      const sockets: Socket[] = [];
      for (let sent = 0; sent < LIMIT; sent += 60_000) {
        sockets.push(begin(LIMIT), begin(2 * LIMIT));
        await delay(20);
      }
      assert.equal((await call('GET', '/campaigns')).status, 200);
      for (const socket of sockets) socket.destroy();
      await unfinished.end();
    }),

  'count no more when they have been answered': () =>
    withService(async (api) => {
      const most = ' '.repeat(LIMIT - 100_000);
      const endings: Readonly<Record<string, string>> = {
        'the client ends its side': `${HEAD}Content-Length: ${LIMIT}\r\n\r\n${most}`,
        'a chunk is broken': `${HEAD}${CHUNKED.join(': ')}\r\n\r\n${most.length.toString(16)}\r\n${most}\r\nzz\r\n`,
      };
      await each(endings, async (bytes) => {
        for (let sent = 0; sent < 2 * MOST_ARRIVING_MIB; sent++) await converse(api.url, [bytes], true);
        const unfinished = await sendUnfinished(api.url, LESS_ARRIVING_MIB);
        await delay(500);
        assert.deepEqual(unfinished.answers, []);
        await unfinished.end();
      });
    }),
});

suite('a body in many pieces', {
  'is refused where these take much more memory than it': () =>
    withService(async ({ url }) => {
      const pieces = '1\r\n \r\n'.repeat(100_000);
      const responder = await converse(url, [`${HEAD}Transfer-Encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`], false);
      assert.deepEqual(
        responder.map(({ status }) => status),
        [429],
      );
    }),
});

suite('a body over the limit', {
  'is refused before it has come, without a 100 Continue': () =>
    withService((api) =>
      each(unfinished, async (request) => assertRefused(await callRaw(api, request), 400, TOO_LARGE)),
    ),

  'is not waited for by another refusal': () =>
    withService(async (api) => {
      const headers = [TYPE, OVER, EXPECT];
      assertRefused(await callRaw(api, post({ headers, key: null })), 401);
      assertRefused(await callRaw(api, post({ headers, target: '/nothing' })), 404);
      assertRefused(await callRaw(api, post({ headers: [OVER, EXPECT] })), 400, /must be JSON/);
    }),

  'is not waited for where it is not looked at': () =>
    withService(async (api) => {
      const answer = await callRaw(api, { method: 'GET', target: '/domains', key: DEMO_API_KEY, headers: [OVER] });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('connection'), 'close');
    }),

  'is refused so that the client reads it, however much it sends first': () =>
    withService(async (api) => {
      const body = Buffer.alloc(64 * LIMIT, ' ');
      assertRefused(await callRaw(api, post({ headers: [TYPE], body })), 400, TOO_LARGE);
      const head = `${(body.length).toString(16)}\r\n`;
      const inChunks = Buffer.concat([Buffer.from(head), body]);
      assertRefused(await callRaw(api, post({ headers: [TYPE, CHUNKED], body: inChunks })), 400, TOO_LARGE);
    }),

  'is the last thing that is read of its connection': () =>
    withService(async (api) => {
      const request = (headers: string, body: string) => `${HEAD}${headers}\r\n${body}`;
      const next = request('Content-Length: 16\r\n', '{"name":"never"}');
      for (const first of [
        request(`${OVER.join(': ')}\r\n`, ' '.repeat(LIMIT + 1)),
        request(`${CHUNKED.join(': ')}\r\n`, chunked(' '.repeat(4 * LIMIT))),
      ]) {
        const responder = await converse(api.url, [first, next], false);
        assert.deepEqual(
          responder.map(({ status }) => status),
          [400],
        );
      }
      assert.equal((await api.call('POST', '/tags', { body: { name: 'never' } })).status, 201);
    }),
});
