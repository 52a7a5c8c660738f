import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { operations } from '../../adapters/api/operations.ts';
import { assertValid } from '../support/document.ts';
import { each } from '../support/each.ts';
import { everyOperation } from '../support/operations.ts';
import { suite } from '../support/suite.ts';

const FILE = join(import.meta.dirname, '../../../docs/openapi.json');

const NINE = ['400', '401', '403', '404', '409', '410', '422', '429', '500'];

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
const document = createOpenApiDocument() as any;

const described = (operation: (typeof operations)[number]) =>
  document.paths[operation.path][operation.method.toLowerCase()];

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: object; readonly example: unknown } };
}

suite('the OpenAPI document', {
  'is in docs/openapi.json as it is served': () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, text);
    else assert.ok(readFileSync(FILE, 'utf8') === text, 'run `npm run openapi` and look at what has changed');
  },

  'has every operation and nothing beside them': () => {
    const ids = Object.values<object>(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    assert.deepEqual(ids.toSorted(), operations.map(({ id }) => id).toSorted());
    assert.equal(ids.length, 15);
    assert.equal(document.info.version, '0.0.1');
  },

  'says of every operation what it does, answers and refuses': () =>
    each(everyOperation, (operation) => {
      const { summary, description, tags, responses } = described(operation);
      assert.match(summary, /^[A-Z].*[^.]$/);
      assert.match(description, /\.$/);
      const names = document.tags.map(({ name }: { name: string }) => name);
      assert.ok(tags.length === 1 && names.includes(tags[0]), String(tags));
      assert.deepEqual(Object.keys(responses).toSorted(), [...operation.statuses.map(String), ...NINE].toSorted());
    }),

  'has every parameter of a query, with a description, its type and its default': () => {
    const parameters = described(operations.find(({ id }) => id === 'listCampaigns') as never).parameters;
    const told = Object.fromEntries(parameters.map(({ name, schema }: never) => [name, schema]));
    assert.deepEqual(told.pageSize, { type: 'integer', format: 'int32', minimum: 1, maximum: 25, default: 25 });
    assert.deepEqual(told.includeArchived, { type: 'boolean', default: false });
    assert.deepEqual(told.sortBy, {
      type: 'string',
      enum: ['createdAt', 'updatedAt', 'startDate'],
      default: 'createdAt',
    });
    for (const operation of operations) {
      const described_ = described(operation).parameters ?? [];
      const queried = described_.filter((parameter: { in?: string }) => parameter.in === 'query');
      assert.deepEqual(
        queried.map(({ name }: { name: string }) => name),
        Object.keys(operation.query.shape),
      );
      for (const { name, description, schema } of queried) {
        assert.match(description, /\.$/, name);
        assert.ok(['string', 'integer', 'boolean', 'array'].includes(schema.type), name);
      }
    }
  },

  'has examples that its schemas and the operations take': () => {
    for (const operation of operations) {
      const { requestBody, responses } = described(operation);
      if (operation.body) {
        operation.body.parse(operation.example.body);
        const { schema, example } = requestBody.content['application/json'];
        assertValid(schema, example, `${operation.id}, body`);
      }
      operation.response.parse(operation.example.response);
      for (const status of operation.statuses) {
        const { schema, example } = responses[status].content['application/json'];
        assertValid(schema, example, `${operation.id}, ${status}`);
      }
    }
    for (const [name, response] of Object.entries<Body>(document.components.responses)) {
      const { schema, example } = response.content['application/json'];
      assertValid(schema, example, name);
    }
    for (const [name, { schema, example }] of Object.entries<never>(document.components.headers)) {
      if (example !== undefined) assertValid(schema, example, name);
    }
  },

  'declares with every answer its request id and what is left of the limit': () => {
    const limits = [
      'X-Request-Id',
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'RateLimit-Policy',
    ];
    const successes = operations.flatMap((operation) =>
      operation.statuses.map((status) => described(operation).responses[status]),
    );
    for (const { headers } of [...successes, ...Object.values<never>(document.components.responses)]) {
      assert.deepEqual(Object.keys(headers).slice(0, 5), limits);
    }
  },

  'refers to nothing that it has not': () => {
    for (const [, path] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = (path as string).split('/').reduce((value, name) => value?.[name], document);
      assert.ok(found, path);
    }
  },
});
