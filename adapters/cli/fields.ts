import { z } from 'zod';
import { createInvalidFieldsError } from '../../core/shared/core-error.ts';

/** An option or an argument of a command, derived from a field of a schema. */
export interface CommandField {
  /** The name of the field in the API, such as `seatType`. */
  readonly name: string;
  /** The name on the command line: `--seat-type` for an option, `<file>` for an argument. */
  readonly label: string;
  readonly description: string;
  /** The type of a value, or of an item of a list. `json`: a text, or JSON if it begins with `{`. */
  readonly type: 'boolean' | 'number' | 'text' | 'json';
  /** The word for the value in the help, such as `id`. */
  readonly placeholder: string;
  readonly isList: boolean;
  readonly isNullable: boolean;
}

/** The values of options and arguments, by the names of their fields. */
export type Values = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Returns the fields of a schema. Those that `argumentNames` lists are arguments, all others are options. */
export function createFields(schema: z.ZodObject, argumentNames: readonly string[] = []): CommandField[] {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const resolve = ({ $ref, ...inline }: JsonSchema): JsonSchema =>
    $ref ? { ...resolve($defs[$ref.replace('#/$defs/', '')] as JsonSchema), ...inline } : inline;
  const listAlternatives = (it: JsonSchema): JsonSchema[] =>
    (it.anyOf as JsonSchema[] | undefined)?.flatMap((one) => listAlternatives(resolve(one))) ?? [it];
  const fields = Object.entries(resolve(root).properties ?? {}).map(([name, property]): CommandField => {
    const resolved = resolve(property as JsonSchema);
    const alternatives = listAlternatives(resolved);
    const list = alternatives.find(({ type }) => type === 'array');
    const items = list ? listAlternatives(resolve(list.items as JsonSchema)) : alternatives;
    const has = (...types: readonly unknown[]) => items.some(({ type }) => types.includes(type));
    const choices = items.find((it) => it.enum)?.enum;
    const isNumber = has('number', 'integer') && !has('string');
    const type = has('object') ? 'json' : has('boolean') ? 'boolean' : isNumber ? 'number' : 'text';
    const isId = items.some(({ format }) => format === 'uuid');
    const isArgument = argumentNames.includes(name);
    const kebabName = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const isNullable = alternatives.some((it) => it.type === 'null');
    const { success: isOptional, data: defaultValue } = (schema.shape[name] as z.ZodType).safeParse(undefined);
    const notes = [
      choices && `One of ${choices.join(', ')}.`,
      !isOptional && !isArgument && 'Required.',
      type !== 'boolean' && `${defaultValue ?? ''}` && `Default: ${defaultValue}.`,
      list && 'Repeatable.',
      isNullable && isOptional && `\`null\` for none.`,
    ];
    return {
      name,
      label: isArgument ? `<${kebabName}>` : `--${kebabName}`,
      description: [resolved.description, ...notes].filter(Boolean).join(' '),
      type,
      placeholder: isId ? 'id' : isNumber ? 'number' : choices ? 'name' : 'text',
      isList: list !== undefined,
      isNullable,
    };
  });
  return fields.map((field) => ({ ...field, description: nameOptions(field.description, fields) }));
}

/** The statuses of responses in a sentence: `(409 otherwise)`. */
const STATUSES = / \([24]\d\d\b[^)]*\)/g;

/**
 * Replaces the names of fields in a text of the API by those of options: `endDate` by --end-date. Drops the statuses of
 * responses.
 */
export function nameOptions(text: string, fields: readonly CommandField[]): string {
  return text
    .replace(STATUSES, '')
    .replace(/`(\w+)`/g, (word, name) => fields.find((field) => field.name === name)?.label ?? word);
}

/**
 * Returns the given values as the parameters of a query, or as the JSON fields of a body. Items of a list in a body can
 * also be separated by commas.
 */
export function toRequest(fields: readonly CommandField[], values: Values, part: 'query' | 'body'): object {
  const convert = (field: CommandField, value: Values[string]) => {
    if (part === 'query') return typeof value === 'boolean' ? `${value}` : value;
    return Array.isArray(value) ? value.flatMap((text) => splitItems(field, text)) : toJson(field, value as string);
  };
  const given = fields.filter(({ name }) => values[name] !== undefined);
  return Object.fromEntries(given.map((field) => [field.name, convert(field, values[field.name])]));
}

const LOOKS_LIKE_JSON = /^\s*[[{]/;

function splitItems(field: CommandField, text: string): unknown[] {
  if (text === '') return [];
  return field.type === 'json' && LOOKS_LIKE_JSON.test(text)
    ? [toJson(field, text)].flat()
    : text.split(',').map((item) => toJson(field, item));
}

function toJson({ name, type, isNullable }: CommandField, text: string | boolean): unknown {
  if (typeof text === 'boolean') return text;
  if (isNullable && text === 'null') return null;
  if (type === 'number' && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type !== 'json' || !LOOKS_LIKE_JSON.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw createInvalidFieldsError([{ path: name, problem: 'is not valid JSON' }]);
  }
}

const NEEDS_NO_QUOTES = /^[\w@%+:,./-]+$/;

/** Returns a value as it is written in a shell: the opposite of `toRequest`. */
export function formatArguments({ label, isList }: CommandField, value: unknown): string[] {
  if (typeof value === 'boolean') return [value ? label : `${label}=false`];
  const texts = (isList ? (value as readonly unknown[]) : [value]).map((item) =>
    typeof item === 'object' && item !== null ? JSON.stringify(item) : `${item}`,
  );
  const isPlain = texts.every((text) => !/[,{]/.test(text));
  return (isList && isPlain ? [texts.join(',')] : texts).map(
    (text) => `${label} ${NEEDS_NO_QUOTES.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`}`,
  );
}
