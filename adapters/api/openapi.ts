import { z } from 'zod';
import { errorCodes, errors, getErrorAnchor } from './errors.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { version } from './version.ts';

type Json = Readonly<Record<string, unknown>>;

const API_DESCRIPTION = `The records of a workspace of an employee-advocacy product: campaigns, inspiration questions, content
pillars, domains, groups and tags. Every operation acts on the workspace that the key belongs to.

- **Keys** go into \`Authorization: Bearer <API_KEY>\`.
- **Errors** have one shape; \`doc_url\` leads to [what causes each code here](/docs/errors).
- **Lists** are bare arrays. \`Link\` leads to the next page while there is one.
- **Retries**: a POST with an \`Idempotency-Key\` is done once, however often it is sent. The first success is kept for 24
  hours, and a repeat gets it again with \`Idempotency-Replayed: true\`.
- **Limits**: each answer tells what is left of them; a 429 tells in \`Retry-After\` how many seconds to wait.`;

/** The tags of the document, by the first segment of a path. */
const tags: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  campaigns: { name: 'Campaigns', description: 'Content that employees share.' },
  'inspiration-questions': { name: 'Inspiration questions', description: 'Prompts for what they could write about.' },
  'content-pillars': { name: 'Content pillars', description: 'Themes of content.' },
  domains: { name: 'Domains', description: 'Custom domains for short links.' },
  groups: { name: 'Groups', description: 'Members who are addressed together.' },
  tags: { name: 'Tags', description: 'Labels of campaigns.' },
};

const createTextHeader = (description: string, more: Json = {}) => ({
  description,
  schema: { type: 'string', maxLength: 1000, pattern: '^[ -~]+$', ...more },
});
const createIntegerHeader = (description: string, minimum: number, example: number) => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum, maximum: Number.MAX_SAFE_INTEGER },
  example,
});

const headers = {
  'X-Request-Id': {
    ...createTextHeader('Names this request: in our log, and when you ask us about it.', {
      format: 'uuid',
      maxLength: 36,
    }),
    required: true,
  },
  'X-RateLimit-Limit': createIntegerHeader('How many requests the key may make in a window.', 1, 600),
  'X-RateLimit-Remaining': createIntegerHeader('How many are left in this window.', 0, 599),
  'X-RateLimit-Reset': createIntegerHeader('When the next window begins, in Unix seconds.', 0, 1779264960),
  'RateLimit-Policy': { ...createTextHeader('The limit, as of IETF draft 10.'), example: '"default";q=600;w=60' },
  RateLimit: { ...createTextHeader('What is left of it, as of IETF draft 10.'), example: '"default";r=599;t=60' },
  'Retry-After': { ...createIntegerHeader('How many seconds to wait.', 1, 42), required: true },
  'WWW-Authenticate': { ...createTextHeader('The scheme to send a key with.', { enum: ['Bearer'] }), required: true },
  Link: {
    ...createTextHeader('The next page and the previous one, where there are such (RFC 8288).', { maxLength: 32_768 }),
    example: '</campaigns?pageSize=10&page=2>; rel="next"',
  },
  'Idempotency-Replayed': createTextHeader(
    'Tells that this is what the first request with this `Idempotency-Key` got.',
    {
      enum: ['true'],
    },
  ),
} as const satisfies Record<string, Json>;
type HeaderName = keyof typeof headers;

const RATE_LIMIT_HEADERS: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

const errorSchema = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes).describe('For programs.'),
      message: z
        .string()
        .meta({ maxLength: 10_000, pattern: '[^ ]' })
        .describe('For people: what is wrong, and where.'),
      doc_url: z.string().max(2048).meta({ format: 'uri-reference' }).optional().describe('Explains the code.'),
    }),
  })
  .meta({ id: 'Error', description: 'Why a request was refused.' });

/** The OpenAPI document of the API, made of what its operations declare. */
export function createOpenApiDocument(): Json {
  const schemas = new SchemaConverter();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, schemas),
    };
  }
  const responses = Object.fromEntries(
    errorCodes.map((code) => [toComponentName(code), describeErrorResponse(code, schemas)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workspace Advocacy',
      version,
      description: API_DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'Where this document is.' }],
    security: [{ key: [] }],
    tags: Object.values(tags),
    paths,
    components: {
      schemas: schemas.components,
      responses,
      headers,
      parameters: { id: ID_PARAMETER, 'Idempotency-Key': IDEMPOTENCY_KEY_PARAMETER },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key of the workspace: `adv_` and 38 characters.' },
      },
    },
  };
}

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record.',
  schema: { type: 'string', format: 'uuid', maxLength: 36 },
};

const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A name of your choice for this request: sent again under it, with the same body, it is not done again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
  example: 'f3a1c0de-0001',
};

function describeOperation(operation: Operation, schemas: SchemaConverter): Json {
  const { id, method, path, summary, description, body, example, statuses } = operation;
  const parameters = [
    ...(path.includes('{id}') ? [createReference('parameters', 'id')] : []),
    ...describeQueryParameters(operation, schemas),
    ...(method === 'POST' ? [createReference('parameters', 'Idempotency-Key')] : []),
  ];
  return {
    operationId: id,
    summary,
    description,
    tags: [tags[getResourceSegment(operation)]?.name],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? { requestBody: { required: true, content: createJsonContent(schemas.convert(body, 'input'), example.body) } }
      : {}),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, describeSuccess(operation, status, schemas)])),
      ...Object.fromEntries(
        errorCodes.map((code) => [errors[code].status, createReference('responses', toComponentName(code))]),
      ),
    },
  };
}

/** The parameters of a query. zod tells no default of what is read from text. */
function describeQueryParameters({ query }: Operation, schemas: SchemaConverter): Json[] {
  return Object.entries(query.shape).map(([name, field]) => {
    const { description, ...schema } = schemas.convert(field, 'input');
    const standard = field instanceof z.ZodDefault ? { default: field.def.defaultValue } : {};
    return { name, in: 'query', description, schema: { ...schema, ...standard } };
  });
}

function describeSuccess(operation: Operation, status: number, schemas: SchemaConverter): Json {
  const { method, response: reply, example } = operation;
  const isList = reply instanceof z.ZodArray;
  const meaning = { GET: 'What was asked for.', PATCH: 'As it is now.', DELETE: 'It was deleted.' };
  return {
    description:
      method === 'POST' ? (status === 201 ? 'It was made.' : 'It was there, and is as asked for.') : meaning[method],
    headers: createHeaderReferences([
      'X-Request-Id',
      ...RATE_LIMIT_HEADERS,
      ...(isList ? (['Link'] as const) : []),
      ...(method === 'POST' ? (['Idempotency-Replayed'] as const) : []),
    ]),
    content: createJsonContent(schemas.convert(reply, 'output'), example.response),
    ...(isList ? {} : describeLinks(operation)),
  };
}

/** The operations that take the id of what was answered. */
function describeLinks(operation: Operation): Json {
  const followers = operations.filter(
    (other) =>
      other.path.includes('{id}') &&
      getResourceSegment(other) === getResourceSegment(operation) &&
      operation.method !== 'DELETE',
  );
  if (followers.length === 0) return {};
  const link = ({ id, summary }: Operation) => [
    id,
    { operationId: id, description: `${summary}.`, parameters: { id: '$response.body#/id' } },
  ];
  return { links: Object.fromEntries(followers.map(link)) };
}

function describeErrorResponse(code: (typeof errorCodes)[number], schemas: SchemaConverter): Json {
  const { meaning, causes, remedy, example } = errors[code];
  const doc_url = `/docs/errors#${getErrorAnchor(code)}`;
  return {
    description: [meaning, '', ...causes.map((cause) => `- ${cause}`), '', remedy].join('\n'),
    headers: createHeaderReferences([
      'X-Request-Id',
      ...RATE_LIMIT_HEADERS,
      ...(code === 'unauthorized' ? (['WWW-Authenticate'] as const) : []),
      ...(code === 'rate_limit_exceeded' ? (['Retry-After'] as const) : []),
    ]),
    content: createJsonContent(schemas.convert(errorSchema, 'output'), { error: { code, message: example, doc_url } }),
  };
}

function createJsonContent(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function createHeaderReferences(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, createReference('headers', name)]));
}

function createReference(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

function getResourceSegment({ path }: Operation): string {
  return path.split('/')[1] as string;
}

/** `bad_request` is the response `BadRequest`. */
function toComponentName(code: string): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Turns zod's schemas into those of the document; what has an id becomes a component. */
class SchemaConverter {
  readonly components: Record<string, unknown> = {};

  convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any' });
    const { properties, $defs = {} } = JSON.parse(
      JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/'),
    );
    for (const [name, { id: _, ...named }] of Object.entries<Record<string, unknown>>($defs))
      this.components[name] = named;
    return properties.it;
  }
}
