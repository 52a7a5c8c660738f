import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { operations } from '../../adapters/api/operations.ts';
import { EVENT_TYPES } from '../../core/event/event.ts';
import { each } from '../support/each.ts';
import { expectedCodes } from '../support/expected-responses.ts';
import { assertValid } from '../support/openapi-document.ts';
import { allOperations } from '../support/operations.ts';
import { suite } from '../support/suite.ts';

const FILE = join(import.meta.dirname, '../../../docs/openapi.json');

const ERROR_STATUSES = Object.keys(expectedCodes);

// biome-ignore lint/suspicious/noExplicitAny: the assertions check its shape
const document = createOpenApiDocument() as any;

const findDocumented = (operation: (typeof operations)[number]) =>
  document.paths[operation.path][operation.method.toLowerCase()];

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** Returns all fields of a schema and of the schemas in it, with their paths. */
function listFields(path: string, { properties = {}, items, anyOf = [] }: Schema): [path: string, field: Schema][] {
  const inner = [...anyOf, ...(items ? [items] : [])].flatMap((schema) => listFields(path, schema));
  const fields = Object.entries(properties).flatMap(([name, field]): [string, Schema][] => [
    [`${path}.${name}`, field],
    ...listFields(`${path}.${name}`, field),
  ]);
  return [...inner, ...fields];
}

interface Body {
  readonly content: { readonly 'application/json': { readonly schema: object; readonly example: unknown } };
}

suite('the OpenAPI document', {
  'equals the file docs/openapi.json': () => {
    const text = `${JSON.stringify(document, null, 2)}\n`;
    if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, text);
    else assert.ok(readFileSync(FILE, 'utf8') === text, 'run `npm run openapi` and review the changes');
  },

  'allows new fields in responses, but not in requests': () => {
    const isClosed = ({ content }: Body) => {
      const { $ref = '', items }: Schema = content['application/json'].schema;
      const name = ($ref || items?.$ref || '').split('/').at(-1) as string;
      return document.components.schemas[name].additionalProperties === false;
    };
    for (const operation of operations) {
      const { requestBody, responses } = findDocumented(operation);
      if (requestBody) assert.ok(isClosed(requestBody), operation.id);
      for (const status of operation.statuses) assert.ok(!isClosed(responses[status]), operation.id);
    }
    for (const [name, response] of Object.entries<Body>(document.components.responses))
      assert.ok(!isClosed(response), name);
  },

  'contains exactly the declared operations': () => {
    const ids = Object.values<object>(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    assert.deepEqual(ids.toSorted(), operations.map(({ id }) => id).toSorted());
    assert.equal(document.info.version, '0.1.0');
  },

  'describes every operation and all its statuses': () =>
    each(allOperations, (operation) => {
      const { tags, responses } = findDocumented(operation);
      const names = document.tags.map(({ name }: { name: string }) => name);
      assert.ok(tags.length === 1 && names.includes(tags[0]), String(tags));
      assert.deepEqual(
        Object.keys(responses).toSorted(),
        [...operation.statuses.map(String), ...ERROR_STATUSES].toSorted(),
      );
    }),

  'has summaries that are imperatives of two to five words, and sentences of at most 25 words': () => {
    for (const { id, summary, description } of operations) {
      assert.match(summary, /^[A-Z][a-z]*[a-rt-z]( [A-Za-z]+){1,4}$/, id);
      for (const sentence of description) assert.match(sentence, /^[A-Z`](?:(?!\. ).)*\.$/, id);
    }
    const texts = JSON.stringify(document).matchAll(/"description":"((?:[^"\\]|\\.)*)"/g);
    const sentences = [...texts].flatMap(([, text = '']) => text.split(/[.:] |\\n/));
    assert.ok(sentences.length > 500, String(sentences.length));
    const long = sentences.filter((sentence) => sentence.split(/\s+/).length > 25);
    assert.deepEqual(long, []);
  },

  'describes every query parameter with its type and default': () => {
    const parameters = findDocumented(operations.find(({ id }) => id === 'listCampaigns') as never).parameters;
    const schemas = Object.fromEntries(parameters.map(({ name, schema }: never) => [name, schema]));
    assert.deepEqual(schemas.pageSize, {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 25,
      default: 25,
    });
    assert.deepEqual(schemas.includeArchived, { type: 'boolean', default: false });
    assert.deepEqual(schemas.sortBy, {
      type: 'string',
      enum: ['createdAt', 'updatedAt', 'startDate'],
      default: 'createdAt',
    });
    for (const operation of operations) {
      const all = findDocumented(operation).parameters ?? [];
      const queryParameters = all.filter((parameter: { in?: string }) => parameter.in === 'query');
      assert.deepEqual(
        queryParameters.map(({ name }: { name: string }) => name),
        Object.keys(operation.query.shape),
      );
      for (const { name, description, schema } of queryParameters) {
        assert.match(description, /\.$/, name);
        assert.ok(['string', 'integer', 'boolean', 'array'].includes(schema.type), name);
      }
    }
  },

  'has a description of each field and each parameter': () => {
    const fields = [...Object.entries<Schema>(document.components.schemas)].flatMap(([name, schema]) =>
      listFields(name, schema),
    );
    const parameters = operations.flatMap((operation) => findDocumented(operation).parameters ?? []);
    for (const { name, description, schema, example } of parameters.filter(({ $ref }: Schema) => $ref === undefined)) {
      fields.push([`parameter ${name}`, { ...schema, description }]);
      if (example !== undefined) assertValid(schema, example, `parameter ${name}`);
    }
    assert.ok(fields.length > 150, String(fields.length));
    for (const [name, field] of fields) {
      assert.match(field.description ?? '', /\.$/, name);
    }
  },

  'describes each type of event with the fields of its data': () => {
    const { type, data } = document.components.schemas.Event.properties;
    for (const name of EVENT_TYPES) {
      const [, text = ''] = type.description.split(`- \`${name}\`: `);
      const listed = [...(text.split('\n')[0] as string).matchAll(/`(\w+Id)`/g)].map(([, field]) => field);
      const described = Object.entries<Schema>(data.properties).filter(([, { description = '' }]) =>
        [name, name.replace(/\.\w+/, '.…')].some((it) => description.includes(`\`${it}\``)),
      );
      assert.ok(listed.length > 0, name);
      assert.deepEqual(
        listed,
        described.map(([field]) => field),
        name,
      );
    }
  },

  'has no example of an idempotency key, because tools would send the example with each request': () => {
    const parameter = document.components.parameters['Idempotency-Key'];
    assert.ok(!('example' in parameter) && !('examples' in parameter.schema));
  },

  'has examples that match its schemas and pass the validation of the operations': () => {
    for (const operation of operations) {
      const { requestBody, responses } = findDocumented(operation);
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

  'declares the request ID of every response, and the rate limit headers of every response but 401': () => {
    const rateLimitHeaders = [
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'RateLimit-Policy',
      'RateLimit',
    ];
    const successes = operations.flatMap((operation) =>
      operation.statuses.map((status) => findDocumented(operation).responses[status]),
    );
    const { Unauthorized: unauthorized, ...others } = document.components.responses;
    for (const { headers } of [...successes, ...Object.values<never>(others)]) {
      assert.deepEqual(Object.keys(headers).slice(0, 6), ['X-Request-Id', ...rateLimitHeaders]);
    }
    assert.deepEqual(Object.keys(unauthorized.headers), ['X-Request-Id', 'WWW-Authenticate']);
  },
});
