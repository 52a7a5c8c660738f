import assert from 'node:assert/strict';
import fc from 'fast-check';
import { formatUnits, parseAmount, parseWholeNumber, toUnits } from '../../core/shared/amount.ts';
import { suite } from '../support/suite.ts';

/** Valid amounts as they are sent, and as they are stored. */
const amounts = [
  ['12', '12'],
  ['12.5', '12.5'],
  ['0.0001', '0.0001'],
  ['0', '0'],
  ['0.0', '0.0'],
  ['12.50', '12.50'],
  ['0.1000', '0.1000'],
  ['999999999999', '999999999999'],
  ['123456789012.3456', '123456789012.3456'],
  ['999999999999.9999', '999999999999.9999'],
  [0, '0'],
  [-0, '0'],
  [12, '12'],
  [12.5, '12.5'],
  [0.1, '0.1'],
  [0.0001, '0.0001'],
  [1e3, '1000'],
  [1e-4, '0.0001'],
  [999999999999, '999999999999'],
  [999999999999.999, '999999999999.999'],
] as const;

const invalidAmounts = [
  ...['007', '00', '.5', '5.', '1e3', '1E3', '+1', '-1', '-0', '-0.0', '', ' ', ' 1', '1 ', '1\n', '1 000', '1,5'],
  ...['0x1', '1_000', '1.5.1', '٣', '１', 'NaN', 'Infinity', '1n', '$1', '1.00001', '0.00001', '1000000000000'],
  ...['1000000000000.1', '9007199254740991'],
  ...[-1, -0.0001, 0.00001, 1e-7, 1.00001, 1e12, 1e21, 1e300, 0.1 + 0.2, NaN, Infinity, -Infinity],
];

const wholeNumbers = [
  ['0', 0],
  ['1', 1],
  ['500', 500],
  ['9007199254740991', 9007199254740991],
  [0, 0],
  [-0, 0],
  [1, 1],
  [5.0, 5],
  [1e15, 1e15],
  [9007199254740991, 9007199254740991],
] as const;

const invalidWholeNumbers = [
  ...['', ' ', '05', '00', '1.0', '1.5', '1.', '1e1', '1E1', '0x1', '+1', '-1', '-0', ' 1', '1 ', '1\n', '1_0', '１'],
  ...['9007199254740992', '9007199254740993', '9999999999999999', '10000000000000000', '99999999999999999999999'],
  ...['NaN'],
  ...[-1, 0.5, 1e-7, 9007199254740992, 1e16, 1e21, 1e300, NaN, Infinity, -Infinity],
];

const digits = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,11}$/));
const decimals = fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,4}$/));

suite('an amount', {
  'is stored as it was sent if it is a string, and in the shortest decimal form if it is a number': () => {
    for (const [value, stored] of amounts) assert.equal(parseAmount(value), stored, `${typeof value} ${value}`);
  },

  'is invalid if it is negative, not decimal, or has more than 12 digits before the point or 4 after it': () => {
    for (const value of invalidAmounts)
      assert.equal(parseAmount(value), undefined, `${typeof value} ${JSON.stringify(value)}`);
  },

  'keeps all its digits, up to 16, if it is sent as a string': () => {
    fc.assert(fc.property(digits, decimals, (whole, rest) => assert.equal(parseAmount(whole + rest), whole + rest)));
  },

  'is exact, and in the shortest form, if it is sent as a number of up to 15 digits': () => {
    // `rest` includes the decimal point.
    const upTo15Digits = fc.tuple(digits, decimals).filter(([whole, rest]) => whole.length + rest.length <= 16);
    fc.assert(
      fc.property(upTo15Digits, ([whole, rest]) => {
        assert.equal(parseAmount(Number(whole + rest)), whole + rest.replace(/\.?0*$/, ''));
      }),
    );
  },
});

suite('the units of an amount', {
  'are exact, and have the shortest decimal form': () => {
    for (const [amount, units, shortest] of [
      ['0', 0n, '0'],
      ['0.0', 0n, '0'],
      ['0.0001', 1n, '0.0001'],
      ['0.1', 1_000n, '0.1'],
      ['12.50', 125_000n, '12.5'],
      ['100', 1_000_000n, '100'],
      ['100.0', 1_000_000n, '100'],
      ['999999999999.9999', 9_999_999_999_999_999n, '999999999999.9999'],
    ] as const) {
      assert.equal(toUnits(amount), units, amount);
      assert.equal(formatUnits(units), shortest, amount);
    }
  },
});

suite('a whole number', {
  'is a number from 0 to 2^53 − 1 without a fraction, or a string of its digits': () => {
    for (const [value, parsed] of wholeNumbers)
      assert.equal(parseWholeNumber(value), parsed, `${typeof value} ${value}`);
  },

  'is invalid if it is negative, has a fraction, exceeds 2^53 − 1, or has leading zeros or other characters': () => {
    for (const value of invalidWholeNumbers) {
      assert.equal(parseWholeNumber(value), undefined, `${typeof value} ${JSON.stringify(value)}`);
    }
  },
});
