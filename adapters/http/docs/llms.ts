import { errorCodes, errors } from '../../api/errors.ts';
import type { JsonSchema } from '../../api/field-examples.ts';
import { type DocumentedOperation, getDocumentedOperations, type OpenApiDocument } from './documented-operations.ts';
import { ERRORS_PAGE, guides, REFERENCE_PAGE } from './pages.ts';
import {
  type DocumentedField,
  describeSchema,
  describeType,
  getFields,
  getValues,
  type NamedSchemas,
} from './schema-view.ts';

const TITLE = 'Workspace Advocacy API';
const SUMMARY =
  'An HTTP API for employee advocacy: companies publish campaigns, and their employees share them. JSON over HTTP, with an API key as bearer token.';

/** Returns `/llms.txt`: the list of the documentation for language models, in the format of llmstxt.org. */
export function renderLlmsText(document: OpenApiDocument): string {
  const operations = getDocumentedOperations(document).map(
    ({ id, summary, method, path }) => `- [${summary}](${REFERENCE_PAGE.path}#${id}): \`${method} ${path}\``,
  );
  return `# ${TITLE}

> ${SUMMARY}

All paths are relative to the server that serves this file. The [full text](/llms-full.txt) has all guides and the whole reference.

## Documentation

${guides.map(({ title, path, description }) => `- [${title}](${path}): ${description}`).join('\n')}
- [${ERRORS_PAGE.title}](${ERRORS_PAGE.path}): The causes and the solution of each error code.
- [${REFERENCE_PAGE.title}](${REFERENCE_PAGE.path}): All operations, with samples. This page can send requests.
- [OpenAPI document](/openapi.json): All operations and schemas, in OpenAPI 3.1.

## Operations

${operations.join('\n')}
`;
}

/** Returns `/llms-full.txt`: all guides and the whole reference as one Markdown text. */
export function renderLlmsFullText(document: OpenApiDocument, guideTexts: readonly string[]): string {
  const { schemas, headers } = document.components;
  const operations = getDocumentedOperations(document);
  const sections = [
    `# ${TITLE}, version ${document.info.version}`,
    `> ${SUMMARY}`,
    ...guideTexts,
    '## Errors',
    ...errorCodes.map(renderError),
    '## Operations',
    ...document.tags.flatMap(({ name, description }) => [
      `### ${name}`,
      description,
      ...operations.filter(({ tag }) => tag === name).map((operation) => renderOperation(operation, schemas)),
    ]),
    '## Schemas',
    'Fields that are marked "required" must be in a request, and are in each response. All other fields can be absent.',
    ...Object.entries(schemas).map(([name, schema]) => renderSchema(name, schema, schemas)),
    '## Response headers',
    Object.entries(headers)
      .map(([name, { description }]) => `- \`${name}\`: ${description}`)
      .join('\n'),
  ];
  return `${sections.map((section) => section.trim()).join('\n\n')}\n`;
}

function renderError(code: keyof typeof errors): string {
  const { status, meaning, causes, remedy, example } = errors[code];
  return `### ${status} \`${code}\`

${meaning} Causes:

${causes.map((cause) => `- ${cause}`).join('\n')}

${remedy} A typical message: "${example}"`;
}

function renderOperation(operation: DocumentedOperation, schemas: NamedSchemas): string {
  const { id, method, path, summary, description, parameters, bodySchema, bodyExample, successes } = operation;
  const parts = [`#### ${summary}`, `\`${method} ${path}\` (\`${id}\`)`, description];
  if (parameters.length > 0) parts.push('Parameters:', renderFields(parameters, schemas));
  if (bodySchema) {
    parts.push(`Body: ${getSchemaName(bodySchema, schemas)}, for example:`, renderJson(bodyExample));
  }
  for (const success of successes)
    parts.push(`Response ${success.status}: ${getSchemaName(success.schema, schemas)}. ${success.description}`);
  parts.push('Example of a response:', renderJson(successes[0]?.example));
  return parts.join('\n\n');
}

/** Returns the name of a schema, or its type if it has no name. */
function getSchemaName({ $ref, items, ...schema }: JsonSchema, schemas: NamedSchemas): string {
  if ($ref) return `\`${$ref.split('/').at(-1)}\``;
  return items ? `array of ${getSchemaName(items, schemas)}` : describeType(schema, schemas);
}

function renderSchema(name: string, schema: JsonSchema, schemas: NamedSchemas): string {
  const fields = renderFields(getFields(schema, schemas), schemas);
  return `### ${name}\n\n${schema.description}\n\n${fields || describeType(schema, schemas)}`;
}

function renderFields(fields: readonly DocumentedField[], schemas: NamedSchemas, indentation = ''): string {
  return fields
    .map(({ name, schema, description, required }) => {
      const facts = [...describeSchema(schema, schemas), ...(required ? ['required'] : [])];
      const values = getValues(schema, schemas).map((value) => `\`${value}\``);
      const nested = renderFields(getFields(schema, schemas), schemas, `${indentation}  `);
      const options = [schema, schema.items].flatMap((part) => part?.anyOf?.map((option) => option.description));
      const texts = [description, ...options, values.length > 0 && `Values: ${values.join(', ')}.`].filter(Boolean);
      return `${indentation}- \`${name}\` (${facts.join(', ')}): ${texts.join(' ')}${nested && `\n${nested}`}`;
    })
    .join('\n');
}

function renderJson(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;
}
