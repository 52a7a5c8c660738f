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

const UNITS_PER_ONE = 10_000n;

/** Returns an amount in units of 0.0001. A binary fraction could not hold all 16 digits of an amount. */
export function toUnits(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.padEnd(4, '0'));
}

/** Returns the sum of an amount and units, as `formatUnits` does. */
export function addUnits(amount: string, units: bigint): string {
  return formatUnits(toUnits(amount) + units);
}

/** Returns the shortest decimal string of an amount in units of 0.0001, such as `12.5` or `0`. */
export function formatUnits(units: bigint): string {
  const fraction = String(units % UNITS_PER_ONE)
    .padStart(4, '0')
    .replace(/0+$/, '');
  return `${units / UNITS_PER_ONE}${fraction && `.${fraction}`}`;
}
