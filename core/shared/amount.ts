export const AMOUNT_PATTERN = /^(0|[1-9][0-9]{0,11})(\.[0-9]{1,4})?$/;
export const WHOLE_NUMBER_PATTERN = /^(0|[1-9][0-9]{0,15})$/;

/**
 * Returns an amount as a decimal string, or `undefined` if it is invalid. An amount is not negative, and has at most 12
 * digits before the decimal point and 4 after it. A number is converted to its shortest decimal form.
 */
export function parseAmount(value: number | string): string | undefined {
  const text = String(value);
  return AMOUNT_PATTERN.test(text) ? text : undefined;
}

/**
 * Returns the whole number (0 to 2^53 − 1) that is given as a number or as its digits. Returns `undefined` if the value
 * is invalid.
 */
export function parseWholeNumber(value: number | string): number | undefined {
  const text = String(value);
  return WHOLE_NUMBER_PATTERN.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER ? Number(text) : undefined;
}
