import assert from 'node:assert/strict';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { operations } from '../../adapters/api/operations.ts';
import { renderSamples } from '../../adapters/docs/code-samples.ts';
import type { JsonSchema, OpenApiDocument } from '../../adapters/docs/documented-operations.ts';
import { renderReferencePage } from '../../adapters/docs/reference.ts';
import { describeBounds, describeType, getFields, renderFields } from '../../adapters/docs/schema-view.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const link = { type: 'object', properties: { url: { type: 'string', maxLength: 2048 } }, required: ['url'] } as const;

const document = createOpenApiDocument() as unknown as OpenApiDocument;
const page = renderReferencePage(document);

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

  'puts the fields of nested objects into a part that can be opened, and lists the values of enumerations': () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        links: { type: 'array', items: link, description: 'With `code`.' },
        color: { type: 'string', enum: ['red', '<blue>'], default: 'red' },
      },
      required: ['links'],
    };
    const html = renderFields(getFields(schema));
    assert.match(
      html,
      /<code class="name">links<\/code>.*array of objects.*required.*<summary>Fields of <code>links</s,
    );
    assert.match(html, /<p>With <code>code<\/code>\.<\/p>/);
    assert.match(html, /<code class="name">color<\/code>.*default <code>red<\/code><\/p>/);
    assert.match(html, /Values: <code>red<\/code> <code>&lt;blue&gt;<\/code>/);
    assert.match(renderFields(getFields(schema), true), /color<\/code>.*can be absent/);
  },

  'quotes values in samples': () => {
    const body = { name: "It's </code>" };
    const html = renderSamples({ method: 'POST', path: '/tags/{id}', body });
    assert.match(html, /&quot;name&quot;: &quot;It'\\''s &lt;\/code&gt;&quot;/);
    assert.match(html, /<span data-fill="origin">[^<]+<\/span>\/tags\/ID/);
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

  'has in each heading a link to this heading': () => {
    const headings = [...page.matchAll(/<h([23])[^>]*>(.*?)<\/h\1>/g)].map(([, , content]) => content as string);
    assert.ok(headings.length > operations.length);
    assert.deepEqual(
      headings.filter((content) => !/^<a href="#[^"]+">[^<]+<\/a>$/.test(content)),
      [],
    );
  },
});
