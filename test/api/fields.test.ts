import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import { httpUrl, httpUrlOrEmpty, text } from '../../adapters/api/fields.ts';
import { type SampleValues, urls, urlsOrBlank } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** More calls than V8 needs to optimize a function (measured: about 4,000 in Node 20.20). */
const HOT_CALL_COUNT = 20_000;
const TEXT_COUNT = 64;
const SPACE_COUNT = 2 ** 20;

/** Invalid URLs that match the pattern in the OpenAPI document. A pattern that does not match them would be hard to read. */
const INVALID_BUT_MATCHING: readonly unknown[] = ['https://example.com:99999', 'https://example.com/\ud800'];

/**
 * Asserts that the pattern in the OpenAPI document matches the short valid samples, and none of the short invalid samples except
 * `INVALID_BUT_MATCHING`.
 */
function assertPatternAgrees(schema: z.ZodType, { valid, invalid }: SampleValues): void {
  const { pattern } = z.toJSONSchema(schema, { io: 'input' });
  const isShort = (url: unknown) => String(url).length < 100 && !INVALID_BUT_MATCHING.includes(url);
  const matches = (url: unknown) => new RegExp(pattern as string, 'u').test(String(url));
  assert.deepEqual([...valid, ...invalid].filter(isShort).filter(matches), valid.filter(isShort));
}

suite('a text field', {
  'is trimmed at both ends, and keeps any characters in between': () => {
    const schema = text({ max: 100 });
    for (const value of ['', 'a', 'naïve', '東京都千代田区丸の内一丁目九番一号', '😀'.repeat(20), 'a'.repeat(50)]) {
      for (const space of ['', ' ', '\t\n', '\u3000']) assert.equal(schema.parse(space + value + space), value);
    }
  },

  'does not keep the trimmed spaces in memory': () => {
    const schema = text({ max: 100 });
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const texts = Array.from({ length: TEXT_COUNT }, (_, i) =>
      schema.parse(`a text of the number ${i}${' '.repeat(SPACE_COUNT)}`),
    );
    collectGarbage();
    const addedBytes = process.memoryUsage().heapUsed - before;
    assert.ok(addedBytes < SPACE_COUNT, `${texts.length} short texts take ${addedBytes} bytes`);
  },

  'is a string in JSON Schema': () => {
    assert.equal(z.toJSONSchema(text({ max: 100 })).type, 'string');
  },
});

suite('a URL field', {
  'has a pattern in the OpenAPI document that matches the URLs that the field accepts': () => {
    assertPatternAgrees(httpUrl, urls);
    assertPatternAgrees(httpUrlOrEmpty, urlsOrBlank);
  },

  'accepts Latin-1 letters, even after V8 has optimized the validation': () => {
    for (const url of ['https://münchen.example/ä', 'https://münchen.example', 'https://example.com/é?ü=ß#ñ']) {
      for (let calls = 0; calls < HOT_CALL_COUNT; calls++) {
        assert.equal(httpUrl.safeParse(url).success, true, `${url} is rejected after ${calls} calls`);
      }
    }
  },
});
