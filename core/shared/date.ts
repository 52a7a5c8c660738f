/** A date, or a date-time. The groups are the time with its zone, and the zone. */
const DATE_PATTERN =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$/;

export const DAY_MS = 24 * 60 * 60_000;

/**
 * Parses a start date. Returns milliseconds since the epoch, or `undefined` if the date is invalid. `YYYY-MM-DD` means
 * 00:00:00.000 UTC of that day. An ISO 8601 date-time can have `Z`, an offset, or neither, which means UTC.
 */
export function parseStartDate(value: string): number | undefined {
  return parseDate(value, 'T00:00:00.000Z');
}

/** Parses an end date as `parseStartDate` parses a start date, but `YYYY-MM-DD` means 23:59:59.999 UTC of that day. */
export function parseEndDate(value: string): number | undefined {
  return parseDate(value, 'T23:59:59.999Z');
}

/** Formats milliseconds since the epoch as a timestamp of the API: `2026-01-31T09:30:00.000Z`. */
export function formatTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function parseDate(value: string, defaultTime: string): number | undefined {
  const match = DATE_PATTERN.exec(value);
  if (!match || !isDay(value.slice(0, 10))) return undefined;
  const [, time, zone] = match;
  return Date.parse(time === undefined ? value + defaultTime : zone === undefined ? `${value}Z` : value);
}

/** Returns whether the month has the day, in the years 1 to 9999. `Date` reads 30 February as 2 March. */
function isDay(date: string): boolean {
  return date >= '0001' && new Date(date).getUTCDate() === Number(date.slice(8));
}
