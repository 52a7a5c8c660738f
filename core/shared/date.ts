const DATE_PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME_PATTERN = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|([+-])(\d{2}):(\d{2}))?$/;

const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/**
 * Parses a start date. Returns milliseconds since the epoch, or `undefined` if the date is invalid. `YYYY-MM-DD` means
 * 00:00:00.000 UTC of that day. An ISO 8601 date-time can have `Z`, an offset, or neither, which means UTC.
 */
export function parseStartDate(value: string): number | undefined {
  return DATE_PATTERN.test(value) ? parseDay(value) : parseDateTime(value);
}

/** Parses an end date as `parseStartDate` parses a start date, but `YYYY-MM-DD` means 23:59:59.999 UTC of that day. */
export function parseEndDate(value: string): number | undefined {
  if (!DATE_PATTERN.test(value)) return parseDateTime(value);
  const start = parseDay(value);
  return start === undefined ? undefined : start + DAY_MS - 1;
}

/** Formats milliseconds since the epoch as a timestamp of the API: `2026-01-31T09:30:00.000Z`. */
export function formatTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function parseDay(date: string): number | undefined {
  const [, year, month, day] = (DATE_PATTERN.exec(date) ?? []).map(Number) as [number, number, number, number];
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= getDayCount(year, month))) return undefined;
  return Date.parse(`${date}T00:00:00.000Z`);
}

function parseDateTime(value: string): number | undefined {
  const day = value[10] === 'T' ? parseDay(value.slice(0, 10)) : undefined;
  const time = TIME_PATTERN.exec(value.slice(11));
  if (day === undefined || time === null) return undefined;
  const [, hour, minute, second = '0', fraction = '', zone = 'Z', sign, offsetHour = '0', offsetMinute = '0'] = time;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = zone === 'Z' ? 0 : (sign === '-' ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const milliseconds = Number(second) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
  return day + (Number(hour) * 60 + Number(minute) - offset) * MINUTE_MS + milliseconds;
}

function getDayCount(year: number, month: number): number {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number;
}
