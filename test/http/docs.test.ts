import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { errorCodes, errors } from '../../adapters/api/errors.ts';
import { pages } from '../../adapters/docs/pages.ts';
import { each, textCases } from '../support/each.ts';
import { assertError, assertHeaders, expectedCodes } from '../support/expected-responses.ts';
import { withService, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const WITHOUT_KEY = { key: null };
const paths = pages.map(({ path }) => path);

suite('the documentation', {
  'contains the OpenAPI document docs/openapi.json, and requires no key': () =>
    withSharedService(async ({ call }) => {
      const response = await call('GET', '/openapi.json', {
        ...WITHOUT_KEY,
        headers: { 'Accept-Encoding': 'identity' },
      });
      assert.equal(response.status, 200);
      assertHeaders(response);
      const file = join(import.meta.dirname, '../../../docs/openapi.json');
      assert.deepEqual(response.json, JSON.parse(readFileSync(file, 'utf8')));
      assert.equal(response.headers.get('x-ratelimit-limit'), null);
    }),

  'redirects the path / to the API reference': () =>
    withSharedService(async ({ call }) => {
      const { status, headers } = await call('GET', '/', WITHOUT_KEY);
      assert.equal(status, 302);
      assert.equal(headers.get('location'), '/docs');
      assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    }),

  'has pages that load existing scripts and styles, and only from this server': () =>
    withSharedService(async ({ call }) => {
      assert.ok(paths.includes('/dashboard'));
      const files = new Set<string>();
      for (const page of paths) {
        const { status, headers, text } = await call('GET', page, WITHOUT_KEY);
        assert.equal(status, 200);
        assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
        const policy = headers.get('content-security-policy') ?? '';
        assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
        assert.doesNotMatch(policy, /unsafe|\*|http/);
        assert.doesNotMatch(
          text,
          /<script(?![^>]* src="\/)|<link(?![^>]* href="\/)|<style|<img|<[^>]* (?:on\w+|style)=/,
        );
        for (const [, file] of text.matchAll(/(?:src|<link[^>]* href)="([^"]+)"/g)) files.add(file as string);
      }
      assert.ok(files.size > 2);
      // The loop also visits the files that it adds: modules that a script imports.
      for (const path of files) {
        const { status, headers, text } = await call('GET', path, WITHOUT_KEY);
        for (const [, file] of text.matchAll(/^import .*from '(.*)';$/gm))
          files.add(`/docs/files/${posix.basename(file as string)}`);
        assert.ok(status === 200 && text.length > 100, path);
        assert.match(
          headers.get('content-type') ?? '',
          /^(?:text\/(?:javascript|css); charset=utf-8|image\/svg\+xml)$/,
        );
      }
      assertError(await call('GET', '/docs/files/package.json', WITHOUT_KEY), 404);
    }),

  'accepts only GET and HEAD': () =>
    withSharedService(async ({ call }) => {
      await each(textCases('/', '/openapi.json', ...paths), async (path) => {
        const [get, head] = [await call('GET', path, WITHOUT_KEY), await call('HEAD', path, WITHOUT_KEY)];
        assert.equal(head.status, get.status);
        assert.equal(head.text, '');
        for (const name of ['content-type', 'content-length', 'content-security-policy']) {
          assert.equal(head.headers.get(name), get.headers.get(name), name);
        }
        assertError(await call('POST', path, { ...WITHOUT_KEY, body: {} }), 404);
      });
    }),

  'explains each error code and its status at the target of doc_url': () =>
    withService(
      async ({ call }) => {
        assert.deepEqual(Object.fromEntries(errorCodes.map((code) => [errors[code].status, code])), expectedCodes);
        const { text } = await call('GET', '/docs/errors', WITHOUT_KEY);
        for (const code of errorCodes) {
          assert.ok(text.includes(`<section id="${code.replaceAll('_', '-')}">`), code);
          assert.ok(text.includes(`${errors[code].status} <code>${code}</code>`), code);
        }
        const [, anchor] = (await call('GET', '/nothing')).json.error.doc_url.split('#');
        assert.ok(text.includes(`<section id="${anchor}">`));
      },
      { settings: { DOCS_URL: 'https://docs.example/api' } },
    ),
});
