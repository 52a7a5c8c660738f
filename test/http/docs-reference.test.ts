import assert from 'node:assert/strict';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { operations } from '../../adapters/api/operations.ts';
import { renderSamples } from '../../adapters/docs/code-samples.ts';
import type { JsonSchema, OpenApiDocument } from '../../adapters/docs/documented-operations.ts';
import { renderReferencePage } from '../../adapters/docs/reference.ts';
import { describeBounds, describeType, getFields, renderFields } from '../../adapters/docs/schema-view.ts';
import type { Permission } from '../../core/access/permissions.ts';
import { each } from '../support/each.ts';
import { withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const link = { type: 'object', properties: { url: { type: 'string', maxLength: 2048 } }, required: ['url'] } as const;

const document = createOpenApiDocument() as unknown as OpenApiDocument;
const page = renderReferencePage(document);

/** The API keys with each permission, as the reference names them. */
const keysByPermission: Readonly<Record<Permission, string>> = {
  read: 'any',
  inspect: 'admin or no member',
  write: 'full access · admin or no member',
  author: 'full access · admin',
  share: 'full access · any member',
  accept: 'any member',
  readOwn: 'any member',
};

suite('the API reference', {
  'describes types and bounds in words': () =>
    each<readonly [schema: JsonSchema, type: string, bounds: readonly string[]]>(
      {
        text: [{ type: 'string', minLength: 1, maxLength: 5000 }, 'string', ['1 to 5,000 characters']],
        'text without a minimum': [{ type: 'string', maxLength: 190 }, 'string', ['at most 190 characters']],
        'text that the length of a URL limits': [{ type: 'string', minLength: 1, maxLength: 16_384 }, 'string', []],
        'a UUID': [{ type: 'string', format: 'uuid', maxLength: 36 }, 'UUID', []],
        'a number of items': [{ type: 'integer', minimum: 1, maximum: 25 }, 'integer', ['1 to 25']],
        'a count': [{ type: 'number', multipleOf: 1, minimum: 0, maximum: 2 ** 53 - 1 }, 'integer', ['0 or more']],
        'a number or a text': [
          {
            anyOf: [
              { type: 'number', minimum: 0, maximum: 9.5 },
              { type: 'string', maxLength: 17 },
            ],
          },
          'number or string',
          ['0 to 9.5', 'at most 17 characters'],
        ],
        'a value or null': [
          { anyOf: [{ type: 'string', maxLength: 9 }, { type: 'null' }] },
          'string or null',
          ['at most 9 characters'],
        ],
        'an array': [
          {
            type: 'array',
            maxItems: 50,
            items: { anyOf: [{ type: 'string' }, link] },
          },
          'array of strings or objects',
          ['at most 50 items'],
        ],
      },
      ([schema, type, bounds]) => {
        assert.equal(describeType(schema), type);
        assert.deepEqual(describeBounds(schema), bounds);
      },
    ),

  'lists the fields of nested objects and the values of enumerations, none of them folded': () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        links: { type: 'array', items: link, description: 'With `code`.' },
        color: { type: 'string', enum: ['red', '<blue>'], default: 'red' },
      },
      required: ['links'],
    };
    const html = renderFields(getFields(schema));
    assert.match(html, /<code class="name">links<\/code>.*array of objects.*required.*<code class="name">url<\/code>/s);
    assert.match(html, /<p>With <code>code<\/code>\.<\/p>/);
    assert.match(html, /<code class="name">color<\/code>.*default <code>red<\/code><\/p>/);
    assert.match(html, /Values: <code>red<\/code> <code>&lt;blue&gt;<\/code>/);
    assert.match(renderFields(getFields(schema), true), /color<\/code>.*can be absent/);
    assert.doesNotMatch(page, /<details(?! class="try|[ \w]* open>)/);
  },

  'says a limit once: in the description, or else beside the type': () => {
    const schema = { type: 'integer', minimum: 1, maximum: 2500 } as const;
    const render = (description: string) => renderFields([{ name: 'size', schema, description }]);
    assert.match(render('The size.'), /integer · 1 to 2,500</);
    assert.match(render('The size, at most 25.'), /integer · 1 to 2,500</);
    assert.match(render('The size, at most 2,500.'), /integer</);
    for (const [, field = ''] of page.matchAll(/<li>\n(<p class="muted"><code class="name">.*?)<\/li>/gs))
      assert.doesNotMatch(field, /at most ([\d,]+).* (?:at most|up to) \1\b/s);
  },

  'quotes and highlights the values of samples, and escapes them': () => {
    const body = { name: "It's </code>" };
    const html = renderSamples('x', { method: 'POST', path: '/tags/{id}', body });
    const [curl = '', javascript = ''] = html.split('<pre').slice(1);
    assert.match(curl, /&quot;name&quot;: &quot;It&#x27;<\/span>\\&#x27;/);
    assert.match(
      curl,
      /<span class="hljs-string">&quot;<span data-fill="origin">[^<]+<\/span>\/tags\/<span[^>]*>\$ID<\/span>&quot;/,
    );
    assert.match(curl, /Bearer <span class="hljs-variable">\$KEY<\/span>/);
    assert.match(javascript, /<span class="hljs-keyword">const<\/span>.*&lt;\/code&gt;/s);
    assert.doesNotMatch(html, / style=|'<\/code>/);
  },

  'has a section for each operation, and links that lead to it': () => {
    for (const { id, method, path, summary } of operations) {
      const section = page.slice(page.indexOf(`<section id="${id}"`));
      assert.ok(section.startsWith(`<section id="${id}" class="operation">`), id);
      assert.ok(section.slice(0, 500).includes(`<a href="#${id}">${summary}</a>`), id);
      assert.ok(section.slice(0, 500).includes(`${method}</span> <code>${path}</code>`), id);
      assert.ok(page.includes(`<li class="depth-3"><a href="#${id}">`), id);
    }
  },

  'says which API keys have the permission of an operation': () => {
    const readBadge = (id: string) => {
      const [section = ''] = page.slice(page.indexOf(`<section id="${id}"`)).split('</section>');
      return section.match(/class="badge"[^>]*>API key: ([^<]+)</)?.[1];
    };
    for (const { id, permission } of operations) assert.equal(readBadge(id), keysByPermission[permission], id);
  },

  'has samples that return something in the demo workspace, with IDs of its lists only': () =>
    withSharedService(async ({ call }) => {
      const sections = page.split('<section ').slice(1);
      const samples = sections.map((section) =>
        section.match(/&quot;<span data-fill="origin">[^<]*<\/span>(.*?)&quot;/),
      );
      const paths = samples.map(
        (sample, i) => [sample?.[1]?.replaceAll(/<[^>]*>/g, ''), sections[i] as string] as const,
      );
      assert.equal(paths.length, operations.length);
      for (const [path = '', section] of paths) {
        assert.doesNotMatch(path, /[0-9a-f]{8}-/);
        if (!path.includes('?')) assert.equal(section.includes('<code>$ID</code> is an'), path.includes('$ID'), path);
        else if (section.includes('<span class="method GET">')) {
          const [, list] = /data-list="([^"]+)"/.exec(section) ?? [];
          const id = list && (await call('GET', list)).json[0].id;
          assert.notEqual((await call('GET', path.replaceAll('&amp;', '&').replace('$ID', id))).text, '[]', path);
        }
      }
    }),

  'has in each heading a link to this heading': () => {
    const headings = [...page.matchAll(/<h([23])[^>]*>(.*?)<\/h\1>/g)].map(([, , content]) => content as string);
    assert.ok(headings.length > operations.length);
    assert.deepEqual(
      headings.filter((content) => !/^<a href="#[^"]+">[^<]+<\/a>$/.test(content)),
      [],
    );
  },
});
