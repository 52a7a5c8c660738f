import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { MAX_SLUG_LENGTH, normalSlug } from '../../core/domain/domain.ts';
import { amount as amountOf, wholeNumber as wholeNumberOf } from '../../core/shared/amount.ts';
import { endOf, startOf } from '../../core/shared/date.ts';
import { fold, SEARCH_TERM, type TextRule, textProblem, URL_TEXT } from '../../core/shared/text.ts';
import { isUuid } from '../../core/shared/uuid.ts';
import { isUrl } from './url.ts';

const NO_NUL = '^[^\\u0000]*$';
const NOT_BLANK = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$';
const DAY = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const TIME = 'T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})?';

type FindProblem = (value: string) => string | undefined;

export const MAX_ITEM_COUNT = 100;
/** More than the line of a request can hold. */
const MAX_QUERY_TEXT_LENGTH = 16_384;

/** A text: trimmed, then held against its rule and what else must be true of it. */
export function text(rule: TextRule, alsoWrong: FindProblem = () => undefined) {
  const { min: minLength, max: maxLength } = rule;
  return z
    .string()
    .overwrite(trim)
    .superRefine(rejectIf((value) => textProblem(value, rule) ?? alsoWrong(value)))
    .meta({ minLength, maxLength, pattern: minLength ? NOT_BLANK : NO_NUL });
}

/** An http(s) URL (WHATWG) with a host and without credentials. */
export const httpUrl = text(URL_TEXT, findUrlProblem).meta({ format: 'uri', pattern: '^https?://' });
export const httpUrlOrEmpty = text(URL_TEXT, (value) => (value === '' ? undefined : findUrlProblem(value))).meta({
  pattern: '^(https?://|$)',
});

/** An id, in lower case. */
export const id = z
  .string()
  .superRefine(rejectIf((value) => (isUuid(value) ? undefined : 'must be a UUID')))
  .toLowerCase()
  .meta({ format: 'uuid', maxLength: 36 });

/** Ids in a body: without duplicates, in the order sent. */
export const ids = distinctItems(id, (value) => value.toLowerCase());

/** A domain name in its normal form. */
export const slug = z
  .string()
  .transform((value, context) => {
    const normal = toSlug(value);
    if (normal !== undefined) return normal;
    context.addIssue('must be a domain name such as links.example.com, without scheme, port, path or leading www.');
    return z.NEVER;
  })
  .meta({
    minLength: 1,
    maxLength: MAX_SLUG_LENGTH,
    pattern: '^[^\\s/:?#@]+\\.[^\\s/:?#@]+$',
    examples: ['links.example.com'],
  });

/** Fields of replies: what is kept was validated when it came. */
export const recordId = z.string().meta({ format: 'uuid', maxLength: 36, description: 'Its id, a UUID.' });
export const createdAt = z
  .string()
  .meta({ format: 'date-time', maxLength: 24, description: 'When it was made, in UTC.' });
export const updatedAt = z.string().meta({
  format: 'date-time',
  maxLength: 24,
  description: 'When it was last changed, in UTC.',
});
export const workspaceId = recordId.describe('The workspace that it belongs to.');
/** What is counted. */
export const count = z.number().meta({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, multipleOf: 1 });
export const responseText = ({ max: maxLength }: TextRule) => z.string().meta({ maxLength, pattern: NO_NUL });

/** What a deletion answers. */
export const deletedRecord = z.object({ id: recordId }).meta({ id: 'Deleted', description: 'What was deleted.' });

export const startDate = dateText(startOf);
export const endDate = dateText(endOf);

/** An amount as a decimal string; see core/shared/amount.ts. */
export const amount = numberOrString(
  amountOf,
  'must be an amount, not negative, with at most 12 digits before the point and 4 after',
).meta({ minimum: 0, maximum: 999_999_999_999.9999, maxLength: 17, pattern: '^(0|[1-9][0-9]{0,11})(\\.[0-9]{1,4})?$' });

export const wholeNumber = numberOrString(wholeNumberOf, 'must be a whole number from 0 to 9007199254740991').meta({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  multipleOf: 1,
  maxLength: 16,
  pattern: '^(0|[1-9][0-9]{0,15})$',
});

/** A query parameter that may be given once. */
export function singleParameter<S extends z.ZodType>(schema: S) {
  return z.preprocess((values, context) => {
    if (!Array.isArray(values) || values.length === 1) return Array.isArray(values) ? values[0] : values;
    context.addIssue({ code: 'custom', message: 'must be given once' });
    return z.NEVER;
  }, schema);
}

/** A query parameter that may be repeated, or hold several values with commas between them. */
function listParameter<S extends z.ZodType<unknown, string>>(item: S, keyOf: (value: string) => string) {
  const split = (values: unknown) =>
    Array.isArray(values) ? values.flatMap((value) => String(value).split(',')) : values;
  return z.preprocess(split, distinctItems(item, keyOf)).optional();
}

const parameterText = text({ min: 1, max: Number.POSITIVE_INFINITY }).meta({ maxLength: MAX_QUERY_TEXT_LENGTH });

/** How to give several values in a query. */
export const LIST_PARAMETER_FORMAT = 'Repeated, or with commas between them; at most 100.';

export const idListParameter = listParameter(id, (value) => value.toLowerCase());
export const nameListParameter = listParameter(parameterText, (value) => fold(value.trim()));

export const booleanParameter = singleParameter(
  z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }),
).meta({
  type: 'boolean',
});

export const searchParameter = singleParameter(text(SEARCH_TERM)).optional();

/** A domain name as a filter: in its normal form, or `null` for what has none. */
export const slugParameter = singleParameter(parameterText.transform((value) => toSlug(value) ?? null)).optional();

/** A positive integer of a query: digits only. */
export function positiveInteger(maximum = Number.MAX_SAFE_INTEGER) {
  const digits = z.string().transform((value, context) => {
    const number = wholeNumberOf(value);
    if (number !== undefined) return number;
    context.addIssue('must be a whole number in digits');
    return z.NEVER;
  });
  return singleParameter(digits.pipe(z.int().min(1).max(maximum))).meta({
    type: 'integer',
    format: maximum > 2 ** 31 ? 'int64' : 'int32',
    minimum: 1,
    maximum,
  });
}

/** The query parameters of every list. */
export function pageParameters(defaultSize: number, largestSize: number) {
  return {
    page: positiveInteger().default(1).describe('The page, from 1 on. Past the last one the list is empty.'),
    pageSize: positiveInteger(largestSize)
      .default(defaultSize)
      .describe(`How many items a page has at most, ${largestSize} at most.`),
  };
}

/**
 * At most 100 different items. A repeated one leaves a hole, so that each is named by the position at which it was sent,
 * and what comes after too many is not looked at: an endless list costs no endless checks.
 */
function distinctItems<S extends z.ZodType<unknown, string>>(item: S, keyOf: (value: string) => string) {
  const withHoles = (values: unknown) => {
    if (!Array.isArray(values)) return values;
    const seen = new Set<unknown>();
    const kept: unknown[] = [];
    for (const [position, value] of values.entries()) {
      const key = typeof value === 'string' ? keyOf(value) : value;
      if (!seen.has(key)) kept[position] = value;
      if (seen.add(key).size > MAX_ITEM_COUNT) break;
    }
    return kept;
  };
  const items = z
    .array(item.optional())
    .refine((kept) => kept.filter(isDefined).length <= MAX_ITEM_COUNT, {
      message: `must have at most ${MAX_ITEM_COUNT} items`,
      when: ({ value }) => Array.isArray(value),
    })
    .meta({ maxItems: MAX_ITEM_COUNT })
    .transform((kept) => kept.filter(isDefined));
  return z.preprocess(withHoles, items);
}

function isDefined<T>(item: T | undefined): item is T {
  return item !== undefined;
}

function dateText(momentOf: (value: string) => number | undefined) {
  const problem = 'must be a date as 2026-01-31, or a date-time as 2026-01-31T09:30:00Z';
  return z
    .string()
    .superRefine(rejectIf((value) => (momentOf(value) === undefined ? problem : undefined)))
    .meta({ pattern: `^${DAY}(${TIME})?$`, maxLength: 35, examples: ['2026-01-31', '2026-01-31T09:30:00Z'] });
}

function numberOrString<T>(read: (value: number | string) => T | undefined, problem: string) {
  return z.union([z.number(), z.string()]).transform((value, context) => {
    const number = read(value);
    if (number !== undefined) return number;
    context.addIssue(problem);
    return z.NEVER;
  });
}

function toSlug(value: string): string | undefined {
  return normalSlug(value, domainToASCII);
}

/** WHATWG mends what is broken (`http:///host`, a line break inside), and forgets an empty user: we look at what was sent. */
function findUrlProblem(value: string): string | undefined {
  const [, authority] = /^https?:\/\/([^/\\?#]+)/i.exec(value) ?? [];
  if (authority === undefined || /\p{Control}/u.test(value) || !isUrl(value)) {
    return 'must be a URL that begins with http:// or https://';
  }
  return authority.includes('@') ? 'must be a URL without user and password' : undefined;
}

/** Trims; a shorter text is copied, because V8 keeps the whole of a text alive for as long as a piece cut from it. */
function trim(value: string): string {
  const piece = value.trim();
  return piece.length === value.length ? value : Buffer.from(piece, 'utf16le').toString('utf16le');
}

function rejectIf(problemOf: FindProblem) {
  return (value: string, context: z.RefinementCtx) => {
    const problem = problemOf(value);
    if (problem !== undefined) context.addIssue(problem);
  };
}
