import assert from 'node:assert/strict';
import fc from 'fast-check';
import { buildSearchText } from '../../adapters/persistence/search-text.ts';
import { findTextProblem, fold, removeFinalPeriod } from '../../core/shared/text.ts';
import { suite } from '../support/suite.ts';

/**
 * Any code point except surrogates, with a preference for low code points. The unit `binary` of fast-check would be
 * simpler, but takes half a second to create.
 */
const character = fc
  .oneof(...[0x7f, 0x2fff, 0xd7ff].map((max) => fc.nat({ max })), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
const anyText = fc.string({ unit: character });

suite('a message', {
  'loses only its final period if it becomes a part of a longer sentence': () => {
    const cases = { 'It failed.': 'It failed', 'It failed': 'It failed', 'a.b. c..': 'a.b. c.', '': '' };
    for (const [message, part] of Object.entries(cases)) assert.equal(removeFinalPeriod(message), part);
  },
});

suite('a text', {
  'has a length that is counted in code points': () => {
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
    for (const [value, rule, problem] of cases)
      assert.equal(findTextProblem(value, rule), problem, JSON.stringify(value));
  },

  'must not contain a NUL character or a lone surrogate at any position': () => {
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
    for (const [value, problem] of cases)
      assert.equal(findTextProblem(value, { max: 9 }), problem, JSON.stringify(value));
  },
});

suite('a folded text', {
  'is normalized to NFC, then lower-cased by code point, with ς replaced by σ': () => {
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

  'has each code point of the NFC text lower-cased on its own, whatever its neighbors are': () => {
    const rare = fc.constantFrom('Σ', 'ς', 'σ', 'İ', 'ẞ', '\u0307', '\u0345', "'", ' ', 'A', 'ǰ');
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: rare })), (value) => {
        const lowerCased = [...value.normalize('NFC')].map((character) => character.toLowerCase());
        assert.equal(fold(value), lowerCased.join('').replaceAll('ς', 'σ'));
      }),
    );
  },

  'does not change if it is folded again, unless lower-casing has produced a text that is not in NFC': () => {
    const isStable = (value: string) => fold(value).normalize('NFC') === fold(value);
    fc.assert(fc.property(anyText.filter(isStable), (value) => assert.equal(fold(fold(value)), fold(value))));
    assert.equal(isStable('J\u030C'), false);
    assert.equal(fold('J\u030C'), 'j\u030C');
  },
});

suite('a search text', {
  'contains the folded text of each of its parts': () => {
    fc.assert(
      fc.property(anyText, anyText, (name, description) => {
        const result = buildSearchText(name, description);
        assert.ok(result.startsWith(fold(name)) && result.endsWith(fold(description)));
      }),
    );
  },

  'does not match a term that extends over two of its parts': () => {
    assert.equal(buildSearchText('Spring', 'Sale').includes('springsale'), false);
    assert.equal(buildSearchText('Spring', 'Sale').includes('spring sale'), false);
  },
});
