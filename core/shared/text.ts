/** Bounds of a text in Unicode code points, after it was trimmed. */
export interface TextRule {
  readonly min?: number;
  readonly max: number;
}

export const DESCRIPTION: TextRule = { max: 5000 };
export const URL_TEXT: TextRule = { max: 2048 };
export const SEARCH_TERM: TextRule = { max: 200 };

/** No text may contain it, so it can stand between the parts of a search text. */
const NUL = '\0';

/** Says what is wrong with a trimmed text, or nothing. */
export function textProblem(text: string, { min = 0, max }: TextRule): string | undefined {
  if (text.includes(NUL)) return 'must not contain a NUL character';
  if (/\p{Surrogate}/u.test(text)) return 'must be well-formed Unicode, without lone surrogates';
  // A code point has one or two UTF-16 units: most texts need no counting.
  if (text.length >= 2 * min && text.length <= max) return undefined;
  const length = codePoints(text);
  if (length < min) return min === 1 ? 'must not be blank' : `must have at least ${min} characters`;
  if (length > max) return `must have at most ${max} characters`;
  return undefined;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/**
 * The form in which texts are compared "whatever the case": NFC, each code point lower-cased by itself, ς read as σ.
 * (Lower-casing a whole string differs from lower-casing its code points in the final sigma alone.)
 */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

/** The folded text in which a folded search term is looked for; a term cannot match across two parts. */
export function searchText(...parts: readonly string[]): string {
  return parts.map(fold).join(NUL);
}

/** Orders strings by Unicode code point, as a database that compares UTF-8 does (JavaScript compares UTF-16 units). */
export function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0;
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;
