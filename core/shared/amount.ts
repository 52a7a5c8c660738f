const AMOUNT = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,4})?$/;
const WHOLE = /^(?:0|[1-9]\d{0,15})$/;

/**
 * An amount as it is kept: a decimal string, not negative, with at most 12 digits before the point and 4 after. A
 * number means its shortest decimal form. `undefined` for anything else.
 */
export function amount(value: number | string): string | undefined {
  const text = String(value);
  return AMOUNT.test(text) ? text : undefined;
}

/** A whole number from 0 to 2^53 − 1, given as a number or as its digits; `undefined` for anything else. */
export function wholeNumber(value: number | string): number | undefined {
  const text = String(value);
  return WHOLE.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER ? Number(text) : undefined;
}
