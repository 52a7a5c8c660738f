import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodes, errors } from '../../adapters/api/errors.ts';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { operations } from '../../adapters/api/operations.ts';
import { guides } from '../../adapters/http/docs/pages.ts';
import { each, textCases } from '../support/each.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { type Api, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const WITHOUT_KEY = { key: null };

/** Returns a text for language models. */
async function fetchText({ call }: Api, path: string): Promise<string> {
  const { status, headers, text } = await call('GET', path, WITHOUT_KEY);
  assert.equal(status, 200);
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  assert.equal(headers.get('cache-control'), 'no-cache');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  return text;
}

/**
 * Returns all descriptions of fields, schemas, parameters and headers in a part of the OpenAPI document, with their
 * names.
 */
function listDescriptions(part: unknown, name = ''): (readonly [name: string, description: string])[] {
  if (typeof part !== 'object' || part === null) return [];
  const own = 'description' in part && typeof part.description === 'string' ? [[name, part.description] as const] : [];
  return [...own, ...Object.entries(part).flatMap(([key, value]) => listDescriptions(value, key))];
}

suite('the texts for language models', {
  'have the format of llmstxt.org in /llms.txt: a title, a summary, and sections with lists of links': () =>
    withSharedService(async (api) => {
      const text = await fetchText(api, '/llms.txt');
      const [introduction = '', ...sections] = text.split(/^## /m);
      assert.match(introduction, /^# Workspace Advocacy API\n\n> [^\n]+\n\n[^#]+$/);
      assert.ok(sections.length > 1);
      for (const section of sections) assert.match(section, /^[\w ]+\n\n(?:- \[[^\]]+\]\([^)]+\): [^\n]+\n)+\n?$/);
    }),

  'have no broken links within the service': () =>
    withSharedService(async (api) => {
      const htmlByPath = new Map<string, string>();
      for (const source of ['/llms.txt', '/llms-full.txt']) {
        const links = (await fetchText(api, source)).matchAll(/\]\(([^)\s]+)\)/g);
        const targets = [...new Set([...links].map(([, link]) => link as string))];
        assert.ok(targets.length > 5);
        await each(textCases(...targets), async (link) => {
          if (/^https:/.test(link)) return;
          assert.match(link, /^\//);
          const [path = '', fragment] = link.split('#');
          if (!htmlByPath.has(path)) {
            const { status, text } = await api.call('GET', path, WITHOUT_KEY);
            assert.equal(status, 200);
            htmlByPath.set(path, text);
          }
          if (fragment !== undefined) assert.ok(htmlByPath.get(path)?.includes(` id="${fragment}"`));
        });
      }
    }),

  'name every operation in /llms.txt and /llms-full.txt': () =>
    withSharedService(async (api) => {
      for (const path of ['/llms.txt', '/llms-full.txt']) {
        const text = await fetchText(api, path);
        for (const { id, method, path: route, summary } of operations) {
          for (const part of [id, `\`${method} ${route}\``, summary])
            assert.ok(text.includes(part), `${path}: ${part}`);
        }
      }
    }),

  'have every field, parameter, header and value of the OpenAPI document in /llms-full.txt': () =>
    withSharedService(async (api) => {
      const text = await fetchText(api, '/llms-full.txt');
      const { paths, components } = JSON.parse(JSON.stringify(createOpenApiDocument()));
      const { schemas, parameters, headers } = components;
      const parts = [
        ...listDescriptions(schemas),
        ...listDescriptions(parameters),
        ...listDescriptions(headers),
        ...operations.flatMap(({ method, path }) => {
          const operation = paths[path][method.toLowerCase()];
          return [['', operation.description] as const, ...listDescriptions(operation.parameters)];
        }),
      ];
      assert.ok(parts.length > 200, String(parts.length));
      for (const [name, description] of parts) assert.ok(text.includes(description), `${name}: ${description}`);
      const names = Object.values<{ properties?: object }>(schemas).flatMap(({ properties }) =>
        Object.keys(properties ?? {}),
      );
      for (const name of [...names, ...Object.keys(headers)]) assert.ok(text.includes(`- \`${name}\``), name);
      for (const [, values] of JSON.stringify(schemas).matchAll(/"enum":(\[[^\]]+\])/g)) {
        for (const value of JSON.parse(values as string)) assert.ok(text.includes(`\`${value}\``), value);
      }
    }),

  'have every error code and its explanation in /llms-full.txt': () =>
    withSharedService(async (api) => {
      const text = await fetchText(api, '/llms-full.txt');
      for (const code of errorCodes) {
        const { status, meaning, causes, remedy, example } = errors[code];
        for (const part of [`${status} \`${code}\``, meaning, ...causes, remedy, example])
          assert.ok(text.includes(part), `${code}: ${part}`);
      }
    }),

  'have every guide in /llms-full.txt, without links to Markdown files': () =>
    withSharedService(async (api) => {
      const text = await fetchText(api, '/llms-full.txt');
      for (const { file } of guides) {
        const markdown = await readFile(join(import.meta.dirname, '../../..', file), 'utf8');
        for (const block of markdown.split('\n\n').filter((part) => !part.includes('](')))
          assert.ok(text.includes(block.trim().replace(/^#/, '##')), block);
      }
      assert.doesNotMatch(text, /\]\([^)]*\.md/);
    }),

  'have the version of the OpenAPI document': () =>
    withSharedService(async (api) => {
      const { info } = jsonOf(await api.call('GET', '/openapi.json', WITHOUT_KEY));
      assert.ok(
        (await fetchText(api, '/llms-full.txt')).startsWith(`# Workspace Advocacy API, version ${info.version}\n`),
      );
    }),
});
