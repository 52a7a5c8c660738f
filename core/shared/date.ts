/** A date, or a date-time. The capture groups are the time with its zone, and the zone. */
const DATE_PATTERN =
  /^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$/;

export const DAY_MS = 24 * 60 * 60_000;

/** A date or date-time: the text as it was sent, and its time in milliseconds since the epoch. */
export interface ParsedDate {
  readonly text: string;
  readonly time: number;
}

/**
 * Parses a start date. Returns `undefined` if it is invalid. `YYYY-MM-DD` means 00:00:00.000 UTC of that day. An ISO
 * 8601 date-time can have `Z`, an offset, or neither, which means UTC.
 */
export function parseStartDate(value: string): ParsedDate | undefined {
  return parseDate(value, 'T00:00:00.000Z');
}

/** Parses an end date as `parseStartDate` parses a start date, but `YYYY-MM-DD` means 23:59:59.999 UTC of that day. */
export function parseEndDate(value: string): ParsedDate | undefined {
  return parseDate(value, 'T23:59:59.999Z');
}

/** An end date with an offset can be later. A later time would be formatted with a year of six digits. */
const LAST_TIMESTAMP_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** Formats milliseconds since the epoch, or the end of the year 9999, as a timestamp: `2026-01-31T09:30:00.000Z`. */
export function formatTimestamp(milliseconds: number): string {
  return new Date(Math.min(milliseconds, LAST_TIMESTAMP_MS)).toISOString();
}

/** Formats the UTC day of a time: `2026-01-31`. */
export function formatDay(milliseconds: number): string {
  return formatTimestamp(milliseconds).slice(0, 10);
}

function parseDate(text: string, defaultTime: string): ParsedDate | undefined {
  const match = DATE_PATTERN.exec(text);
  if (!match || !isInMonth(text.slice(0, 10))) return undefined;
  const [, time, zone] = match;
  return { text, time: Date.parse(time === undefined ? text + defaultTime : zone === undefined ? `${text}Z` : text) };
}

/** Returns whether a text is a day such as `2026-01-31`, in the years 1 to 9999. */
export function isDay(text: string): boolean {
  return parseStartDate(text)?.text.length === 'YYYY-MM-DD'.length;
}

/** Returns whether the month has the day, in the years 1 to 9999. `Date` reads 30 February as 2 March. */
function isInMonth(date: string): boolean {
  return date >= '0001' && new Date(date).getUTCDate() === Number(date.slice(8));
}
