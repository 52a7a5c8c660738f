import type { z } from 'zod';
import { createInvalidFieldsError, type FieldError } from '../../core/shared/core-error.ts';

type Part = readonly [schema: z.ZodObject, value: unknown];
type Issue = z.core.$ZodIssue;

/** Validates each value against its schema. Throws one `invalid` error for all invalid fields, unknown fields first. */
export function parseAll(...parts: readonly (Part | false | undefined)[]): unknown[] {
  const results = parts.map((part) => (part ? part[0].safeParse(part[1], { error: describeProblem }) : undefined));
  const issues = results.flatMap((result) => result?.error?.issues ?? []).flatMap((issue) => explainUnion(issue));
  if (issues.length > 0)
    throw createInvalidFieldsError([
      ...toFieldErrors(issues, isUnknownField),
      ...toFieldErrors(issues, (issue) => !isUnknownField(issue)),
    ]);
  return results.map((result) => result?.data);
}

/** Validates one value. Throws one `invalid` error for all invalid fields. */
export function parse<Schema extends z.ZodObject>(schema: Schema, value: unknown): z.output<Schema> {
  return parseAll([schema, value])[0] as z.output<Schema>;
}

const REQUIRED = 'is required';
/** The maximum length of the name of an unknown field in an error. */
const MAX_UNKNOWN_NAME_LENGTH = 100;

const isUnknownField = ({ code }: Issue): boolean => code === 'unrecognized_keys';

/** Returns one error per field for the issues that `isChosen` accepts. */
function toFieldErrors(issues: readonly Issue[], isChosen: (issue: Issue) => boolean): FieldError[] {
  const byPath = new Map<string, string>();
  for (const issue of issues.filter(isChosen)) {
    const names = issue.code === 'unrecognized_keys' ? issue.keys.map(formatName) : [undefined];
    for (const name of names) {
      const path = [...issue.path, ...(name === undefined ? [] : [name])].join('.');
      if (!byPath.has(path)) byPath.set(path, issue.message);
    }
  }
  return [...byPath].map(([path, message]) => ({ path, problem: message }));
}

/**
 * Replaces the issue of a union by the issues that explain it. If an alternative accepts the type of the value, returns
 * the issues of the first such alternative. If none does, returns one issue that lists the types of all alternatives.
 * Returns other issues unchanged, and also the issue of a missing value.
 */
function explainUnion(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const matching = issue.errors.find(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  );
  if (matching) return matching.flatMap((inner) => explainUnion({ ...inner, path: [...issue.path, ...inner.path] }));
  if (issue.message === REQUIRED) return [issue];
  const expected = issue.errors.flatMap((issues) =>
    issues.map((inner) => (inner as { expected?: string }).expected ?? ''),
  );
  return [{ ...issue, message: `must be ${expected.map(withArticle).join(' or ')}` }];
}

/** Returns the problem for an issue of zod's own checks. Our own checks set their message themselves. */
export function describeProblem(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return REQUIRED;
      // JSON such as `1e400` is read as an infinite number.
      if (issue.expected === 'number' && typeof issue.input === 'number') {
        return issue.input > 0 ? `must be at most ${Number.MAX_VALUE}` : `must be at least ${-Number.MAX_VALUE}`;
      }
      return `must be ${withArticle(issue.expected === 'int' ? 'integer' : issue.expected)}`;
    case 'invalid_value':
      return issue.input === undefined ? REQUIRED : `must be one of ${issue.values.join(', ')}`;
    case 'invalid_union':
      return issue.input === undefined ? REQUIRED : undefined;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'array' ? `must have at most ${issue.maximum} items` : `must be at most ${issue.maximum}`;
    case 'unrecognized_keys': {
      const allowed = Object.keys((issue.inst as z.ZodObject).shape);
      return allowed.length === 0
        ? 'unknown field, no fields are allowed here'
        : `unknown field, allowed fields: ${allowed.join(', ')}`;
    }
    default:
      return undefined;
  }
}

/** Returns a noun with its indefinite article. */
export function withArticle(noun: string): string {
  return /^[aeiou]/.test(noun) ? `an ${noun}` : `a ${noun}`;
}

/**
 * Returns a name that a client sent, for a message: cut after 100 code points, and quoted if it is blank. The result is
 * well-formed Unicode, so that every JSON parser can read the message.
 */
export function formatName(name: string): string {
  if (name.trim() === '') return `${JSON.stringify(name.slice(0, MAX_UNKNOWN_NAME_LENGTH))} (blank name)`;
  const start = Array.from(name.slice(0, 2 * MAX_UNKNOWN_NAME_LENGTH))
    .slice(0, MAX_UNKNOWN_NAME_LENGTH)
    .join('');
  return (start.length < name.length ? `${start}…` : name).toWellFormed();
}
