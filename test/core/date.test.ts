import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatTimestamp, parseEndDate, parseStartDate } from '../../core/shared/date.ts';
import { suite } from '../support/suite.ts';

const MINUTE_MS = 60_000;

/** Date-times as they are sent, and the same times in UTC. */
const dateTimes = [
  ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30:00', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30Z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30+02:00', '2026-01-31T07:30:00.000Z'],
  ['2026-01-31T09:30:15-02:30', '2026-01-31T12:00:15.000Z'],
  ['2026-01-31T00:00:00+00:00', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T00:00:00-00:00', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T00:00:00+23:59', '2026-01-30T00:01:00.000Z'],
  ['2026-01-31T00:00:00-23:59', '2026-01-31T23:59:00.000Z'],
  ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59.000Z'],
  ['2026-01-31T09:30:00.1Z', '2026-01-31T09:30:00.100Z'],
  ['2026-01-31T09:30:00.12', '2026-01-31T09:30:00.120Z'],
  ['2026-01-31T09:30:00.123+01:00', '2026-01-31T08:30:00.123Z'],
  ['2026-01-31T09:30:00.1239Z', '2026-01-31T09:30:00.123Z'],
  ['2026-01-31T09:30:00.0009Z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T09:30:00.000000001Z', '2026-01-31T09:30:00.000Z'],
  ['2026-01-31T23:59:59.999999999Z', '2026-01-31T23:59:59.999Z'],
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0001-01-01T00:00:00+01:00', '0000-12-31T23:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['9999-12-31T23:59:59.999-23:59', '+010000-01-01T23:58:59.999Z'],
] as const;

const days = [
  '2026-01-31',
  '2026-12-31',
  '2024-02-29',
  '2000-02-29',
  '2026-02-28',
  '0001-01-01',
  '9999-12-31',
  '0004-02-29',
];

const invalidDates = [
  ...['2026-02-30', '2026-02-29', '2026-04-31', '2026-01-32', '2026-01-00', '2026-00-01', '2026-13-01', '0000-01-01'],
  ...['1900-02-29', '2100-02-29', '0000-02-29', '10000-01-01', '+010000-01-01', '-0001-01-01', '999-01-01'],
  ...['', '2026', '2026-01', '26-01-31', '2026-1-31', '2026-01-3', '20260131', '2026-W05-6', '2026-031', '2026/01/31'],
  ...[' 2026-01-31', '2026-01-31 ', '2026-01-31\n', '２０２６-01-31', 'today', '0', '1769850600000', '31 Jan 2026'],
  ...['2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', '0000-12-31T23:59:59Z', '0000-12-31T23:59:59-01:00'],
  ...['2026-01-31T24:00', '2026-01-31T24:00:00Z', '2026-01-31T09:60Z', '2026-01-31T23:59:60Z', '2016-12-31T23:59:60Z'],
  ...['2026-01-31t09:30:00Z', '2026-01-31T09:30:00z', '2026-01-31 09:30:00Z', '2026-01-31_09:30:00Z'],
  ...['2026-01-31T', '2026-01-31T09', '2026-01-31T09Z', '2026-01-31T9:30Z', '2026-01-31T09:3Z', '2026-01-31T0930Z'],
  ...['2026-01-31T09:30.5Z', '2026-01-31T09:30:00.Z', '2026-01-31T09:30:00,5Z', '2026-01-31T09:30:0Z'],
  ...['2026-01-31T09:30:00.1234567890Z', '2026-01-31T09:30:00.-1Z', '2026-01-31T-9:30:00Z'],
  ...['2026-01-31T09:30:00+24:00', '2026-01-31T09:30:00-24:00', '2026-01-31T09:30:00+01:60', '2026-01-31T09:30+1:00'],
  ...['2026-01-31T09:30:00+0100', '2026-01-31T09:30:00+01', '2026-01-31T09:30:00Z+01:00', '2026-01-31T09:30:00ZZ'],
  ...['2026-01-31T09:30:00\u221201:00', '2026-01-31T09:30:00 Z', '2026-01-31T09:30:00Z ', ' 2026-01-31T09:30:00Z'],
  ...[
    '2026-01-31T09:30:00Z\n',
    '2026-01-31T09:30:00UTC',
    '2026-01-31T09:30:00[UTC]',
    '2026-01-31Z',
    '2026-01-31+01:00',
  ],
];

/** A time in the years 0001 to 9999, even if it is formatted with an offset. */
const time = fc.integer({ min: Date.parse('0001-01-02'), max: Date.parse('9999-12-30') });
const offsetMinutes = fc.integer({ min: -(23 * 60 + 59), max: 23 * 60 + 59 });

function formatWithOffset(milliseconds: number, minutes: number): string {
  const pad = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const offset = `${minutes < 0 ? '-' : '+'}${pad(minutes / 60)}:${pad(minutes % 60)}`;
  return formatTimestamp(milliseconds + minutes * MINUTE_MS).replace('Z', offset);
}

suite('a date', {
  'can be a date-time, which starts and ends at the same time': () => {
    for (const [value, utc] of dateTimes) {
      assert.deepEqual(parseStartDate(value), { text: value, time: Date.parse(utc) });
      assert.deepEqual(parseEndDate(value), { text: value, time: Date.parse(utc) });
    }
  },

  'without a time starts at 00:00:00.000 UTC and ends at 23:59:59.999 UTC of its day': () => {
    for (const day of days) {
      assert.equal(parseStartDate(day)?.time, Date.parse(`${day}T00:00:00.000Z`), day);
      assert.equal(parseEndDate(day)?.time, Date.parse(`${day}T23:59:59.999Z`), day);
    }
  },

  'is invalid if it does not exist, or if its format is not that of a day or a date-time': () => {
    for (const value of invalidDates) {
      assert.equal(parseStartDate(value), undefined, value);
      assert.equal(parseEndDate(value), undefined, value);
    }
  },

  'is valid for every day of a month, and invalid for the day after the last day': () => {
    for (const year of ['1900', '2000', '2023', '2024', '2100', '2400']) {
      for (let month = 1; month <= 12; month++) {
        const dayCount = new Date(Date.UTC(Number(year), month, 0)).getUTCDate();
        const format = (day: number) => `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
        for (let day = 1; day <= dayCount; day++)
          assert.equal(parseStartDate(format(day))?.time, Date.parse(format(day)), format(day));
        assert.equal(parseStartDate(format(dayCount + 1)), undefined, format(dayCount + 1));
      }
    }
  },

  'with any offset from UTC is parsed to the time from which it was formatted': () => {
    fc.assert(
      fc.property(time, offsetMinutes, (milliseconds, minutes) => {
        assert.equal(parseStartDate(formatWithOffset(milliseconds, minutes))?.time, milliseconds);
        assert.equal(parseEndDate(formatWithOffset(milliseconds, minutes))?.time, milliseconds);
      }),
    );
  },

  'is truncated to the millisecond, never rounded': () => {
    fc.assert(
      fc.property(time, fc.stringMatching(/^\d{1,6}$/), (milliseconds, digits) => {
        assert.equal(parseStartDate(formatTimestamp(milliseconds).replace('Z', `${digits}Z`))?.time, milliseconds);
      }),
    );
  },
});

suite('a timestamp', {
  'is in UTC, with milliseconds': () => {
    assert.equal(formatTimestamp(Date.UTC(2026, 0, 31, 9, 30)), '2026-01-31T09:30:00.000Z');
    assert.equal(formatTimestamp(0), '1970-01-01T00:00:00.000Z');
  },

  'is at most the end of the year 9999, also for an end date with an offset': () => {
    const { time = 0 } = parseEndDate('9999-12-31T23:59:59-23:59') ?? {};
    assert.equal(formatTimestamp(time), '9999-12-31T23:59:59.999Z');
  },
});
