import assert from 'node:assert/strict';
import fc from 'fast-check';
import { compareCodePoints, fold, searchText, textProblem } from '../../core/shared/text.ts';
import { suite } from '../support/suite.ts';

/** Any code point but a surrogate, more often one of the beginning. (fast-check's own `binary` takes half a second to make.) */
const character = fc
  .oneof(...[0x7f, 0x2fff, 0xd7ff].map((max) => fc.nat({ max })), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
const anyText = fc.string({ unit: character });

/** Short texts of few characters, so that equal beginnings and equal texts are common. */
const text = fc.string({
  unit: fc.constantFrom('a', 'Z', 'é', '\u{D7FF}', '\u{E000}', '\u{FFFD}', '\u{FFFF}', '\u{10000}', '😀', '\u{10FFFF}'),
  maxLength: 4,
});

suite('a text', {
  'is held against its bounds in code points': () => {
    const cases = [
      ['', { max: 3 }, undefined],
      ['', { min: 1, max: 3 }, 'must not be blank'],
      ['a', { min: 1, max: 3 }, undefined],
      ['ab', { min: 3, max: 3 }, 'must have at least 3 characters'],
      ['abc', { min: 3, max: 3 }, undefined],
      ['abcd', { max: 3 }, 'must have at most 3 characters'],
      ['😀😀😀', { min: 3, max: 3 }, undefined],
      ['😀😀', { min: 3, max: 3 }, 'must have at least 3 characters'],
      ['😀😀😀😀', { max: 3 }, 'must have at most 3 characters'],
      ['e\u0301e\u0301', { max: 3 }, 'must have at most 3 characters'],
    ] as const;
    for (const [value, rule, problem] of cases) assert.equal(textProblem(value, rule), problem, JSON.stringify(value));
  },

  'has neither a NUL character nor a lone surrogate, wherever it stands': () => {
    const nul = 'must not contain a NUL character';
    const surrogate = 'must be well-formed Unicode, without lone surrogates';
    const cases = [
      ['\0', nul],
      ['a\0b', nul],
      ['ab\0', nul],
      ['\ud83d', surrogate],
      ['\ude00', surrogate],
      ['a\ud83db', surrogate],
      ['\ude00\ud83d', surrogate],
      ['😀\ud83d', surrogate],
      ['\u0001\ufffe\uffff\u{10ffff}', undefined],
    ] as const;
    for (const [value, problem] of cases) assert.equal(textProblem(value, { max: 9 }), problem, JSON.stringify(value));
  },
});

suite('a folded text', {
  'is in NFC, each code point lower-cased by itself, and ς is σ': () => {
    const cases = [
      ['ABC xyz', 'abc xyz'],
      ['ΟΔΟΣ', 'οδοσ'],
      ['οδος', 'οδοσ'],
      ['Σ σ ς', 'σ σ σ'],
      ['E\u0301', 'é'],
      ['É', 'é'],
      ['\u212B', 'å'],
      ['İ', 'i\u0307'],
      ['I', 'i'],
      ['ı', 'ı'],
      ['ẞ', 'ß'],
      ['STRASSE', 'strasse'],
      ['Straße', 'straße'],
      ['Ǆ ǅ', 'ǆ ǆ'],
      ['ﬁ', 'ﬁ'],
      ['Ⅷ Ⓐ Ａ', 'ⅷ ⓐ ａ'],
      ['𐐀 𞤀', '𐐨 𞤢'],
    ] as const;
    for (const [value, folded] of cases) assert.equal(fold(value), folded, value);
  },

  'is what lower-casing the code points one by one gives, whatever stands around them': () => {
    const rare = fc.constantFrom('Σ', 'ς', 'σ', 'İ', 'ẞ', '\u0307', '\u0345', "'", ' ', 'A', 'ǰ');
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: rare })), (value) => {
        const lowered = [...value.normalize('NFC')].map((character) => character.toLowerCase());
        assert.equal(fold(value), lowered.join('').replaceAll('ς', 'σ'));
      }),
    );
  },

  'keeps diacritics apart': () => {
    assert.notEqual(fold('resume'), fold('résumé'));
  },

  'stays as it is when folded again, where lower-casing leaves it in NFC (the decisions do not normalise twice)':
    () => {
      const isStable = (value: string) => fold(value).normalize('NFC') === fold(value);
      fc.assert(fc.property(anyText.filter(isStable), (value) => assert.equal(fold(fold(value)), fold(value))));
      assert.equal(isStable('J\u030C'), false);
      assert.equal(fold('J\u030C'), 'j\u030C');
    },
});

suite('a search text', {
  'has every part in it, folded': () => {
    fc.assert(
      fc.property(anyText, anyText, (name, description) => {
        const searched = searchText(name, description);
        assert.ok(searched.startsWith(fold(name)) && searched.endsWith(fold(description)));
      }),
    );
  },

  'has no term in it that begins in one part and ends in the next': () => {
    assert.equal(searchText('Spring', 'Sale').includes('springsale'), false);
    assert.equal(searchText('Spring', 'Sale').includes('spring sale'), false);
  },
});

suite('the order of texts', {
  'is that of their code points': () => {
    const ascending = [
      '',
      'A',
      'a',
      'aa',
      'b',
      'é',
      '\uE000',
      'ｚ',
      '\uFFFD',
      '\uFFFF',
      '\u{10000}',
      '😀',
      '\u{10FFFF}',
    ];
    assert.deepEqual([...ascending].reverse().sort(compareCodePoints), ascending);
  },

  'is that of their UTF-8 bytes, so it is total': () => {
    const sign = (a: string, b: string) => Math.sign(compareCodePoints(a, b));
    fc.assert(
      fc.property(fc.oneof(text, anyText), fc.oneof(text, anyText), (a, b) => {
        assert.equal(sign(a, b), Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
    fc.assert(
      fc.property(text, text, text, (a, b, c) => {
        assert.equal(sign(a, b), 0 - sign(b, a));
        assert.equal(sign(a, b) === 0, a === b);
        if (sign(a, b) <= 0 && sign(b, c) <= 0) assert.ok(sign(a, c) <= 0);
      }),
    );
  },
});
