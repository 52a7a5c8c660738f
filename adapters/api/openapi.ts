import { z } from 'zod';
import { IDEMPOTENCY_KEY_PATTERN } from '../../core/idempotency/idempotency.ts';
import {
  DEFAULT_REQUEST_LIMIT,
  DEFAULT_WINDOW_SECONDS,
  IDEMPOTENCY_KEY_LENGTH,
  RESPONSE_TTL_HOURS,
} from '../../core/limits.ts';
import { getDescription } from './description.ts';
import { type ErrorCode, errorCodes, errors, getErrorAnchor, getErrorCauses } from './errors.ts';
import type { Operation } from './operation.ts';
import { type OperationSection, operationSections } from './operations.ts';
import { version } from './version.ts';

type Json = Readonly<Record<string, unknown>>;

// One sentence for each convention: the guide explains them.
const API_DESCRIPTION = `Every operation acts on the workspace of the API key, which the header \`Authorization: Bearer <API_KEY>\` sends.

- [Errors](/docs/errors) have one JSON shape. Branch on \`code\`, or on the fragment of \`doc_url\`: it names the cause.
- [Lists](/docs/guide#read-all-pages) have pages. Follow \`rel="next"\` in the \`Link\` header until it is missing. Links
  are relative to the URL of the request.
- [Retries](/docs/guide#retry-a-request-safely) are safe with an \`Idempotency-Key\`, which is valid for ${RESPONSE_TTL_HOURS} hours. An error has
  \`Retry-After\` if the same request can succeed after that many seconds.
- [Limits](/docs/guide#stay-within-the-limits): The headers of a response say how many requests remain.`;

const createTextHeader = (description: string, keywords: Json = {}) => ({
  description,
  schema: { type: 'string', maxLength: 1000, pattern: '^[ -~]+$', ...keywords },
});
const createIntegerHeader = (description: string, minimum: number, example: number) => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum, maximum: Number.MAX_SAFE_INTEGER },
  example,
});

const rateLimitHeaders = {
  'X-RateLimit-Limit': createIntegerHeader(
    'The maximum number of requests of the key per rate limit window.',
    1,
    DEFAULT_REQUEST_LIMIT,
  ),
  'X-RateLimit-Remaining': createIntegerHeader(
    'The number of requests that remain in the current window.',
    0,
    DEFAULT_REQUEST_LIMIT - 1,
  ),
  'X-RateLimit-Reset': createIntegerHeader('The time when the current window ends, in Unix seconds.', 0, 1779264960),
  'RateLimit-Policy': {
    ...createTextHeader('The rate limit policy (IETF draft-ietf-httpapi-ratelimit-headers-10).'),
    example: `"default";q=${DEFAULT_REQUEST_LIMIT};w=${DEFAULT_WINDOW_SECONDS}`,
  },
  RateLimit: {
    ...createTextHeader('The remaining requests (IETF draft-ietf-httpapi-ratelimit-headers-10).'),
    example: `"default";r=${DEFAULT_REQUEST_LIMIT - 1};t=${DEFAULT_WINDOW_SECONDS}`,
  },
} as const satisfies Record<string, Json>;
/** The name of a header that states the rate limit of a key or its usage. */
export type RateLimitHeader = keyof typeof rateLimitHeaders;

const headers = {
  'X-Request-Id': {
    ...createTextHeader('The ID of this request in the log. Quote it in support requests.', {
      format: 'uuid',
      maxLength: 36,
    }),
    required: true,
  },
  ...rateLimitHeaders,
  'Retry-After': createIntegerHeader(
    'The number of seconds to wait before a retry. If it is missing, the same request cannot succeed.',
    1,
    42,
  ),
  'WWW-Authenticate': { ...createTextHeader('The authentication scheme.', { enum: ['Bearer'] }), required: true },
  Link: {
    ...createTextHeader(
      'Links to the next and the previous page, if they exist (RFC 8288). Their URLs are relative to the URL of the request.',
      { maxLength: 32_768 },
    ),
    example: '</campaigns?pageSize=10&page=2>; rel="next"',
  },
  'Idempotency-Replayed': createTextHeader(
    'Present if this is the stored response to an earlier request with the same `Idempotency-Key`.',
    {
      enum: ['true'],
    },
  ),
} as const satisfies Record<string, Json>;
type HeaderName = keyof typeof headers;

const RATE_LIMIT_HEADERS = Object.keys(rateLimitHeaders) as readonly RateLimitHeader[];

const errorSchema = z
  .strictObject({
    error: z
      .strictObject({
        code: z.enum(errorCodes).describe('The error code. Branch on it in your program.'),
        message: z
          .string()
          .meta({ maxLength: 10_000, pattern: '[^ ]' })
          .describe('A message for people: what is wrong and how to fix it.'),
        doc_url: z
          .string()
          .max(2048)
          .meta({ format: 'uri-reference' })
          .optional()
          .describe(
            'A link to the documentation of the error code or, in its fragment, of the cause: branch on it, too.',
          ),
      })
      .meta({ id: 'ErrorDetails', description: 'The problem with a request, and how to fix it.' })
      .describe('The error.'),
  })
  .meta({ id: 'ErrorResponse', description: 'The body of an error response.' });

/** Creates the OpenAPI document from the declared operations. */
export function createOpenApiDocument(): Json {
  const converter = new SchemaConverter();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const section of operationSections) {
    for (const operation of section.operations) {
      const method = operation.method.toLowerCase();
      paths[operation.path] = { ...paths[operation.path], [method]: describeOperation(operation, section, converter) };
    }
  }
  const responses = Object.fromEntries(
    errorCodes.map((code) => [toComponentName(code), describeErrorResponse(code, converter)]),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Workspace Advocacy',
      version,
      description: API_DESCRIPTION,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The server that serves this document.' }],
    security: [{ key: [] }],
    tags: operationSections.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: converter.components,
      responses,
      headers,
      parameters: { id: ID_PARAMETER, 'Idempotency-Key': IDEMPOTENCY_KEY_PARAMETER },
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key of the workspace, usually `adv_` followed by 38 characters. Treat it as opaque text.',
        },
      },
    },
  };
}

const ID_PARAMETER = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The ID of the record, in upper or lower case.',
  schema: { type: 'string', format: 'uuid', maxLength: 36 },
};

const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A unique value of your choice, such as a UUID. If you retry the request with the same value, path and body, it takes effect only once.',
  // This parameter has no example, because pages and tools would send the example with every request.
  schema: {
    type: 'string',
    minLength: IDEMPOTENCY_KEY_LENGTH.min,
    maxLength: IDEMPOTENCY_KEY_LENGTH.max,
    pattern: IDEMPOTENCY_KEY_PATTERN.source,
  },
};

function describeOperation(operation: Operation, section: OperationSection, converter: SchemaConverter): Json {
  const { id, method, path, summary, body, example, statuses } = operation;
  const parameters = [
    ...(path.includes('{id}') ? [createReference('parameters', 'id')] : []),
    ...describeQueryParameters(operation, converter),
    ...(method === 'POST' ? [createReference('parameters', 'Idempotency-Key')] : []),
  ];
  return {
    operationId: id,
    summary,
    description: getDescription(operation),
    tags: [section.name],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: true, content: converter.createContent(body, 'input', example.body) } } : {}),
    responses: {
      ...Object.fromEntries(statuses.map((status) => [status, describeSuccess(operation, status, converter)])),
      ...Object.fromEntries(
        errorCodes.map((code) => [errors[code].status, createReference('responses', toComponentName(code))]),
      ),
    },
  };
}

/**
 * Returns the query parameters. Adds their defaults, because zod omits the default of a schema that transforms text.
 */
function describeQueryParameters({ query, example }: Operation, converter: SchemaConverter): Json[] {
  const examplesByName: Json = example.query ?? {};
  return Object.entries(query.shape).map(([name, field]) => {
    const { description, ...schema } = converter.convert(field, 'input');
    const defaults = field instanceof z.ZodDefault ? { default: field.def.defaultValue } : {};
    return {
      name,
      in: 'query',
      description,
      ...(field.safeParse(undefined).success ? {} : { required: true }),
      schema: { ...schema, ...defaults },
      example: examplesByName[name],
    };
  });
}

function describeSuccess(operation: Operation, status: number, converter: SchemaConverter): Json {
  const { method, response, example } = operation;
  const isList = 'pageSize' in operation.query.shape;
  return {
    description: isList ? 'A page of the list.' : successDescriptions[`${method}${status}`],
    headers: createHeaderReferences([
      'X-Request-Id',
      ...RATE_LIMIT_HEADERS,
      ...(isList ? (['Link'] as const) : []),
      ...(method === 'POST' ? (['Idempotency-Replayed'] as const) : []),
    ]),
    content: converter.createContent(response, 'output', example.response),
  };
}

/** The descriptions of successful responses with a record, by the method and the status. */
const successDescriptions: Readonly<Record<string, string>> = {
  GET200: 'The record, or the array of records.',
  POST200: 'The state after the request. No record was created.',
  POST201: 'The record was created.',
  PATCH200: 'The record after the update.',
  DELETE200: 'The record was deleted.',
};

/** The codes of the errors that can have `Retry-After`. */
const retryableCodes: readonly ErrorCode[] = [
  'bad_request',
  'conflict',
  'rate_limit_exceeded',
  'internal_server_error',
];

function describeErrorResponse(code: ErrorCode, converter: SchemaConverter): Json {
  const { meaning, otherCauses, remedy, example } = errors[code];
  const causes = getErrorCauses(code).map(([anchor, text]) => `[\`${anchor}\`](/docs/errors#${anchor}): ${text}`);
  const doc_url = `/docs/errors#${getErrorAnchor(code)}`;
  return {
    description: [meaning, '', ...[...causes, ...otherCauses].map((cause) => `- ${cause}`), '', remedy].join('\n'),
    headers: createHeaderReferences([
      'X-Request-Id',
      ...(code === 'unauthorized' ? (['WWW-Authenticate'] as const) : RATE_LIMIT_HEADERS),
      ...(retryableCodes.includes(code) ? (['Retry-After'] as const) : []),
    ]),
    content: converter.createContent(errorSchema, 'output', { error: { code, message: example, doc_url } }),
  };
}

function createHeaderReferences(names: readonly HeaderName[]): Json {
  return Object.fromEntries(names.map((name) => [name, createReference('headers', name)]));
}

function createReference(componentType: string, name: string): Json {
  return { $ref: `#/components/${componentType}/${name}` };
}

/** Converts a code to the name of its response component: `bad_request` to `BadRequest`. */
function toComponentName(code: string): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

/** Converts zod schemas to JSON Schema. A schema with an ID becomes a component of the OpenAPI document. */
class SchemaConverter {
  readonly components: Record<string, unknown> = {};

  /** Returns the content of a request or of a response. */
  createContent(body: z.ZodType, io: 'input' | 'output', example: unknown): Json {
    return { 'application/json': { schema: this.convert(body, io), example } };
  }

  convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    // The schema is a property of an object. So zod moves a schema with an ID to `$defs`, and returns a reference.
    const wrapper = z.toJSONSchema(z.object({ wrapped: schema }), {
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => {
        // zod sets `readOnly` for `readonly()`, which only describes the TypeScript type. In OpenAPI, it would mean
        // that requests must not have the field.
        delete jsonSchema.readOnly;
        // Responses may get new fields (docs/stability.md).
        if (io === 'output') delete jsonSchema.additionalProperties;
      },
    });
    const { properties, $defs = {} } = JSON.parse(
      JSON.stringify(wrapper).replaceAll('"#/$defs/', '"#/components/schemas/'),
    );
    for (const [name, { id: _, ...named }] of Object.entries<Record<string, unknown>>($defs))
      this.components[name] = named;
    return properties.wrapped;
  }
}
