import { domainToASCII } from 'node:url';
import { validate as isUuid } from 'uuid';
import { z } from 'zod';
import { normalizeSlug } from '../../core/domain/domain.ts';
import {
  DEFAULT_PAGE_SIZE,
  MAX_ITEM_COUNT,
  MAX_PAGE_SIZE,
  MAX_SLUG_LENGTH,
  SEARCH_TERM_LENGTH,
  URL_LENGTH,
} from '../../core/limits.ts';
import { AMOUNT_PATTERN, parseAmount, parseWholeNumber, WHOLE_NUMBER_PATTERN } from '../../core/shared/amount.ts';
import { isDay, type ParsedDate, parseEndDate, parseStartDate } from '../../core/shared/date.ts';
import { NAME_SORTS } from '../../core/shared/name-filter.ts';
import { findTextProblem, fold, type LengthRange } from '../../core/shared/text.ts';
import { describeProblem } from './parse.ts';
import { encodeUrl, isUrl } from './url.ts';

const NO_NUL = '^[^\\u0000]*$';
const NOT_BLANK = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$';
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const TIME = 'T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?';
const URL_PATTERN = '[Hh][Tt][Tt][Pp][Ss]?://[^\\u0000- /\\\\?#@]+([/?#][^\\u0000-\\u001f\\\\\\u007f-\\u009f]*)?';

const INVALID_URL = 'must be a URL that begins with http:// or https://';

type FindProblem = (value: string) => string | undefined;

/**
 * The maximum length of a query parameter. Over HTTP, no code checks it, because Node's parser rejects a URL of this
 * length.
 */
export const MAX_QUERY_TEXT_LENGTH = 16_384;

/**
 * Returns the schema of a text. The text is trimmed. Then its characters and its length are checked, and
 * `findOtherProblem` is called.
 */
export function text(length: LengthRange, findOtherProblem: FindProblem = () => undefined) {
  const { min: minLength, max: maxLength } = length;
  return z
    .string()
    .overwrite(trim)
    .superRefine(rejectIf((value) => findTextProblem(value, length) ?? findOtherProblem(value)))
    .meta({ minLength, maxLength, pattern: minLength ? NOT_BLANK : NO_NUL });
}

/**
 * An http(s) URL (WHATWG) with a host, and without a user name, a password and backslashes. The OpenAPI document has no
 * `format` for it: WHATWG URLs can have characters that a `uri` (RFC 3986) cannot have.
 */
export const httpUrl = text(URL_LENGTH, findUrlProblem).meta({ pattern: `^\\s*${URL_PATTERN}\\s*$` });
export const httpUrlOrEmpty = text(URL_LENGTH, (value) => (value === '' ? undefined : findUrlProblem(value))).meta({
  pattern: `^\\s*(${URL_PATTERN})?\\s*$`,
});

/** An http(s) URL without a fragment. */
export const urlWithoutFragment = text(URL_LENGTH, (value) =>
  value.includes('#') ? 'must be a URL without a fragment' : findUrlProblem(value),
).meta({ pattern: `^\\s*(?!.*#)${URL_PATTERN}\\s*$` });

/** An ID: a UUID (RFC 9562). It is converted to lower case. */
export const id = z
  .string()
  .superRefine(rejectIf((value) => (isUuid(value) ? undefined : 'must be a UUID')))
  .toLowerCase()
  .meta({ format: 'uuid', maxLength: 36, examples: ['0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e0a'] });

/** An array of IDs in a body. Duplicates are dropped, the order is kept. */
export const ids = distinctItems(id, (value) => value.toLowerCase());

/** Returns the schema of an array of values of an enumeration. Duplicates are dropped, the order is kept. */
export const enumList = <V extends string>(values: readonly V[]) => distinctItems(z.enum(values), (value) => value);

/** A domain name. It is converted to the normal form of a slug. */
export const slug = z
  .string()
  .transform(
    convertWith(
      toSlug,
      'must be a domain name such as links.example.com, without a scheme, port, path or leading www.',
    ),
  )
  .meta({
    minLength: 1,
    maxLength: MAX_SLUG_LENGTH,
    pattern: '^[^\\s/:?#@]+\\.[^\\s/:?#@]+$',
  });

// The schemas of response fields only describe the values in the OpenAPI document. They validate nothing, because
// stored values were validated when they were received.
export const recordId = z.string().meta({ format: 'uuid', maxLength: 36, description: 'The ID of the record.' });
export const createdAt = z
  .string()
  .meta({ format: 'date-time', maxLength: 24, description: 'The time of creation, in UTC.' });
export const updatedAt = z.string().meta({
  format: 'date-time',
  maxLength: 24,
  description: 'The time of the last change, in UTC.',
});
/** A time in UTC, or `null`. */
export const timestampOrNull = z.string().nullable().meta({ format: 'date-time', maxLength: 24 });
export const workspaceId = recordId.describe('The ID of the workspace that the record belongs to.');
export const count = z
  .number()
  .meta({ type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/**
 * A number that is not negative, such as a size in bytes. Unlike the other schemas of responses here, it also validates
 * requests.
 */
export const nonNegativeNumber = z.number().min(0).meta({ format: 'double' });
export const responseText = ({ max: maxLength }: LengthRange) => z.string().meta({ maxLength, pattern: NO_NUL });

/** The response of a deletion. */
export const deletedRecord = z
  .object({ id: recordId.describe('The ID of the deleted record.') })
  .meta({ id: 'Deleted', description: 'The ID of the deleted record.' });

export const startDate = dateText(parseStartDate);
export const endDate = dateText(parseEndDate);

/** An amount. It is converted to a decimal string (core/shared/amount.ts). */
export const amount = numberOrString(
  parseAmount,
  'must be a non-negative amount such as 1.50, with at most 12 digits before the decimal point and 4 after it',
  { format: 'double', minimum: 0, maximum: 999_999_999_999.9999 },
  { maxLength: 17, pattern: AMOUNT_PATTERN.source },
).meta({
  id: 'Amount',
  description:
    'A non-negative number or decimal string, with at most 12 digits before the decimal point and 4 after it. A number with more than 15 digits may be rounded, so send it as a string.',
});

/** An amount in a response: a decimal string. */
export const responseAmount = z.string().meta({ maxLength: 17, pattern: AMOUNT_PATTERN.source });

/** A whole number, also as a string. It is converted to a number. */
export const wholeNumber = numberOrString(
  parseWholeNumber,
  'must be a whole number from 0 to 9007199254740991',
  { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  { maxLength: 16, pattern: WHOLE_NUMBER_PATTERN.source },
).meta({ id: 'WholeNumber', description: 'A whole number from 0 to 9007199254740991, or a string of its digits.' });

/** A query parameter that must not be repeated. */
export function singleParameter<S extends z.ZodType>(schema: S) {
  return z.preprocess((values, context) => {
    if (!Array.isArray(values) || values.length === 1) return Array.isArray(values) ? values[0] : values;
    context.addIssue({ code: 'custom', message: 'must not be repeated' });
    return z.NEVER;
  }, schema);
}

/** A query parameter with several values: repeated, separated by commas, or both. */
function listParameter<S extends z.ZodType<unknown, string>>(
  item: S,
  getKey: (value: string) => string,
  maxCount = MAX_ITEM_COUNT,
) {
  const split = (values: unknown) =>
    Array.isArray(values) ? values.flatMap((value) => String(value).split(',')) : values;
  return z.preprocess(split, distinctItems(item, getKey, maxCount));
}

const parameterText = text({ min: 1, max: Number.POSITIVE_INFINITY }).meta({ maxLength: MAX_QUERY_TEXT_LENGTH });

/** Describes, in the OpenAPI document, how to send several values in a query. */
const LIST_PARAMETER_FORMAT = `Repeat the parameter or separate the values with commas. At most ${MAX_ITEM_COUNT} different values.`;

/** Returns the schema of a required list of up to `maxCount` IDs. */
export const requiredIdListParameter = (maxCount: number) =>
  listParameter(id, (value) => value.toLowerCase(), maxCount);
export const idListParameter = (description: string) =>
  requiredIdListParameter(MAX_ITEM_COUNT).optional().describe(`${description} ${LIST_PARAMETER_FORMAT}`);
export const nameListParameter = (description: string) =>
  listParameter(parameterText.meta({ examples: ['Onboarding'] }), (value) => fold(value.trim()))
    .optional()
    .describe(`${description} ${LIST_PARAMETER_FORMAT}`);

/** Returns the schema of an optional list of values of an enumeration. */
export const enumListParameter = <V extends string>(values: readonly V[]) =>
  listParameter(z.enum(values), (value) => value).optional();

/** An optional ID. */
export const idParameter = singleParameter(id).optional();

/** Returns the schema of an optional value of an enumeration. */
export const enumParameter = <V extends string>(values: readonly V[]) => singleParameter(z.enum(values)).optional();

export const booleanParameter = singleParameter(
  z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }),
).meta({
  type: 'boolean',
});

export const searchParameter = singleParameter(text(SEARCH_TERM_LENGTH).meta({ examples: ['summer'] })).optional();

/** A domain name as a filter. It is converted to the normal form of a slug, or to `null` if it is not a domain name. */
export const slugParameter = singleParameter(
  parameterText.meta({ examples: ['links.example.com'] }).transform((value) => toSlug(value) ?? null),
).optional();

/** A day: `2026-01-31`. */
export const dayParameter = singleParameter(
  z.string().superRefine(rejectIf((value) => (isDay(value) ? undefined : 'must be a day such as 2026-01-31'))),
)
  .optional()
  .meta({ format: 'date', maxLength: 10, examples: ['2026-01-31'] });

/** Returns the schema of a whole number in a query or in an option of the command line, written in digits only. */
export function wholeNumberParameter(minimum: 0 | 1, maximum = Number.MAX_SAFE_INTEGER) {
  const findProblem = (value: string) => {
    if (!/^(0|[1-9][0-9]*)$/.test(value)) return 'must be a whole number in digits only, without leading zeros';
    if (Number(value) < minimum) return `must be at least ${minimum}`;
    return Number(value) > maximum ? `must be at most ${maximum}` : undefined;
  };
  return singleParameter(z.string().superRefine(rejectIf(findProblem)).transform(Number)).meta({
    type: 'integer',
    format: maximum > 2 ** 31 ? 'int64' : 'int32',
    minimum,
    maximum,
  });
}

export function pageSizeParameter(defaultSize: number, maxSize: number) {
  return wholeNumberParameter(1, maxSize)
    .default(defaultSize)
    .describe(`The number of items per page, at most ${maxSize}.`);
}

/** Returns the query parameters for the pagination of a list. */
export function pageParameters(defaultSize = DEFAULT_PAGE_SIZE, maxSize = MAX_PAGE_SIZE) {
  return {
    page: wholeNumberParameter(1)
      .default(1)
      .describe('The page number, starting at 1. Pages after the last one are empty arrays.'),
    pageSize: pageSizeParameter(defaultSize, maxSize),
  };
}

/** Returns the query parameters for the order of a list. By default, the newest record is first. */
export function sortParameters<S extends string>(sorts: readonly (S | 'createdAt')[], description: string) {
  return {
    sortBy: singleParameter(z.enum(sorts))
      .default('createdAt' as never)
      .describe(description),
    sortOrder: singleParameter(z.enum(['asc', 'desc']))
      .default('desc')
      .describe('The sort order: ascending or descending.'),
  };
}

/** The query parameters of a list of groups or of tags. */
export const nameListParameters = {
  search: searchParameter.describe('Case-insensitive search in the name.'),
  ...sortParameters(NAME_SORTS, 'The sort field. Names are compared case-insensitively, by Unicode code point.'),
  ...pageParameters(),
};

/**
 * Returns the schema of an array of at most `maxCount` different items. Items are duplicates if `getKey` returns the
 * same key. Duplicates are dropped. An error names the position that the client sent. The validation stops at the item
 * that exceeds the maximum.
 */
function distinctItems<S extends z.ZodType<unknown, string>>(
  item: S,
  getKey: (value: string) => string,
  maxCount = MAX_ITEM_COUNT,
) {
  const selectDistinctItems = (values: unknown, context: z.RefinementCtx) => {
    if (!Array.isArray(values)) return values;
    const distinct = new Map<unknown, unknown>();
    for (const [position, value] of values.entries()) {
      const key = typeof value === 'string' ? getKey(value) : value;
      if (distinct.has(key)) continue;
      distinct.set(key, value);
      if (distinct.size > maxCount) {
        context.addIssue(`must have at most ${maxCount} items`);
        break;
      }
      const [issue] = item.safeParse(value, { error: describeProblem }).error?.issues ?? [];
      if (issue) context.addIssue({ code: 'custom', path: [position], message: issue.message });
    }
    return [...distinct.values()];
  };
  return z.preprocess(selectDistinctItems, z.array(item).meta({ maxItems: maxCount }));
}

/** Returns the schema of a date or a date-time. `parse` returns `undefined` if the text is invalid. */
function dateText(parse: (value: string) => ParsedDate | undefined) {
  const problem = 'must be a date such as 2026-01-31 or a date-time such as 2026-01-31T09:30:00Z';
  return z
    .string()
    .meta({ pattern: `^${DAY}(${TIME})?$`, maxLength: 35, examples: ['2026-01-31', '2026-01-31T09:30:00Z'] })
    .transform(convertWith(parse, problem));
}

/**
 * Returns the schema of a number or a string with a number. `convert` returns `undefined` if the value is invalid. The
 * keywords only describe the number and the string in the OpenAPI document.
 */
function numberOrString<T>(
  convert: (value: number | string) => T | undefined,
  problem: string,
  numberKeywords: z.GlobalMeta,
  stringKeywords: z.GlobalMeta,
) {
  const schema = z.union([z.number().meta(numberKeywords), z.string().meta(stringKeywords)]);
  // JSON such as `1e400` is read as an infinite number. `z.number` would reject it with another problem.
  const toFinite = (value: unknown) => (Math.abs(value as number) === Number.POSITIVE_INFINITY ? String(value) : value);
  return z.preprocess(toFinite, schema.transform(convertWith(convert, problem)));
}

/** Returns a transformation that rejects a value with `problem` if `convert` returns `undefined`. */
function convertWith<V, T>(convert: (value: V) => T | undefined, problem: string) {
  return (value: V, context: z.RefinementCtx): T => {
    const converted = convert(value);
    if (converted !== undefined) return converted;
    context.addIssue(problem);
    return z.NEVER;
  };
}

function toSlug(value: string): string | undefined {
  return normalizeSlug(value, domainToASCII);
}

/**
 * The maximum lengths of a host name and of its labels (RFC 1035). Converting longer names to ASCII would take too
 * long.
 */
const MAX_HOST_LENGTH = 255;
const MAX_LABEL_LENGTH = 63;

/**
 * Returns the problem of a text that must be an http(s) URL. Checks also the text itself, because the WHATWG parser
 * repairs invalid URLs (`http:///host`, a line break inside) and drops an empty user name.
 */
function findUrlProblem(value: string): string | undefined {
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(value) ?? [];
  if (authority === undefined || /\p{Control}/u.test(value)) return INVALID_URL;
  if (value.includes('\\')) return 'must be a URL without a backslash, encode it as %5C';
  if (authority.includes('@')) return 'must be a URL without a user name and password';
  const host = authority.replace(/:[0-9]*$/, '');
  if (host.length > MAX_HOST_LENGTH || host.split(/[.。．｡]/).some(({ length }) => length > MAX_LABEL_LENGTH)) {
    return `must be a URL whose host has at most ${MAX_HOST_LENGTH} characters, and at most ${MAX_LABEL_LENGTH} between two dots`;
  }
  if (!isUrl(value)) return INVALID_URL;
  const { max } = URL_LENGTH;
  return encodeUrl(value).length > max ? `must have at most ${max} characters when it is percent-encoded` : undefined;
}

/**
 * Trims a text. A shorter result is copied, because V8 keeps a whole text in memory as long as a slice of it is used.
 */
function trim(value: string): string {
  const trimmed = value.trim();
  return trimmed.length === value.length ? value : Buffer.from(trimmed, 'utf16le').toString('utf16le');
}

/** Returns a refinement that rejects a value if `findProblem` returns a problem. */
function rejectIf(findProblem: FindProblem) {
  return (value: string, context: z.RefinementCtx) => {
    const problem = findProblem(value);
    if (problem !== undefined) context.addIssue(problem);
  };
}
