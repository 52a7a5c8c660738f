import assert from 'node:assert/strict';
import { encodeUrl } from '../../adapters/api/url.ts';
import { suite } from '../support/suite.ts';

/** URLs, and their encoded form. */
const encodedUrls = [
  ['https://example.com', 'https://example.com'],
  ['HTTPS://EXAMPLE.COM:443/a/../b', 'HTTPS://EXAMPLE.COM:443/a/../b'],
  ["https://example.com/-._~!$&'()*+,;=:@?a=/?#a=/?", "https://example.com/-._~!$&'()*+,;=:@?a=/?#a=/?"],
  ['https://example.com/%41%c3%A9?%41#%41', 'https://example.com/%41%c3%A9?%41#%41'],
  ['https://example.com/%?%4#%zz', 'https://example.com/%25?%254#%25zz'],
  ['https://example.com/%%41%2541%25zz', 'https://example.com/%25%41%2541%25zz'],
  ['https://example.com/|{}"<>^`\\[] a', 'https://example.com/%7C%7B%7D%22%3C%3E%5E%60%5C%5B%5D%20a'],
  ['https://example.com?|{}"<>^`\\[]', 'https://example.com?%7C%7B%7D%22%3C%3E%5E%60%5C%5B%5D'],
  ['https://example.com/#|{}"<>^`\\[]#a', 'https://example.com/#%7C%7B%7D%22%3C%3E%5E%60%5C%5B%5D%23a'],
  ['https://bücher.example/ü?ü=😀#ü', 'https://xn--bcher-kva.example/%C3%BC?%C3%BC=%F0%9F%98%80#%C3%BC'],
  ['https://b%C3%BCcher.example:8080/', 'https://xn--bcher-kva.example:8080/'],
  ['https://[::1]:8080/[', 'https://[::1]:8080/%5B'],
  ['https://exa{mple.com/', 'https://exa%7Bmple.com/'],
  ['https://example.com\\@evil.example/', 'https://example.com/%5C@evil.example/'],
  ['https://example.com/\ud800', 'https://example.com/%EF%BF%BD'],
  ['https://example.com/#', 'https://example.com/#'],
] as const;

suite('encodeUrl', {
  'returns a URI (RFC 3986)': () => {
    for (const [url, encoded] of encodedUrls) {
      assert.equal(encodeUrl(url), encoded);
      assert.equal(encodeUrl(encoded), encoded);
      assert.match(encoded, /^https?:\/\/(?:[\w.~!$&'()*+,;=:@/?#[\]-]|%[0-9a-f]{2})*$/i);
    }
  },

  'leads to the same host': () => {
    for (const [url, encoded] of encodedUrls) assert.equal(new URL(encoded).host, new URL(url).host);
  },
});
