import type { DocumentedField, JsonSchema } from './documented-operations.ts';
import { escapeHtml, renderMarkdown } from './markdown.ts';

const formatNames: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'date-time' };
/**
 * Higher limits are not shown. They only follow from the maximum length of a URL: a query parameter is part of a URL,
 * and the header `Link` contains URLs.
 */
const MAX_SHOWN_LENGTH = 10_000;

/** Returns the fields of an object, or of the items of an array. */
export function getFields(schema: JsonSchema): readonly DocumentedField[] {
  const { properties = {}, required = [] } = findObject(schema) ?? {};
  return Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    description: field.description,
    required: required.includes(name),
  }));
}

/**
 * Renders a list of fields, with those of nested objects. In a request, required fields are marked. In a
 * response, fields that can be absent are marked.
 */
export function renderFields(fields: readonly DocumentedField[], isResponse = false): string {
  return `<ul class="fields">\n${fields.map((field) => renderField(field, isResponse)).join('\n')}\n</ul>`;
}

function renderField(field: DocumentedField, isResponse: boolean): string {
  const { name, schema, description = '', required = false } = field;
  const facts = [
    describeType(schema),
    ...describeBounds(schema).filter((bound) => !statesBound(description, bound)),
    ...(schema.default === undefined ? [] : [`default <code>${escapeHtml(String(schema.default))}</code>`]),
    ...(required && !isResponse ? ['<strong class="required">required</strong>'] : []),
    ...(isResponse && !required ? ['can be absent'] : []),
  ];
  const nested = getFields(schema);
  return `<li>
<p class="muted"><code class="name">${escapeHtml(name)}</code> ${facts.join(' · ')}</p>
${renderMarkdown(description)}
${renderValues(schema, description)}
${nested.length > 0 ? renderFields(nested, isResponse) : ''}
</li>`.replaceAll(/\n+/g, '\n');
}

/** Renders the values of an enumeration, unless the description names all of them. */
function renderValues(schema: JsonSchema, description: string): string {
  const values = getAlternatives(schema).flatMap((option) => option.enum ?? option.items?.enum ?? []);
  if (values.every((value) => description.includes(`\`${value}\``))) return '';
  return `<p>Values: ${values.map((value) => `<code>${escapeHtml(value)}</code>`).join(' ')}</p>`;
}

/** Returns the type in words, such as `string or null` or `array of UUIDs`. */
export function describeType(schema: JsonSchema): string {
  const types = getAlternatives(schema).flatMap(({ type = 'object', format = '', items = {}, multipleOf }) => {
    if (type === 'array') return [`array of ${describeType(items).replaceAll(/$| or /g, 's$&')}`];
    return [type].flat().map((name) => formatNames[format] ?? (multipleOf === 1 ? 'integer' : name));
  });
  return [...new Set(types)].join(' or ');
}

/** Returns the bounds of a value in words, such as `1 to 190 characters`. */
export function describeBounds(schema: JsonSchema): string[] {
  const bounds = getAlternatives(schema).flatMap((option) => {
    const { minimum, maximum, minLength, maxLength = Number.POSITIVE_INFINITY, maxItems, format } = option;
    return [
      // The length of a UUID or a time follows from its format.
      ...(format || maxLength > MAX_SHOWN_LENGTH ? [] : [describeRange(minLength, maxLength, ' characters')]),
      describeRange(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum),
      describeRange(undefined, maxItems, ' items'),
    ].filter((bound) => bound !== undefined);
  });
  return [...new Set(bounds)];
}

/** Returns whether a description has the last number of a bound. Then the reference does not repeat the bound. */
function statesBound(description: string, bound: string): boolean {
  const number = bound.match(/[\d.,]*\d/g)?.at(-1) ?? '';
  return description.match(/[\d.,]*\d/g)?.includes(number) ?? false;
}

function describeRange(minimum: number | undefined, maximum: number | undefined, unit = ''): string | undefined {
  const [from, to] = [minimum, maximum].map((it) => it?.toLocaleString('en-US', { maximumFractionDigits: 10 }));
  if (to === undefined) return from && `${from} or more${unit}`;
  return from === undefined ? `at most ${to}${unit}` : `${from} to ${to}${unit}`;
}

/** Returns the schemas that a value can match. */
function getAlternatives(schema: JsonSchema): readonly JsonSchema[] {
  return schema.anyOf?.flatMap(getAlternatives) ?? [schema];
}

/** Returns the schema of an object, or of the objects in an array. Returns `undefined` if a value can be neither. */
function findObject(schema: JsonSchema): JsonSchema | undefined {
  for (const option of getAlternatives(schema)) {
    const found = option.items ? findObject(option.items) : option.properties && option;
    if (found) return found;
  }
  return undefined;
}
