import { z } from 'zod';
import { anchorOf, errorCodes, errors } from './errors.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { version } from './version.ts';

type Json = Readonly<Record<string, unknown>>;

const ABOUT = `The records of a workspace of an employee-advocacy product: campaigns, inspiration questions, content
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

const text = (description: string, more: Json = {}) => ({
  description,
  schema: { type: 'string', maxLength: 1000, pattern: '^[ -~]+$', ...more },
});
const wholeNumber = (description: string, minimum: number, example: number) => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum, maximum: Number.MAX_SAFE_INTEGER },
  example,
});

const headers = {
  'X-Request-Id': {
    ...text('Names this request: in our log, and when you ask us about it.', { format: 'uuid', maxLength: 36 }),
    required: true,
  },
  'X-RateLimit-Limit': wholeNumber('How many requests the key may make in a window.', 1, 600),
  'X-RateLimit-Remaining': wholeNumber('How many are left in this window.', 0, 599),
  'X-RateLimit-Reset': wholeNumber('When the next window begins, in Unix seconds.', 0, 1779264960),
  'RateLimit-Policy': { ...text('The limit, as of IETF draft 10.'), example: '"default";q=600;w=60' },
  RateLimit: { ...text('What is left of it, as of IETF draft 10.'), example: '"default";r=599;t=60' },
  'Retry-After': { ...wholeNumber('How many seconds to wait.', 1, 42), required: true },
  'WWW-Authenticate': { ...text('The scheme to send a key with.', { enum: ['Bearer'] }), required: true },
  Link: {
    ...text('The next page and the previous one, where there are such (RFC 8288).', { maxLength: 32_768 }),
    example: '</campaigns?pageSize=10&page=2>; rel="next"',
  },
  'Idempotency-Replayed': text('Tells that this is what the first request with this `Idempotency-Key` got.', {
    enum: ['true'],
  }),
} as const satisfies Record<string, Json>;
type HeaderName = keyof typeof headers;

const LIMITS: readonly HeaderName[] = [
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
export function openApi(): Json {
  const schemas = new Schemas();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, schemas),
    };
  }
  const responses = Object.fromEntries(errorCodes.map((code) => [nameOf(code), refusal(code, schemas)]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workspace Advocacy',
      version,
      description: ABOUT,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'Where this document is.' }],
    security: [{ key: [] }],
    tags: Object.values(tags),
    paths,
    components: {
      schemas: schemas.named,
      responses,
      headers,
      parameters: { id: ID, 'Idempotency-Key': IDEMPOTENCY_KEY },
      securitySchemes: {
        key: { type: 'http', scheme: 'bearer', description: 'A key of the workspace: `adv_` and 38 characters.' },
      },
    },
  };
}

const ID = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The id of the record.',
  schema: { type: 'string', format: 'uuid', maxLength: 36 },
};

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A name of your choice for this request: sent again under it, with the same body, it is not done again.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]{1,255}$' },
  example: 'f3a1c0de-0001',
};

function describe(operation: Operation, schemas: Schemas): Json {
  const { id, method, path, summary, description, body, example, statuses } = operation;
  const parameters = [
    ...(path.includes('{id}') ? [reference('parameters', 'id')] : []),
    ...queryParameters(operation, schemas),
    ...(method === 'POST' ? [reference('parameters', 'Idempotency-Key')] : []),
  ];
  return {
    operationId: id,
    summary,
    description,
    tags: [tags[resourceOf(operation)]?.name],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: json(schemas.of(body, 'input'), example.body) } } : {}),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, success(operation, status, schemas)])),
      ...Object.fromEntries(errorCodes.map((code) => [errors[code].status, reference('responses', nameOf(code))])),
    },
  };
}

/** The parameters of a query. zod tells no default of what is read from text. */
function queryParameters({ query }: Operation, schemas: Schemas): Json[] {
  return Object.entries(query.shape).map(([name, field]) => {
    const { description, ...schema } = schemas.of(field, 'input');
    const standard = field instanceof z.ZodDefault ? { default: field.def.defaultValue } : {};
    return { name, in: 'query', description, schema: { ...schema, ...standard } };
  });
}

function success(operation: Operation, status: number, schemas: Schemas): Json {
  const { method, response: reply, example } = operation;
  const isList = reply instanceof z.ZodArray;
  const meaning = { GET: 'What was asked for.', PATCH: 'As it is now.', DELETE: 'It was deleted.' };
  return {
    description:
      method === 'POST' ? (status === 201 ? 'It was made.' : 'It was there, and is as asked for.') : meaning[method],
    headers: headersNamed([
      'X-Request-Id',
      ...LIMITS,
      ...(isList ? (['Link'] as const) : []),
      ...(method === 'POST' ? (['Idempotency-Replayed'] as const) : []),
    ]),
    content: json(schemas.of(reply, 'output'), example.response),
    ...(isList ? {} : links(operation)),
  };
}

/** The operations that take the id of what was answered. */
function links(operation: Operation): Json {
  const followers = operations.filter(
    (other) =>
      other.path.includes('{id}') && resourceOf(other) === resourceOf(operation) && operation.method !== 'DELETE',
  );
  if (followers.length === 0) return {};
  const link = ({ id, summary }: Operation) => [
    id,
    { operationId: id, description: `${summary}.`, parameters: { id: '$response.body#/id' } },
  ];
  return { links: Object.fromEntries(followers.map(link)) };
}

function refusal(code: (typeof errorCodes)[number], schemas: Schemas): Json {
  const { meaning, causes, remedy, example } = errors[code];
  const doc_url = `/docs/errors#${anchorOf(code)}`;
  return {
    description: [meaning, '', ...causes.map((cause) => `- ${cause}`), '', remedy].join('\n'),
    headers: headersNamed([
      'X-Request-Id',
      ...LIMITS,
      ...(code === 'unauthorized' ? (['WWW-Authenticate'] as const) : []),
      ...(code === 'rate_limit_exceeded' ? (['Retry-After'] as const) : []),
    ]),
    content: json(schemas.of(errorSchema, 'output'), { error: { code, message: example, doc_url } }),
  };
}

function json(schema: Json, example: unknown): Json {
  return { 'application/json': { schema, example } };
}

function headersNamed(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, reference('headers', name)]));
}

function reference(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

function resourceOf({ path }: Operation): string {
  return path.split('/')[1] as string;
}

/** `bad_request` is the response `BadRequest`. */
function nameOf(code: string): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Turns zod's schemas into those of the document; what has an id becomes a component. */
class Schemas {
  readonly named: Record<string, unknown> = {};

  of(schema: z.ZodType, io: 'input' | 'output'): Json {
    const whole = z.toJSONSchema(z.object({ it: schema }), { io, unrepresentable: 'any' });
    const { properties, $defs = {} } = JSON.parse(
      JSON.stringify(whole).replaceAll('"#/$defs/', '"#/components/schemas/'),
    );
    for (const [name, { id: _, ...named }] of Object.entries<Record<string, unknown>>($defs)) this.named[name] = named;
    return properties.it;
  }
}
