import assert from 'node:assert/strict';
import { isbot } from 'isbot';
import { removePort } from '../../adapters/http/client-address.ts';
import { createParsers, parseLinkHost, parseLinkRequest } from '../../adapters/links/link-request.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

/** The size of the largest header or URL that Node.js accepts. */
const MAX_BYTES = 16_384;
const MAX_MS = 10;

const repeat = (text: string): string => text.repeat(Math.floor(MAX_BYTES / text.length));
/** Distinct CJK letters, as UTF-8 in a header. */
const CJK = Array.from({ length: MAX_BYTES / 3 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
const asHeader = (text: string): string => Buffer.from(text).toString('latin1');

/** Long inputs of every part of a request, and the function that reads them. */
const longInputs: readonly (readonly [name: string, read: (text: string) => unknown, texts: readonly string[]])[] = [
  [
    'a host',
    (text) => parseLinkHost(text, 'base.example'),
    [asHeader(CJK), asHeader(CJK.slice(0, 253)), ...['a', '.', '@', ':', ':1', 'xn--', 'a.', '[', '%'].map(repeat)],
  ],
  [
    'a URL',
    (url) => parseLinkRequest({ url, headers: { host: 'a.example' } } as never, (it) => parseLinkHost(it, undefined)),
    ['/', '/a', '?', '%', 'http://', 'http://a@', 'a'].flatMap((text) => [repeat(text), `/${repeat(text)}`]),
  ],
  ['an address', removePort, ['[', ']', '1', '.', ':', '1.', ':1', '[]', '%', '1:'].map(repeat)],
  [
    'a user agent',
    isbot,
    [
      'a',
      ' ',
      '1',
      '.',
      '/1',
      '.1',
      '1/1',
      ';',
      '; a',
      '@a',
      '-',
      '(',
      'http',
      'cu bot',
      'Mozilla/5.0 ',
      'a/1.0',
    ].flatMap((text) => [repeat(text), `Mozilla/5.0 ${repeat(text)}`]),
  ],
];

function measure(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

suite('the parsers of requests for short links', {
  'read the longest possible input in linear time': () =>
    each(
      longInputs.flatMap(([name, read, texts]) =>
        texts.map((text) => [`${name} ${text.slice(0, 20)}`, { read, text }] as const),
      ),
      ({ read, text }) => {
        // The fastest of several measurements, because the machine may be busy.
        const fastest = Math.min(...Array.from({ length: 10 }, () => measure(() => read(text))));
        assert.ok(fastest < MAX_MS, `${fastest} ms`);
      },
    ),

  'convert the host of a stored URL only once': () => {
    const { parseUrl } = createParsers(undefined);
    const url = `https://${CJK.slice(0, 2_000)}/`;
    assert.equal(parseUrl(url), parseUrl(url));
  },

  'accept a host name of up to 253 characters': () => {
    const [label, other] = ['ä'.repeat(40), 'a'.repeat(62)];
    assert.match(parseLinkHost(asHeader(`${label}.${label}.example`), undefined).slug ?? '', /^xn--.*\.example$/);
    const longest = `${other}.${other}.${other}.${other}a.`;
    assert.equal(parseLinkHost(longest, undefined).name.length, 252);
    assert.deepEqual(parseLinkHost(`${other}a${longest}`, ''), { name: '', slug: undefined, isBase: false });
  },
});
