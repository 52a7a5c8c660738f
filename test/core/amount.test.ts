import assert from 'node:assert/strict';
import fc from 'fast-check';
import { amount, wholeNumber } from '../../core/shared/amount.ts';
import { suite } from '../support/suite.ts';

/** Amounts as they may be sent, and as they are kept. */
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

const noAmounts = [
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

const noWholeNumbers = [
  ...['', ' ', '05', '00', '1.0', '1.5', '1.', '1e1', '1E1', '0x1', '+1', '-1', '-0', ' 1', '1 ', '1\n', '1_0', '１'],
  ...[
    '9007199254740992',
    '9007199254740993',
    '9999999999999999',
    '10000000000000000',
    '99999999999999999999999',
    'NaN',
  ],
  ...[-1, 0.5, 1e-7, 9007199254740992, 1e16, 1e21, 1e300, NaN, Infinity, -Infinity],
];

const digits = fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,11}$/));
const decimals = fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,4}$/));

suite('an amount', {
  'is a decimal string, or a number in its shortest decimal form': () => {
    for (const [value, kept] of amounts) assert.equal(amount(value), kept, `${typeof value} ${value}`);
  },

  'is not negative, has at most 12 digits before the point and 4 after, and no other form': () => {
    for (const value of noAmounts) assert.equal(amount(value), undefined, `${typeof value} ${JSON.stringify(value)}`);
  },

  'as a string is kept exactly, all 16 digits of it': () => {
    fc.assert(fc.property(digits, decimals, (whole, rest) => assert.equal(amount(whole + rest), whole + rest)));
  },

  'as a number of up to 15 digits is kept exactly, in its shortest form': () => {
    const upTo15Digits = fc.tuple(digits, decimals).filter(([whole, rest]) => whole.length + rest.length <= 16);
    fc.assert(
      fc.property(upTo15Digits, ([whole, rest]) => {
        assert.equal(amount(Number(whole + rest)), whole + rest.replace(/\.?0*$/, ''));
      }),
    );
  },
});

suite('a whole number', {
  'is a number without a fraction from 0 to 2^53 − 1, or its digits': () => {
    for (const [value, read] of wholeNumbers) assert.equal(wholeNumber(value), read, `${typeof value} ${value}`);
  },

  'is nothing else': () => {
    for (const value of noWholeNumbers) {
      assert.equal(wholeNumber(value), undefined, `${typeof value} ${JSON.stringify(value)}`);
    }
  },

  'is the same sent as a number and as its digits': () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        assert.equal(wholeNumber(value), value);
        assert.equal(wholeNumber(String(value)), value);
      }),
    );
  },
});
