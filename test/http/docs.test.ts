import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes, errors } from '../../adapters/api/errors.ts';
import { each, texts } from '../support/each.ts';
import { assertHeaders, assertRefused, codes } from '../support/expected-responses.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const WITHOUT_KEY = { key: null };
const pages = ['/docs', '/docs/errors'];

/** What a page loads. */
async function filesOf({ call }: Api, page: string): Promise<string[]> {
  const { text } = await call('GET', page, WITHOUT_KEY);
  return [...text.matchAll(/(?:src|<link[^>]* href)="([^"]+)"/g)].map(([, path]) => path as string);
}

suite('the documentation', {
  'is the OpenAPI document of the package, for everyone': () =>
    withService(async ({ call }) => {
      const answer = await call('GET', '/openapi.json', WITHOUT_KEY);
      assert.equal(answer.status, 200);
      assertHeaders(answer);
      const file = join(import.meta.dirname, '../../../docs/openapi.json');
      assert.deepEqual(answer.json, JSON.parse(readFileSync(file, 'utf8')));
      assert.equal(answer.headers.get('x-ratelimit-limit'), null);
    }),

  'leads from the root to the reference': () =>
    withService(async ({ call }) => {
      const { status, headers } = await call('GET', '/', WITHOUT_KEY);
      assert.equal(status, 302);
      assert.equal(headers.get('location'), '/docs');
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    }),

  'is in pages that run nothing but what is served here': () =>
    withService(async (api) => {
      for (const page of pages) {
        const { status, headers, text } = await api.call('GET', page, WITHOUT_KEY);
        assert.equal(status, 200);
        assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
        const policy = headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
        assert.doesNotMatch(policy, /unsafe|\*|http/);
        assert.doesNotMatch(text, /<script(?![^>]* src="\/)|<style| on\w+=| style=|https?:/);
      }
    }),

  'has files that can be kept for ever, at paths that change with them': () =>
    withService(async (api) => {
      for (const path of (await Promise.all(pages.map((page) => filesOf(api, page)))).flat()) {
        const { status, headers, text } = await api.call('GET', path, WITHOUT_KEY);
        assert.equal(status, 200, path);
        assert.match(headers.get('cache-control') ?? '', /max-age=31536000, immutable/);
        assert.match(headers.get('content-type') ?? '', /^(?:text\/(?:javascript|css); charset=utf-8|image\/png)$/);
        assert.ok(text.length > 100, path);
        assertRefused(await api.call('GET', path.replace(/[0-9a-f]{16}/, '0'.repeat(16)), WITHOUT_KEY), 404);
      }
      assertRefused(await api.call('GET', '/docs/files/0/package.json', WITHOUT_KEY), 404);
    }),

  'has files that are sent compressed to who takes that': () =>
    withService(async (api) => {
      for (const path of await filesOf(api, '/docs')) {
        const plain = await api.call('GET', path, { ...WITHOUT_KEY, headers: { 'Accept-Encoding': 'identity' } });
        const zipped = await api.call('GET', path, { ...WITHOUT_KEY, headers: { 'Accept-Encoding': 'gzip' } });
        assert.equal(plain.headers.get('content-encoding'), null);
        assert.equal(zipped.text, plain.text);
        if (path.endsWith('.png')) continue;
        assert.equal(zipped.headers.get('content-encoding'), 'gzip', path);
        assert.equal(zipped.headers.get('vary'), 'Accept-Encoding');
        assert.ok(
          Number(zipped.headers.get('content-length')) < Number(plain.headers.get('content-length')) / 1.2,
          path,
        );
      }
    }),

  'answers HEAD, and nothing but GET and HEAD': () =>
    withService(async ({ call }) => {
      await each(texts('/', '/openapi.json', ...pages), async (path) => {
        const [got, head] = [await call('GET', path, WITHOUT_KEY), await call('HEAD', path, WITHOUT_KEY)];
        assert.equal(head.status, got.status);
        assert.equal(head.text, '');
        for (const name of ['content-type', 'content-length', 'content-security-policy']) {
          assert.equal(head.headers.get(name), got.headers.get(name), name);
        }
        assertRefused(await call('POST', path, { ...WITHOUT_KEY, body: {} }), 404);
      });
    }),

  'explains every code, with its status, where doc_url leads': () =>
    withService(
      async ({ call }) => {
        assert.deepEqual(Object.fromEntries(errorCodes.map((code) => [errors[code].status, code])), codes);
        const { text } = await call('GET', '/docs/errors', WITHOUT_KEY);
        for (const code of errorCodes) {
          assert.ok(text.includes(`<section id="${code.replaceAll('_', '-')}">`), code);
          assert.ok(text.includes(`${errors[code].status} <code>${code}</code>`), code);
        }
        const [, anchor] = (await call('GET', '/tags')).json.error.doc_url.split('#');
        assert.ok(text.includes(`<section id="${anchor}">`));
      },
      { settings: { DOCS_URL: 'https://docs.example/api' } },
    ),
});
