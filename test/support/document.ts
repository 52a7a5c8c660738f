import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApi } from '../../adapters/api/openapi.ts';
import type { Answer } from './service.ts';

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
  uri: (text: string) => URL.canParse(text),
  'uri-reference': (text: string) => URL.canParse(text, 'http://here.example'),
  int32: true,
  int64: true,
} as const;

// biome-ignore lint/suspicious/noExplicitAny: it is read as whoever calls the API reads it
const document = openApi() as any;
const ajv = new Ajv2020({ strict: false, formats });
ajv.addSchema({ $id: 'document', components: document.components });

/** A value is what a schema of the document says. */
export function assertValid(schema: object, value: unknown, what: string): void {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  assert.ok(ajv.validate(JSON.parse(text), value), `${what}: ${ajv.errorsText()}`);
}

const operations = Object.entries(document.paths as Readonly<Record<string, object>>).map(([path, methods]) => ({
  pattern: new RegExp(`^${path.replace('{id}', '[^/?]+')}/?(\\?|$)`),
  methods,
}));

/** The headers that are the API's own matter. */
const OURS = /^(x-(?!content-type-options)|ratelimit|retry-after|www-authenticate|link|idempotency-)/;

/** What an operation answered has a status, headers and a body as the document declares them; of others it says nothing. */
export function assertAsDocumented(method: string, path: string, { status, headers, json }: Answer): void {
  const { methods } = operations.find(({ pattern }) => pattern.test(path)) ?? {};
  const operation = methods?.[method.toLowerCase() as never] as
    | { responses: Record<string, { $ref?: string }> }
    | undefined;
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
}

function assertHeader(name: string, value: string | null, what: string): void {
  const { schema, required } = document.components.headers[name] as Header;
  if (value === null) assert.ok(!required, `${what} has no ${name}`);
  else assertValid(schema, schema.type === 'integer' ? Number(value) : value, `${what}, ${name}`);
}
