const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|([+-])(\d{2}):(\d{2}))?$/;

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * The moment at which a start date begins, in milliseconds since the epoch: `YYYY-MM-DD` at 00:00:00.000 UTC, or an
 * ISO 8601 date-time with `Z`, an offset or neither (then UTC). `undefined` for anything else.
 */
export function startOf(value: string): number | undefined {
  return DATE.test(value) ? dayStart(value) : momentOf(value);
}

/** As `startOf`, for an end date: `YYYY-MM-DD` ends at 23:59:59.999 UTC of its day. */
export function endOf(value: string): number | undefined {
  if (!DATE.test(value)) return momentOf(value);
  const start = dayStart(value);
  return start === undefined ? undefined : start + DAY - 1;
}

/** Writes a moment as the timestamps of the API are written: `2026-01-31T09:30:00.000Z`. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function dayStart(date: string): number | undefined {
  const [, year, month, day] = (DATE.exec(date) ?? []).map(Number) as [number, number, number, number];
  if (!(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month))) return undefined;
  return Date.parse(`${date}T00:00:00.000Z`);
}

function momentOf(value: string): number | undefined {
  const day = value[10] === 'T' ? dayStart(value.slice(0, 10)) : undefined;
  const time = TIME.exec(value.slice(11));
  if (day === undefined || time === null) return undefined;
  const [, hour, minute, second = '0', fraction = '', zone = 'Z', sign, offsetHour = '0', offsetMinute = '0'] = time;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = zone === 'Z' ? 0 : (sign === '-' ? -1 : 1) * (Number(offsetHour) * 60 + Number(offsetMinute));
  const milliseconds = Number(second) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
  return day + (Number(hour) * 60 + Number(minute) - offset) * MINUTE + milliseconds;
}

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number;
}
