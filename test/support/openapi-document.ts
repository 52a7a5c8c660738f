import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createOpenApiDocument } from '../../adapters/api/openapi.ts';
import { isUrl } from '../../adapters/api/url.ts';
import { fold } from '../../core/shared/text.ts';
import type { ApiResponse } from './request.ts';

interface Header {
  readonly required?: boolean;
  readonly schema: { readonly type: string };
}

interface DocumentedResponse {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

/** The formats of the document. `true` accepts every value, because the schemas have narrower limits. */
const formats = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  'uri-reference': (text: string) => isUrl(text, 'http://here.example'),
  int32: true,
  int64: true,
  double: true,
} as const;

// biome-ignore lint/suspicious/noExplicitAny: the test reads the document as clients do
const document = createOpenApiDocument() as any;
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema({ $id: 'document', components: JSON.parse(JSON.stringify(document.components), forbidUnknownFields) });

/** Compiled schemas. Compiling takes longer than everything else in a test. */
const validators = new Map<object, ValidateFunction>();

/** Asserts that a value matches a schema of the document. */
export function assertValid(schema: object, value: unknown, what: string): void {
  const validate = validators.get(schema) ?? compile(schema);
  validators.set(schema, validate);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
}

function compile(schema: object): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  return ajv.compile(JSON.parse(text, forbidUnknownFields));
}

/**
 * A reviver of `JSON.parse`: forbids the fields that a schema does not declare. In the document, responses may have new
 * fields.
 */
function forbidUnknownFields(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('properties' in value)) return value;
  return { additionalProperties: false, ...value };
}

interface Parameter {
  readonly name?: string;
  readonly schema: { readonly type: string };
}

interface DocumentedOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Omit<DocumentedResponse, 'headers'>;
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

const documentedOperations = Object.entries(document.paths as Readonly<Record<string, object>>).map(
  ([path, methods]) => ({
    pattern: new RegExp(`^${path.replace('{id}', '[^/?]+')}/?(\\?|$)`),
    methods,
  }),
);

/** The headers that the API defines. */
const API_HEADERS = /^(x-(?!content-type-options)|ratelimit|retry-after|www-authenticate|link|idempotency-)/;

/**
 * Asserts that a response of an operation has a status, headers and a body that the document declares. For a success,
 * also asserts that the document allows the request. Ignores paths that are not operations.
 */
export function assertAsDocumented(
  method: string,
  path: string,
  { status, headers, json }: ApiResponse,
  body?: unknown,
): void {
  const { methods } = documentedOperations.find(({ pattern }) => pattern.test(path)) ?? {};
  const operation = methods?.[method.toLowerCase() as never] as DocumentedOperation | undefined;
  if (!operation) return;
  const what = `${method} ${path} ${status}`;
  const declared = operation.responses[status];
  assert.ok(declared, `${what} is not in the document`);
  const name = declared.$ref?.split('/').at(-1);
  const response = (name === undefined ? declared : document.components.responses[name]) as DocumentedResponse;
  assertValid(response.content['application/json'].schema, json, what);
  const known = Object.keys(response.headers).map((header) => header.toLowerCase());
  for (const header of headers.keys()) {
    assert.ok(!API_HEADERS.test(header) || known.includes(header), `${what}: ${header} is not in the document`);
  }
  for (const header of Object.keys(response.headers)) assertHeader(header, headers.get(header), what);
  if (status < 300) assertAcceptedRequest(operation, path, body, what);
}

function assertAcceptedRequest(
  { parameters = [], requestBody }: DocumentedOperation,
  path: string,
  body: unknown,
  what: string,
): void {
  if (requestBody) {
    const sent = typeof body === 'string' || body instanceof Uint8Array ? JSON.parse(String(Buffer.from(body))) : body;
    assertValid(requestBody.content['application/json'].schema, normalize(sent), `${what}, the request body`);
  }
  const query = new URL(path, 'http://here.example').searchParams;
  for (const name of new Set(query.keys())) {
    const parameter = parameters.find((one) => one.name === name);
    assert.ok(parameter, `${what} accepted ${name}, which is not in the document`);
    assertValid(
      parameter.schema,
      normalize(parseParameter(parameter.schema.type, query.getAll(name))),
      `${what}, ${name}`,
    );
  }
}

function parseParameter(type: string, values: readonly string[]): unknown {
  if (type === 'array') return values.flatMap((value) => value.split(','));
  const [value = ''] = values;
  if (type === 'integer') return Number(value);
  return type === 'boolean' ? value === 'true' : value;
}

/**
 * Normalizes a request as the service does. Some schemas of the document are stricter than the service: their patterns
 * allow no surrounding spaces, and their `maxItems` count duplicates.
 */
function normalize(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .trim()
      .replace(/^https?:/i, (scheme) => scheme.toLowerCase())
      .replace(/\.$/, '');
  }
  if (Array.isArray(value)) return [...new Map(value.map((item) => [comparisonKeyOf(item), normalize(item)])).values()];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, normalize(field)]));
}

function comparisonKeyOf(item: unknown): unknown {
  return typeof item === 'string' ? fold(item.trim()) : item;
}

function assertHeader(name: string, value: string | null, what: string): void {
  const { schema, required } = document.components.headers[name] as Header;
  if (value === null) assert.ok(!required, `${what}: ${name} is missing`);
  else assertValid(schema, schema.type === 'integer' ? Number(value) : value, `${what}, ${name}`);
}
