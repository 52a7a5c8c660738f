import assert from 'node:assert/strict';
import { errors } from '../../adapters/api/errors.ts';
import { each } from '../support/each.ts';
import { type RawResponse, sendRaw } from '../support/raw-requests.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const HOST = 'Host: localhost\r\n';
const KEY = `Authorization: Bearer ${DEMO_API_KEY}\r\n`;
const CLOSE = 'Connection: close\r\n';
const JSON_TYPE = 'Content-Type: application/json\r\n';

/** Returns a well-formed GET that closes the connection. */
const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\n${HOST}${KEY}${CLOSE}${headers}\r\n`;

/** Returns a POST that closes the connection. Each character of a text is sent as one byte (Latin-1). */
const post = (headers: string, body: string | Buffer = '', type = JSON_TYPE) =>
  Buffer.concat([
    Buffer.from(`POST /tags HTTP/1.1\r\n${HOST}${KEY}${CLOSE}${type}${headers}\r\n`, 'latin1'),
    Buffer.from(body as string, 'latin1'),
  ]);

/** Returns a POST whose Content-Length is the length of its body. */
const sized = (body: string | Buffer, headers = '', type = JSON_TYPE) =>
  post(`Content-Length: ${Buffer.from(body as string, 'latin1').length}\r\n${headers}`, body, type);

/** Returns a POST with `Transfer-Encoding: chunked`. `chunks` is the body as it is sent. */
const chunked = (chunks: string, headers = '') => post(`Transfer-Encoding: chunked\r\n${headers}`, chunks);

const body = '{"name":"never stored"}';

interface Probe {
  readonly sends: string | Buffer | readonly (string | Buffer)[];
  /** The statuses of all responses, in order. An empty array means that the connection is closed without a response. */
  readonly gets: readonly number[];
  /** Whether the client ends its side of the connection after the last byte. */
  readonly isHalfClosed?: true;
}

const probes: Readonly<Record<string, Probe>> = {
  'a well-formed request for an unknown operation': { sends: get('/tags/x?'), gets: [404] },
  'a request for a list': { sends: get('/campaigns'), gets: [200] },
  ...Object.fromEntries(
    ['http://[/campaigns', 'http://', 'http://xn--a/campaigns', 'http://a[b/campaigns', 'http://a:b/campaigns'].map(
      (target) => [`an absolute target that is not a URL: ${target}`, { sends: get(target), gets: [400] }],
    ),
  ),
  // Without a path, the target is `/`, which redirects to the documentation.
  'an absolute target with another scheme and no path': { sends: get('foo://'), gets: [302] },
  'an absolute target with a query': { sends: get('HTTP://a:1/campaigns?page=0'), gets: [422] },
  'an absolute target whose path cannot be decoded': { sends: get('http://localhost/campaigns/%ff'), gets: [400] },
  'a target with a fragment': { sends: get('/campaigns#a'), gets: [400] },
  'an absolute target with a fragment': { sends: get('http://localhost/campaigns#a'), gets: [400] },
  'an unknown path with a fragment': { sends: get('/nothing#a'), gets: [400] },
  'an absolute target without a path': { sends: get('http://localhost?page=1'), gets: [302] },
  'an absolute target': { sends: get('http://localhost/campaigns'), gets: [200] },
  'HTTP/1.0 without a Host': { sends: `GET /campaigns HTTP/1.0\r\n${KEY}\r\n`, gets: [200] },
  'HTTP/1.0 with keep-alive': {
    sends: [`GET /campaigns HTTP/1.0\r\n${KEY}Connection: keep-alive\r\n\r\n`, `GET /campaigns HTTP/1.0\r\n${KEY}\r\n`],
    gets: [200, 200],
  },
  'HTTP/1.0 with a chunked body': {
    sends: `POST /tags HTTP/1.0\r\n${KEY}${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n17\r\n${body}\r\n0\r\n\r\n`,
    gets: [400],
  },
  'HTTP/1.0 with a chunked body and keep-alive, followed by another request': {
    sends: [
      `POST /tags HTTP/1.0\r\n${KEY}Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      sized(body),
    ],
    gets: [400],
  },
  'empty lines before a request': { sends: `\r\n\r\n${get('/campaigns')}`, gets: [200] },

  'a path of two slashes': { sends: get('//'), gets: [404] },
  'a path in another case': { sends: get('/Campaigns'), gets: [404] },
  'a very long path': { sends: get(`/${'a'.repeat(10_000)}`), gets: [404] },
  'a very long id': { sends: get(`/campaigns/${'a'.repeat(10_000)}`), gets: [404] },
  'a target of *': { sends: get('*'), gets: [404] },
  'OPTIONS *': { sends: `OPTIONS * HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, gets: [404] },
  'OPTIONS on a path': { sends: `OPTIONS /tags HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, gets: [404] },
  'a CORS preflight': {
    sends: `OPTIONS /tags HTTP/1.1\r\n${HOST}${CLOSE}Origin: http://x\r\nAccess-Control-Request-Method: POST\r\n\r\n`,
    gets: [404],
  },
  TRACE: { sends: `TRACE /tags HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, gets: [404] },
  PROPFIND: { sends: `PROPFIND /tags HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, gets: [404] },
  QUERY: { sends: `QUERY /campaigns HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, gets: [404] },
  PUT: { sends: `PUT /tags HTTP/1.1\r\n${HOST}${CLOSE}Content-Length: 2\r\n\r\n{}`, gets: [404] },
  CONNECT: { sends: `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`, gets: [404] },
  'CONNECT followed by other bytes': {
    sends: `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\nsecret bytes`,
    gets: [404],
  },
  'CONNECT after another request': {
    sends: `GET /campaigns HTTP/1.1\r\n${HOST}${KEY}\r\nCONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`,
    gets: [200, 404],
  },
  'an upgrade to WebSocket': {
    sends: `GET /nothing HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    gets: [404],
  },
  'an upgrade to HTTP/2': {
    sends: `GET /campaigns HTTP/1.1\r\n${HOST}${KEY}Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    gets: [200],
  },
  'the preface of HTTP/2': { sends: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', gets: [400] },
  'the first bytes of TLS': { sends: Buffer.from('1603010200010001fc0303', 'hex'), gets: [400], isHalfClosed: true },

  'a method that does not exist': { sends: `FETCH /tags HTTP/1.1\r\n${HOST}\r\n`, gets: [400] },
  'a method in lower case': { sends: `get /tags HTTP/1.1\r\n${HOST}\r\n`, gets: [400] },
  'a request without a target': { sends: `GET HTTP/1.1\r\n${HOST}\r\n`, gets: [400] },
  'two spaces before the target': { sends: `GET  /nothing HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, gets: [404] },
  'a space in the target': { sends: `GET /tags x HTTP/1.1\r\n${HOST}\r\n`, gets: [400] },
  'a request without a version': { sends: `GET /campaigns\r\n${HOST}\r\n`, gets: [400] },
  'HTTP/0.9': { sends: `GET /campaigns HTTP/0.9\r\n${HOST}${KEY}\r\n`, gets: [400] },
  'HTTP/2.0': { sends: `GET /campaigns HTTP/2.0\r\n${HOST}${KEY}\r\n`, gets: [400] },
  'HTTP/1.2': { sends: `GET /campaigns HTTP/1.2\r\n${HOST}${KEY}\r\n`, gets: [400] },
  'the version of another protocol': { sends: `GET /campaigns FTP/1.1\r\n${HOST}\r\n`, gets: [400] },
  'a byte outside of ASCII in the target': { sends: get('/campaigns?search=\xe9'), gets: [400] },
  'a control character in the target': { sends: get('/campaigns?search=\x01'), gets: [400] },
  'bytes that are not HTTP': { sends: '\x00\x01\x02\x03\r\n\r\n', gets: [400] },
  'a connection that ends without a request': { sends: '', gets: [], isHalfClosed: true },
  'an incomplete request line': { sends: 'GET /camp', gets: [400], isHalfClosed: true },
  'incomplete headers': { sends: `GET /campaigns HTTP/1.1\r\n${HOST}`, gets: [400], isHalfClosed: true },

  'a request without a Host': { sends: `GET /campaigns HTTP/1.1\r\n${KEY}${CLOSE}\r\n`, gets: [400] },
  'two Host headers': { sends: get('/campaigns', HOST), gets: [400] },
  'an empty Host': { sends: `GET /campaigns HTTP/1.1\r\nHost:\r\n${KEY}${CLOSE}\r\n`, gets: [200] },
  'an invalid Host': { sends: `GET /campaigns HTTP/1.1\r\nHost: a b/c@d\r\n${KEY}${CLOSE}\r\n`, gets: [400] },
  'a request without a Host on an unknown path': { sends: `GET /nothing HTTP/1.1\r\n${CLOSE}\r\n`, gets: [400] },
  'a header without a colon': { sends: get('/campaigns', 'nonsense\r\n'), gets: [400] },
  'a header without a name': { sends: get('/campaigns', ': x\r\n'), gets: [400] },
  'a space before the colon': { sends: get('/campaigns', 'X-A : b\r\n'), gets: [400] },
  'a folded header': { sends: get('/campaigns', 'X-A: b\r\n  c\r\n'), gets: [400] },
  'a NUL in a header': { sends: get('/campaigns', 'X-A: b\0c\r\n'), gets: [400] },
  'a bare CR in a header': { sends: get('/campaigns', 'X-A: b\rc\r\n'), gets: [400] },
  'a header over the size limit': { sends: get('/campaigns', `X-A: ${'a'.repeat(20_000)}\r\n`), gets: [400] },
  'headers over the size limit': { sends: get('/campaigns', 'X-A: b\r\n'.repeat(6_000)), gets: [400] },
  'two hundred headers': { sends: get('/campaigns', 'a:\r\n'.repeat(197)), gets: [200] },
  'more than two hundred headers': { sends: get('/campaigns', 'a:\r\n'.repeat(198)), gets: [400] },
  'many headers before the key': {
    sends: `GET /campaigns HTTP/1.1\r\n${HOST}${'a:\r\n'.repeat(2_500)}${KEY}${CLOSE}\r\n`,
    gets: [400],
  },

  'a body with an invalid field': { sends: sized('{"name":1}'), gets: [422] },
  'a chunked body with an invalid field': { sends: chunked('a\r\n{"name":1}\r\n0\r\n\r\n'), gets: [422] },
  'a Content-Length that is not a number': { sends: post('Content-Length: x\r\n', body), gets: [400] },
  'a negative Content-Length': { sends: post('Content-Length: -1\r\n', body), gets: [400] },
  'a Content-Length with a sign': { sends: post('Content-Length: +23\r\n', body), gets: [400] },
  'two different Content-Lengths': { sends: sized(body, 'Content-Length: 5\r\n'), gets: [400] },
  'a Content-Length that overflows': { sends: post('Content-Length: 99999999999999999999\r\n', body), gets: [400] },
  'Content-Length before Transfer-Encoding': { sends: sized(body, 'Transfer-Encoding: chunked\r\n'), gets: [400] },
  'Transfer-Encoding before Content-Length': { sends: chunked('0\r\n\r\n', 'Content-Length: 5\r\n'), gets: [400] },
  'an unknown transfer coding': { sends: post('Transfer-Encoding: gzip\r\n', body), gets: [400] },
  'an unknown transfer coding before the coding chunked': {
    sends: post('Transfer-Encoding: gzip, chunked\r\n', `17\r\n${body}\r\n0\r\n\r\n`),
    gets: [400],
  },
  'an unknown transfer coding after the coding chunked': {
    sends: chunked(`17\r\n${body}\r\n0\r\n\r\n`, 'Transfer-Encoding: gzip\r\n'),
    gets: [400],
  },
  'the transfer coding chunked in another case': {
    sends: post('Transfer-Encoding: Chunked\r\n', 'a\r\n{"name":1}\r\n0\r\n\r\n'),
    gets: [422],
  },
  'the transfer coding chunked twice': {
    sends: post('Transfer-Encoding: chunked, chunked\r\n', `17\r\n${body}\r\n0\r\n\r\n`),
    gets: [400],
  },
  'the transfer coding chunked before another one': {
    sends: post('Transfer-Encoding: chunked, identity\r\n', `17\r\n${body}\r\n0\r\n\r\n`),
    gets: [400],
  },
  'a chunk whose size is not a number': { sends: chunked('zz\r\nabc\r\n0\r\n\r\n'), gets: [400] },
  'a chunk that is longer than its size says': { sends: chunked('2\r\nabc\r\n0\r\n\r\n'), gets: [400] },
  'an invalid chunk after a valid chunk': { sends: chunked('a\r\n{"name":1}\r\nzz\r\n'), gets: [400] },
  'a very long chunk extension': { sends: chunked(`1;${'a'.repeat(20_000)}\r\n{\r\n0\r\n\r\n`), gets: [400] },
  'an incomplete body': { sends: post('Content-Length: 100\r\n', '{"name":'), gets: [400], isHalfClosed: true },
  'an incomplete chunk': { sends: chunked('a\r\n{"na'), gets: [400], isHalfClosed: true },
  'an unknown path that is not UTF-8': { sends: get('/nothing/%ff'), gets: [400] },
  'a path that is not UTF-8, with a method that the path does not have': {
    sends: `PUT /campaigns/%ff HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    gets: [400],
  },
  'a path whose fixed part is percent-encoded': { sends: get('/campaign%73'), gets: [404] },
  'Expect: 100-continue': { sends: sized('{"name":1}', 'Expect: 100-continue\r\n'), gets: [100, 422] },
  'Expect: 100-continue on an unknown path, after which the server closes the connection': {
    sends: sized(body, 'Expect: 100-continue\r\n').toString().replace(CLOSE, '').replace('/tags', '/nothing'),
    gets: [404],
  },
  'Expect: 100-continue in HTTP/1.0': {
    sends: sized('{"name":1}', 'Expect: 100-continue\r\n').toString().replace('HTTP/1.1', 'HTTP/1.0'),
    gets: [422],
  },
  'an upgrade to another protocol, after which the server closes the connection': {
    sends: [
      `GET /campaigns HTTP/1.1\r\n${HOST}${KEY}Connection: Upgrade\r\nUpgrade: x\r\n\r\n${get('/tags')}`,
      get('/domains'),
    ],
    gets: [200],
  },
  'Expect: 100-continue without a key': {
    sends: `POST /tags HTTP/1.1\r\n${HOST}Content-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
    gets: [401],
  },
  'an unsupported Expect header': { sends: sized(body, 'Expect: a miracle\r\n'), gets: [400] },
  'an Expect header that begins with 100-continue': { sends: sized(body, 'Expect: 100-continue-x\r\n'), gets: [400] },
  'an unsupported expectation before 100-continue': {
    sends: sized(body, 'Expect: foo, 100-continue\r\n'),
    gets: [400],
  },
  'Expect: 100-continue before an unsupported Expect header': {
    sends: sized(body, 'Expect: 100-continue\r\nExpect: foo\r\n'),
    gets: [400],
  },
  'an unsupported Expect header without a body': { sends: get('/campaigns', 'Expect: 200-ok\r\n'), gets: [400] },

  'two pipelined requests': {
    sends: `GET /campaigns HTTP/1.1\r\n${HOST}${KEY}\r\n${get('/domains')}`,
    gets: [200, 200],
  },
  'a malformed request after a valid one': {
    sends: `GET /campaigns HTTP/1.1\r\n${HOST}${KEY}\r\nnonsense\r\n\r\n`,
    gets: [200, 400],
  },
  'a malformed body after a valid request': {
    sends: Buffer.concat([Buffer.from(`GET /campaigns HTTP/1.1\r\n${HOST}${KEY}\r\n`), chunked('zz\r\n')]),
    gets: [200, 400],
  },
  'a GET with a body, followed by another request': {
    sends: `GET /campaigns HTTP/1.1\r\n${HOST}${KEY}Content-Length: 5\r\n\r\nhello${get('/domains')}`,
    gets: [200, 200],
  },
  'a POST without a key, followed by another request': {
    sends: `POST /tags HTTP/1.1\r\n${HOST}Content-Length: 5\r\n\r\nhello${get('/domains')}`,
    gets: [401, 200],
  },
  'a malformed body, followed by another request': {
    sends: Buffer.concat([chunked('zz\r\n'), sized(body)]),
    gets: [400],
  },
  'two Host headers, followed by another request': {
    sends: `GET /tags HTTP/1.1\r\n${HOST}${HOST}\r\n${sized(body)}`,
    gets: [400],
  },
  'a request smuggled in a body': {
    sends: sized(`GET /campaigns HTTP/1.1\r\n${HOST}\r\n`),
    gets: [400],
  },
};

suite('the HTTP server', {
  'responds to each request with the expected statuses, and stores nothing of an invalid request': () =>
    withService(async (api) => {
      const before = await readLists(api);
      await each(probes, async ({ sends, gets, isHalfClosed = false }) => {
        const chunks = Array.isArray(sends) ? sends : [sends as string | Buffer];
        const responses = await sendRaw(api.url, chunks, isHalfClosed);
        assert.deepEqual(
          responses.map(({ status }) => status),
          gets,
        );
        for (const response of responses.filter(({ status }) => status >= 200)) assertResponse(response);
        assert.deepEqual(await readLists(api), before);
      });
      assert.equal((await api.call('POST', '/tags', { body: { name: 'never stored' } })).status, 201);
    }),
});

function assertResponse({ status, headers, body: text }: RawResponse): void {
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  if (status < 400) return;
  const { error, ...others } = JSON.parse(text);
  assert.deepEqual(others, {});
  assert.deepEqual(Object.keys(error), ['code', 'message', 'doc_url']);
  assert.equal(errors[error.code as keyof typeof errors].status, status);
}

/** Returns the texts of some lists, which no probe may change. */
async function readLists({ call }: Api): Promise<unknown> {
  const lists = ['/campaigns?includeArchived=true', '/domains?includeArchived=true', '/content-pillars', '/tags'];
  return Promise.all(lists.map(async (path) => (await call('GET', path)).text));
}
