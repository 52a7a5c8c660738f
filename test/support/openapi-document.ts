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

interface Reply {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content: { readonly 'application/json': { readonly schema: object } };
}

/** The formats that the document names, as far as they are narrower than the patterns and bounds beside them. */
const formats = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
  uri: (text: string) => isUrl(text),
  'uri-reference': (text: string) => isUrl(text, 'http://here.example'),
  int32: true,
  int64: true,
} as const;

// biome-ignore lint/suspicious/noExplicitAny: it is read as whoever calls the API reads it
const document = createOpenApiDocument() as any;
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema({ $id: 'document', components: document.components });

/** To compile a schema takes longer than all else that a test does. */
const compiled = new Map<object, ValidateFunction>();

/** A value is what a schema of the document says. */
export function assertValid(schema: object, value: unknown, what: string): void {
  const validate = compiled.get(schema) ?? compile(schema);
  compiled.set(schema, validate);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
}

function compile(schema: object): ValidateFunction {
  return ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')));
}

interface Parameter {
  readonly name?: string;
  readonly schema: { readonly type: string };
}

interface Documented {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Omit<Reply, 'headers'>;
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

const operations = Object.entries(document.paths as Readonly<Record<string, object>>).map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replace('{id}', '[^/?]+')}/?(\\?|$)`),
  methods,
}));

/** The headers that are the API's own matter. */
const OURS = /^(x-(?!content-type-options)|ratelimit|retry-after|www-authenticate|link|idempotency-)/;

/**
 * What an operation answered has a status, headers and a body as the document declares them, and what it took is what the
 * document lets be sent; of others it says nothing.
 */
export function assertAsDocumented(
  method: string,
  path: string,
  { status, headers, json }: ApiResponse,
  body?: unknown,
): void {
  const { methods } = operations.find(({ pattern }) => pattern.test(path)) ?? {};
  const operation = methods?.[method.toLowerCase() as never] as Documented | undefined;
  if (!operation) return;
  const what = `${method} ${path} ${status}`;
  const declared = operation.responses[status];
  assert.ok(declared, `${what} is not in the document`);
  const name = declared.$ref?.split('/').at(-1);
  const reply = (name === undefined ? declared : document.components.responses[name]) as Reply;
  assertValid(reply.content['application/json'].schema, json, what);
  const known = Object.keys(reply.headers).map((header) => header.toLowerCase());
  for (const header of headers.keys()) {
    assert.ok(!OURS.test(header) || known.includes(header), `${what}: ${header} is not in the document`);
  }
  for (const header of Object.keys(reply.headers)) assertHeader(header, headers.get(header), what);
  if (status < 300) assertTaken(operation, path, body, what);
}

function assertTaken({ parameters = [], requestBody }: Documented, path: string, body: unknown, what: string): void {
  if (requestBody) {
    const sent = typeof body === 'string' || body instanceof Uint8Array ? JSON.parse(String(Buffer.from(body))) : body;
    assertValid(requestBody.content['application/json'].schema, tidied(sent), `${what}, what it took`);
  }
  const query = new URL(path, 'http://here.example').searchParams;
  for (const name of new Set(query.keys())) {
    const parameter = parameters.find((one) => one.name === name);
    assert.ok(parameter, `${what} took ${name}, which is not in the document`);
    assertValid(parameter.schema, tidied(readAs(parameter.schema.type, query.getAll(name))), `${what}, ${name}`);
  }
}

function readAs(type: string, values: readonly string[]): unknown {
  if (type === 'array') return values.flatMap((value) => value.split(','));
  const [value = ''] = values;
  if (type === 'integer') return Number(value);
  return type === 'boolean' ? value === 'true' : value;
}

/**
 * As it would be without what the service forgives, and the document does not speak of: spaces around a text, a scheme in
 * upper case, a dot at the end of a domain name, duplicates in a list.
 */
function tidied(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .trim()
      .replace(/^https?:/i, (scheme) => scheme.toLowerCase())
      .replace(/\.$/, '');
  }
  if (Array.isArray(value)) return [...new Map(value.map((item) => [keyOf(item), tidied(item)])).values()];
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, tidied(field)]));
}

function keyOf(item: unknown): unknown {
  return typeof item === 'string' ? fold(item.trim()) : item;
}

function assertHeader(name: string, value: string | null, what: string): void {
  const { schema, required } = document.components.headers[name] as Header;
  if (value === null) assert.ok(!required, `${what} has no ${name}`);
  else assertValid(schema, schema.type === 'integer' ? Number(value) : value, `${what}, ${name}`);
}
