import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import { callRaw, chunked, type RawRequest, sendRaw } from '../support/raw-requests.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

/** The maximum size of a request body, in bytes. */
const BODY_LIMIT = 2 ** 20;
const TOO_LARGE = /^The request body is too large\. Send at most 1048576 bytes\.$/;

const TYPE = ['Content-Type', 'application/json'] as const;
const LENGTH_OVER_LIMIT = ['Content-Length', String(BODY_LIMIT + 1)] as const;
const CHUNKED = ['Transfer-Encoding', 'chunked'] as const;
const EXPECT = ['Expect', '100-continue'] as const;

/** The start of a request. A test adds Content-Length or Transfer-Encoding, an empty line and the body. */
const HEAD = `POST /tags HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\n${TYPE.join(': ')}\r\n`;

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

  'does not delay an operation that ignores bodies': () =>
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

  'gets a response that the client can still read after sending the whole body': () =>
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
