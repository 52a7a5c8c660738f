import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { pages } from '../../adapters/docs/pages.ts';
import { each, textCases } from '../support/each.ts';
import { withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const paths = [...['/openapi.json', '/llms.txt', '/docs/files/docs.css'], ...pages.map(({ path }) => path)];

interface RawResponse extends Pick<IncomingMessage, 'headers'> {
  readonly status: number | undefined;
  readonly bytes: Buffer;
}

/** Sends a request with only these headers, and does not decode the response. */
async function fetchRaw(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') {
  return new Promise<RawResponse>((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) });
    });
    sent.on('error', reject).end();
  });
}

/** Passes the URLs of all pages, the OpenAPI document, the texts for language models and a style sheet to a test. */
function withUrls(test: (urls: [string, string][]) => Promise<void>): Promise<void> {
  return withSharedService(({ url }) => test(textCases(...paths.map((path) => url + path))));
}

suite('the server of the documentation', {
  'sends the same bytes in a plain and a smaller compressed form, with the same weak entity tag': () =>
    withUrls((urls) =>
      each(urls, async (url) => {
        const plain = await fetchRaw(url);
        const gzipped = await fetchRaw(url, { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
        assert.equal(plain.headers['content-encoding'], undefined);
        assert.equal(gzipped.headers['content-encoding'], 'gzip');
        assert.deepEqual(gunzipSync(gzipped.bytes), plain.bytes);
        assert.ok(gzipped.bytes.length < plain.bytes.length / 1.2);
        for (const { status, headers, bytes } of [plain, gzipped]) {
          assert.equal(status, 200);
          assert.equal(headers['content-length'], String(bytes.length));
          assert.equal(headers.vary, 'Accept-Encoding');
          assert.equal(headers['cache-control'], url.endsWith('/openapi.json') ? 'no-store' : 'no-cache');
          assert.match(headers.etag ?? '', /^W\/"[\w-]+"$/);
        }
        assert.equal(gzipped.headers.etag, plain.headers.etag);
      }),
    ),

  'sends 304 without a body to a client that has the current content in either form': () =>
    withUrls((urls) =>
      each(urls, async (url) => {
        const encoding = { 'Accept-Encoding': 'gzip' };
        const { headers, bytes } = await fetchRaw(url, encoding);
        const etag = (headers.etag as string).replace('W/', '');
        const matching = [etag, `W/${etag}`, `"other", ${etag}`, `W/"other",W/${etag} , "x"`, '*'];
        for (const method of ['GET', 'HEAD']) {
          await each(textCases(...matching), async (tags) => {
            const unchanged = await fetchRaw(url, { ...encoding, 'If-None-Match': tags }, method);
            assert.equal(unchanged.status, 304);
            assert.equal(unchanged.bytes.length, 0);
            for (const name of ['etag', 'vary', 'cache-control', 'content-security-policy'])
              assert.equal(unchanged.headers[name], headers[name], name);
          });
          for (const tags of ['"other"', etag.slice(1, -1), `${etag.slice(0, -1)}x"`, '']) {
            const changed = await fetchRaw(url, { ...encoding, 'If-None-Match': tags }, method);
            assert.equal(changed.status, 200, tags);
            assert.equal(changed.bytes.length, method === 'GET' ? bytes.length : 0, tags);
          }
        }
        assert.equal((await fetchRaw(url, { 'If-None-Match': etag })).status, 304);
      }),
    ),

  'keeps a connection usable after a 304': () =>
    withUrls(async ([first]) => {
      const [url] = first as [string, string];
      const etag = (await fetchRaw(url)).headers.etag as string;
      const response = await fetch(url, { headers: { 'If-None-Match': etag, 'Accept-Encoding': 'identity' } });
      assert.equal(response.status, 304);
      assert.equal(await response.text(), '');
      assert.equal((await fetch(url)).status, 200);
    }),

  'sends the plain or the compressed form, as Accept-Encoding prefers': () =>
    withUrls(([first]) => {
      const [url] = first as [string, string];
      const expected: Readonly<Record<string, 'gzip' | undefined>> = {
        '': undefined,
        identity: undefined,
        gzip: 'gzip',
        GZIP: 'gzip',
        '*': 'gzip',
        br: undefined,
        'br, gzip;q=0.1': 'gzip',
        'gzip;q=0': undefined,
        'gzip;q=0, *': undefined,
        'gzip;q=0.5, identity;q=0.2': 'gzip',
        'gzip;q=0.2, identity;q=0.5': undefined,
        'br;q=1.0, gzip;q=0.8, *;q=0.1': 'gzip',
        'identity;q=0': 'gzip',
        'br, identity;q=0': 'gzip',
        'gzip, *;q=0': 'gzip',
        'gzip;q=': 'gzip',
        ';;,,=': undefined,
      };
      return each(expected, async (encoding, accepted) => {
        const { status, headers } = await fetchRaw(url, { 'Accept-Encoding': accepted });
        assert.equal(status, 200);
        assert.equal(headers['content-encoding'], encoding);
      });
    }),
});
