import { escapeHtml, renderInlineMarkdown } from './markdown.ts';

/** A JSON Schema of the OpenAPI document, as far as the reference reads it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

/** The named schemas, which `$ref` refers to. */
export type NamedSchemas = Readonly<Record<string, JsonSchema>>;

/** A field of a body, or a parameter. */
export interface DocumentedField {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly description?: string | undefined;
  readonly required?: boolean;
}

type Kind = 'request' | 'response';

const formatNames: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'date-time' };
/**
 * Higher limits are not shown. They only follow from the maximum length of a URL: a query parameter is part of a URL,
 * and the header `Link` contains URLs.
 */
const MAX_SHOWN_LENGTH = 10_000;
/** Longer lists of values are folded. */
const MAX_SHOWN_VALUE_COUNT = 8;

/** Returns the fields of an object, or of the items of an array. */
export function getFields(schema: JsonSchema, schemas: NamedSchemas): readonly DocumentedField[] {
  const { properties = {}, required = [] } = findObject(schema, schemas) ?? {};
  return Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    description: resolve(field, schemas).description,
    required: required.includes(name),
  }));
}

/**
 * Renders a list of fields. The fields of nested objects are folded. In a request, required fields are marked. In a
 * response, fields that can be absent are marked.
 */
export function renderFields(
  fields: readonly DocumentedField[],
  schemas: NamedSchemas,
  kind: Kind = 'request',
): string {
  return `<ul class="fields">\n${fields.map((field) => renderField(field, schemas, kind)).join('\n')}\n</ul>`;
}

function renderField(
  { name, schema, description, required = false }: DocumentedField,
  schemas: NamedSchemas,
  kind: Kind,
) {
  const facts = [
    ...describeSchema(schema, schemas).map(renderInlineMarkdown),
    ...(kind === 'request' && required ? ['<strong class="required">required</strong>'] : []),
    ...(kind === 'response' && !required ? ['can be absent'] : []),
  ];
  const nested = getFields(schema, schemas);
  return `<li>
<p class="muted"><code class="name">${escapeHtml(name)}</code> ${facts.join(' · ')}</p>
${description ? `<p>${renderInlineMarkdown(description)}</p>` : ''}
${renderValues(schema, schemas)}
${nested.length > 0 ? `<details><summary>Fields of <code>${escapeHtml(name)}</code></summary>${renderFields(nested, schemas, kind)}</details>` : ''}
</li>`.replaceAll(/\n+/g, '\n');
}

/** Renders the values of an enumeration. */
function renderValues(schema: JsonSchema, schemas: NamedSchemas): string {
  const values = getValues(schema, schemas);
  if (values.length === 0) return '';
  const list = values.map((value) => `<code>${escapeHtml(value)}</code>`).join(' ');
  return values.length > MAX_SHOWN_VALUE_COUNT
    ? `<details><summary>${values.length} values</summary><p>${list}</p></details>`
    : `<p>Values: ${list}</p>`;
}

/** Returns the values of an enumeration, or none. */
function getValues(schema: JsonSchema, schemas: NamedSchemas): readonly string[] {
  return getAlternatives(schema, schemas).flatMap((option) => option.enum ?? option.items?.enum ?? []);
}

/** Returns the type, the bounds and the default of a value, in Markdown. */
function describeSchema(schema: JsonSchema, schemas: NamedSchemas): string[] {
  const defaultValue = schema.default === undefined ? [] : [`default \`${schema.default}\``];
  return [describeType(schema, schemas), ...describeBounds(schema, schemas), ...defaultValue];
}

/** Returns the type in words, such as `string or null` or `array of UUIDs`. */
export function describeType(schema: JsonSchema, schemas: NamedSchemas): string {
  const types = getAlternatives(schema, schemas).flatMap((option) => {
    const { type = 'object', format = '', items } = option;
    if (type === 'array') return [`array of ${pluralize(describeType(items ?? {}, schemas))}`];
    const isWhole = option.multipleOf === 1;
    return [type].flat().map((name) => formatNames[format] ?? (name === 'number' && isWhole ? 'integer' : name));
  });
  return [...new Set(types)].join(' or ');
}

function pluralize(type: string): string {
  return type
    .split(' or ')
    .map((word) => `${word}s`)
    .join(' or ');
}

/** Returns the bounds of a value in words, such as `1 to 190 characters`. */
export function describeBounds(schema: JsonSchema, schemas: NamedSchemas): string[] {
  const bounds = getAlternatives(schema, schemas).flatMap((option) => {
    const { minimum, maximum, minLength, maxLength, maxItems, format } = option;
    return [
      // The length of a UUID or a time follows from its format.
      ...(format ? [] : [describeLength(minLength, maxLength)]),
      describeRange(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum),
      describeRange(undefined, maxItems, ' items'),
    ].filter((bound) => bound !== undefined);
  });
  return [...new Set(bounds)];
}

function describeLength(minimum?: number, maximum = Number.POSITIVE_INFINITY): string | undefined {
  return maximum > MAX_SHOWN_LENGTH ? undefined : describeRange(minimum, maximum, ' characters');
}

function describeRange(minimum: number | undefined, maximum: number | undefined, unit = ''): string | undefined {
  const format = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 10 });
  if (maximum === undefined) return minimum === undefined ? undefined : `${format(minimum)} or more${unit}`;
  return minimum === undefined
    ? `at most ${format(maximum)}${unit}`
    : `${format(minimum)} to ${format(maximum)}${unit}`;
}

/** Returns a schema. If it refers to another schema, adds the keywords of that schema. */
function resolve(schema: JsonSchema, schemas: NamedSchemas): JsonSchema {
  const name = schema.$ref?.split('/').at(-1);
  return name ? { ...schemas[name], ...schema } : schema;
}

/** Returns the schemas that a value can match. */
function getAlternatives(schema: JsonSchema, schemas: NamedSchemas): readonly JsonSchema[] {
  const resolved = resolve(schema, schemas);
  return resolved.anyOf?.flatMap((option) => getAlternatives(option, schemas)) ?? [resolved];
}

/** Returns the schema of an object, or of the objects in an array. Returns `undefined` if a value can be neither. */
function findObject(schema: JsonSchema, schemas: NamedSchemas): JsonSchema | undefined {
  for (const option of getAlternatives(schema, schemas)) {
    const found = option.items ? findObject(option.items, schemas) : option.properties && option;
    if (found) return found;
  }
  return undefined;
}
