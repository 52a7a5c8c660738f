/** Inclusive bounds of the length of a trimmed text, in Unicode code points. */
export interface LengthRange {
  readonly min?: number;
  readonly max: number;
}

const NUL = '\0';

/** Returns the problem of a trimmed text, or `undefined`. */
export function findTextProblem(text: string, { min = 0, max }: LengthRange): string | undefined {
  if (text.includes(NUL)) return 'must not contain a NUL character';
  if (/\p{Surrogate}/u.test(text)) return 'must be well-formed Unicode, without lone surrogates';
  // `length` counts UTF-16 code units, at most two for each code point. So a text with 2 * min to max units is within
  // the bounds.
  if (text.length >= 2 * min && text.length <= max) return undefined;
  const length = countCodePoints(text);
  if (length < min) return min === 1 ? 'must not be blank' : `must have at least ${min} characters`;
  if (length > max) return `must have at most ${max} characters`;
  return undefined;
}

function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/**
 * Returns the form of a text for case-insensitive comparisons: NFC, each code point lower-cased separately, and ς
 * replaced by σ.
 */
export function fold(text: string): string {
  // Lower-casing a whole string differs from lower-casing its code points only in the final sigma, which is replaced
  // anyway.
  return text.normalize('NFC').toLowerCase().replaceAll('ς', 'σ');
}

/** Returns a message without its final period, if it has one. So it can be a part of a sentence. */
export function removeFinalPeriod(message: string): string {
  return message.replace(/\.$/, '');
}
