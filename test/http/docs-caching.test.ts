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
  'sends the same bytes in a plain and a smaller compressed form': () =>
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
          assert.equal(headers['cache-control'], url.endsWith('/openapi.json') ? 'no-store' : 'max-age=60');
        }
      }),
    ),

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
