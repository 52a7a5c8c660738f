import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { renderMarkdown, renderMarkdownPage } from '../../adapters/docs/markdown.ts';
import { guides, pages } from '../../adapters/docs/pages.ts';
import { withCheckout } from '../support/checkout.ts';
import { each, textCases } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import { type Api, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const paths = pages.map(({ path }) => path);

const fetchPage = async ({ call }: Api, path: string) => (await call('GET', path, { key: null })).text;

const valuesOf = (html: string, attribute: string) =>
  [...html.matchAll(new RegExp(`<[^>]* ${attribute}="([^"]*)"`, 'g'))].map(([, value]) => value as string);

suite('the pages of the documentation', {
  'are listed in the navigation of each page, which marks the current page': () =>
    withSharedService((api) =>
      each(
        pages.map((page) => [page.path, page] as const),
        async ({ path, title }) => {
          const html = await fetchPage(api, path);
          for (const other of paths) assert.ok(valuesOf(html, 'href').includes(other), other);
          assert.deepEqual(html.match(/<a [^>]*aria-current[^>]*>[^<]*/g), [
            `<a href="${path}" aria-current="page">${title}`,
          ]);
          assert.match(html, new RegExp(`<title>${title} · Workspace Advocacy API</title>`));
          assert.match(html, /<a class="brand" href="\/docs">Workspace Advocacy<\/a>/);
        },
      ),
    ),

  'have no broken links to pages, files and fragments of the service, as the text for language models': () =>
    withSharedService(async (api) => {
      const htmlByPath = new Map<string, string>();
      for (const path of [...paths, '/llms.txt']) htmlByPath.set(path, await fetchPage(api, path));
      let linkCount = 0;
      for (const [path, html] of htmlByPath) {
        const isText = path === '/llms.txt';
        assert.deepEqual(valuesOf(html, 'id'), [...new Set(valuesOf(html, 'id'))], `${path} has an ID twice`);
        const links = isText
          ? [...html.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string)
          : [...valuesOf(html, 'href'), ...valuesOf(html, 'src')];
        for (const link of new Set(links)) {
          const what = `${path} links to ${link}`;
          assert.match(link, isText ? /^(?:https:|\/)/ : /^(?:https:\/\/[\w./#-]+$|\/|#)/, what);
          if (link.startsWith('https:')) continue;
          linkCount++;
          const [target = '', fragment] = link.split('#');
          const targetHtml = htmlByPath.get(target || path);
          if (!targetHtml) assert.equal((await api.call('GET', target, { key: null })).status, 200, what);
          if (fragment !== undefined) assert.ok(valuesOf(targetHtml ?? '', 'id').includes(fragment), what);
        }
      }
      assert.ok(linkCount > 90, String(linkCount));
    }),

  'show each section of a guide, also in its list of sections': () =>
    withSharedService((api) =>
      each(
        guides.map((guide) => [guide.path, guide] as const),
        async ({ path, file }) => {
          const markdown = await readFile(join(import.meta.dirname, '../../..', file), 'utf8');
          const headings = [...markdown.matchAll(/^##+ (.*)$/gm)].map(([, heading]) => heading as string);
          const html = await fetchPage(api, path);
          assert.ok(headings.length > 0);
          const [contents = '', content = ''] = html.slice(html.indexOf('<nav class="contents"')).split('<main>');
          assert.equal(contents.match(/<li /g)?.length, headings.length);
          assert.equal(content.match(/<h[23] /g)?.length, headings.length);
          assert.equal(content.match(/<h1>/g)?.length, 1);
        },
      ),
    ),

  'exist only at their exact paths, and give no access to other files': () =>
    withSharedService(({ call }) =>
      each(
        textCases(
          ...['/docs/unknown', '/docs/guide.md', '/docs/..%2fpackage.json', '/docs/%2e%2e/package.json'],
          ...['/docs/files/..%2f..%2f/package.json', '/docs/operating', '/docs/Guide', '/docs/guide/x', '/docs//guide'],
        ),
        async (path) => assertError(await call('GET', path, { key: null }), 404),
      ),
    ),

  'return 500 and cause a log line if their file is missing, while all other paths work': () =>
    withCheckout({ isBuilt: true }, async ({ folder, start }) => {
      await rm(join(folder, 'docs'), { recursive: true });
      const { url, output } = await start('node dist/bootstrap/main.js');
      const response = await fetch(`${url}/docs/guide`);
      assert.equal(response.status, 500);
      assert.match(await response.text(), /"code":"internal_server_error"/);
      for (const path of ['/docs', '/docs/errors', '/docs/changelog', '/openapi.json', '/readyz'])
        assert.equal((await fetch(url + path)).status, 200, path);
      await waitUntil(() => /ENOENT: no such file or directory, open [^ ]*docs\/guide\.md/.test(output.stderr));
    }),
});

suite('Markdown', {
  'is shown with its HTML as text, without images, and without links that run scripts or begin with //': () => {
    const html = renderMarkdown(`<script>alert(1)</script>

a <img src=x onerror=alert(1)> b \`<b>\` [x](javascript:alert(1)) [y](https://example.com/?a="b&c) [z](//example.com)
![i](https://example.com/i.png) <https://example.com>

\`\`\`"><script>
<script>
\`\`\`
`);
    assert.doesNotMatch(html, /<(?!\/?(?:p|code|pre|a)\b)|javascript|href="\/\//);
    assert.deepEqual(valuesOf(html, 'href'), ['https://example.com/?a=&quot;b&amp;c', 'https://example.com']);
  },

  'gets the same fragments of headings as on GitHub, also for equal headings': () => {
    const markdown =
      '# Title\n\n## [Unreleased]\n\n### Added\n\n## A `code`, and *more*\n\n### Added\n\n### Ärger & Co.\n';
    const { headings, html } = renderMarkdownPage(markdown, () => undefined);
    const ids = ['unreleased', 'added', 'a-code-and-more', 'added-1', 'ärger--co'];
    assert.deepEqual(
      headings.map(({ id }) => id),
      ids,
    );
    assert.deepEqual(valuesOf(html, 'id'), ids);
  },
});
