import assert from 'node:assert/strict';
import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { normalizeSlug } from '../../core/domain/domain.ts';
import { suite } from '../support/suite.ts';

const createLabel = (length: number) => 'a'.repeat(length);
// A slug has at most 190 characters.
const slugOf190 = [createLabel(63), createLabel(63), createLabel(62)].join('.');
const slugOf191 = [createLabel(63), createLabel(63), createLabel(63)].join('.');

/** Domain names as they are sent, and their slugs. */
const validNames = [
  ['example.com', 'example.com'],
  ['links.example.com', 'links.example.com'],
  ['a.b', 'a.b'],
  ['EXAMPLE.Com', 'example.com'],
  ['  example.com\t\n', 'example.com'],
  ['example.com.', 'example.com'],
  ['example.com。', 'example.com'],
  ['EXAMPLE.com. ', 'example.com'],
  ['1.example.com', '1.example.com'],
  ['1.2.3.4.com', '1.2.3.4.com'],
  ['0x7f.example', '0x7f.example'],
  ['example.c0m', 'example.c0m'],
  ['example.1a', 'example.1a'],
  ['my-links.example-site.com', 'my-links.example-site.com'],
  ['a--b.com', 'a--b.com'],
  ['ab--c.com', 'ab--c.com'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['MÜNCHEN.de', 'xn--mnchen-3ya.de'],
  ['mu\u0308nchen.de', 'xn--mnchen-3ya.de'],
  ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
  ['XN--MNCHEN-3YA.DE', 'xn--mnchen-3ya.de'],
  ['straße.de', 'xn--strae-oqa.de'],
  ['STRAẞE.de', 'xn--strae-oqa.de'],
  ['ΒΟΛΟΣ.gr', 'xn--nxaslbu.gr'],
  ['ΒΟΛΟΣ。gr', 'xn--nxaslbu.gr'],
  ['βολοσ.gr', 'xn--nxaslbu.gr'],
  ['βολος.gr', 'xn--nxaslbp.gr'],
  ['ΣΑΣ.ΣΑΣ', 'xn--mxa9ab.xn--mxa9ab'],
  ['例え.テスト', 'xn--r8jz45g.xn--zckzah'],
  ['ｅｘａｍｐｌｅ．ｃｏｍ', 'example.com'],
  ['example。com', 'example.com'],
  ['☃.net', 'xn--n3h.net'],
  ['wwww.example.com', 'wwww.example.com'],
  ['www2.example.com', 'www2.example.com'],
  ['links.www.example.com', 'links.www.example.com'],
  ['www-1.com', 'www-1.com'],
  [`${createLabel(63)}.com`, `${createLabel(63)}.com`],
  [slugOf190, slugOf190],
  [`${slugOf190}.`, slugOf190],
] as const;

/** Texts that are not accepted as domain names, by the reason. */
const invalidNames = {
  'fewer than two labels': ['', ' ', '.', '..', 'localhost', 'com', 'com.', '.com', 'ｃｏｍ', 'a..b', 'a.b..', '.a.b'],
  'a scheme, a port, a path or a user': [
    ...['http://example.com', 'https://example.com', '//example.com', 'example.com/', 'example.com/a', 'a/b.com'],
    ...['example.com:80', 'example.com:', ':80', 'example.com?a=b', 'example.com#a', 'user@example.com'],
    ...['user:password@example.com', 'a\\b.com', 'example.com\\', 'example．com／a', 'example.com：80'],
    ...['user＠example.com'],
  ],
  'an IP address, in any notation': [
    ...[
      '1.2.3.4',
      '1.2.3.4.',
      '127.1',
      '1.2.3',
      '0x7f.1',
      '0x7f.0x0.0x0.0x1',
      '017.0.0.1',
      '１.２.３.４',
      '1。2。3。4',
    ],
    ...['2130706433', '[::1]', '::1', '[::ffff:1.2.3.4]', 'fe80::1', '1.2.3.4/8', '1.2.3.4:80', '256.256.256.256'],
  ],
  'a last label of digits': ['example.1', 'example.123', 'example.１２', 'a.b.0', 'example.1.'],
  'a leading www.': ['www.example.com', 'WWW.example.com', 'ｗｗｗ.example.com', 'www.com', 'www。example.com'],
  'a hyphen at an end of a label': ['-a.com', 'a-.com', 'a.-b.com', 'a.b-.com', 'a.b-', 'a.-', '-.com', 'xn--a-.com'],
  'a character that is not allowed': [
    ...['a_b.com', '_dmarc.example.com', 'a b.com', 'a\tb.com', 'a\u3000b.com', 'a%2eb.com', '%61.com', 'a％2eb.com'],
    ...['*.example.com', 'a,b.com', 'a;b.com', 'a!.com', 'a$.com', 'a&b.com', "a'b.com", '(a).com', 'a+b.com'],
    ...['a=b.com'],
    ...['<a>.com', 'a|b.com', 'a^b.com', 'a`b.com', '{a}.com', 'a~b.com', 'a"b.com', 'a\0b.com', 'a\x7fb.com'],
    ...['a\ud800.com', '\ufffd.com', 'a.\u0301b.com', 'a\u200db.com', '\u200d.com', 'a\u2024com'],
  ],
  'invalid IDNA': ['xn--.com', 'xn--a.com', 'xn--abc.com', 'xn--ÿ.com'],
  'a label or a name that is too long': [
    ...[`${createLabel(64)}.com`, `a.${createLabel(64)}`, `${createLabel(62)}ü.com`, slugOf191, `${slugOf191}.`],
    ...[`${'a.'.repeat(600)}com`, `${'ü'.repeat(63)}.com`],
  ],
} as const;

/** Valid domain names: letters of many scripts, some of them with several spellings. */
const name = fc
  .array(fc.string({ unit: fc.constantFrom(...'abkzABKZüÜßñéσςΣｋＫжЖあ東'), minLength: 1, maxLength: 8 }), {
    minLength: 2,
    maxLength: 4,
  })
  .map((labels) => labels.join('.'));

suite('a slug', {
  'is trimmed, lower-cased and converted to ASCII, without its trailing dot': () => {
    for (const [text, slug] of validNames) assert.equal(normalizeSlug(text, domainToASCII), slug, text);
  },

  'is invalid if it is not a domain name, is an IP address or begins with www.': () => {
    for (const [reason, texts] of Object.entries(invalidNames)) {
      for (const text of texts) assert.equal(normalizeSlug(text, domainToASCII), undefined, `${reason}: ${text}`);
    }
  },

  'is the same for every spelling of a domain name': () => {
    fc.assert(
      fc.property(name, (text) => {
        const slug = normalizeSlug(text, domainToASCII);
        for (const spelling of [
          ` ${text} `,
          `${text}.`,
          Array.from(text, (letter) => letter.toLowerCase()).join(''),
          text.normalize('NFD'),
          text.replaceAll('.', '。'),
        ]) {
          assert.equal(normalizeSlug(spelling, domainToASCII), slug, spelling);
        }
      }),
    );
  },

  'of any text is invalid, or does not change if it is normalized again': () => {
    const unit = fc.constantFrom(...'ab1-._:/@%?#[]\\ ．。üＷwXxn\u00ad\0');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (text) => {
        const slug = normalizeSlug(text, domainToASCII);
        if (slug !== undefined) assert.equal(normalizeSlug(slug, domainToASCII), slug);
      }),
      { numRuns: 1000 },
    );
  },
});
