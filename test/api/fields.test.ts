import assert from 'node:assert/strict';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { z } from 'zod';
import {
  amount,
  httpUrl,
  httpUrlOrEmpty,
  ids,
  nonNegativeNumber,
  text,
  wholeNumber,
  wholeNumberParameter,
} from '../../adapters/api/fields.ts';
import { parse } from '../../adapters/api/parse.ts';
import { type SampleValues, urls, urlsOrBlank } from '../support/samples.ts';
import { suite } from '../support/suite.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** More calls than V8 needs to optimize a function (measured: about 4,000 in Node 20.20). */
const HOT_CALL_COUNT = 20_000;
const TEXT_COUNT = 64;
const ID = '0190163d-8694-739b-aea5-966c26f8ad91';
const SPACE_COUNT = 2 ** 20;

/**
 * Invalid URLs that match the pattern in the OpenAPI document. A pattern that does not match them would be hard to
 * read.
 */
const INVALID_BUT_MATCHING: readonly unknown[] = ['https://example.com:99999', 'https://example.com/\ud800'];

/**
 * Asserts that the pattern in the OpenAPI document matches the short valid samples, and none of the short invalid
 * samples except `INVALID_BUT_MATCHING`.
 */
function assertPatternAgrees(schema: z.ZodType, { valid, invalid }: SampleValues): void {
  const { pattern } = z.toJSONSchema(schema, { io: 'input' });
  const isShort = (url: unknown) => String(url).length < 100 && !INVALID_BUT_MATCHING.includes(url);
  const matches = (url: unknown) => new RegExp(pattern as string, 'u').test(String(url));
  assert.deepEqual([...valid, ...invalid].filter(isShort).filter(matches), valid.filter(isShort));
}

/** Returns the processor time of the fastest of five calls. Other processes of the machine hardly change it. */
function measureCpuMs(run: () => void): number {
  const measure = () => {
    const before = process.cpuUsage();
    run();
    return process.cpuUsage(before).user / 1000;
  };
  return Math.min(...Array.from({ length: 5 }, measure));
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

const HUGE = JSON.parse('1e400');

suite('a number', {
  'is rejected with a message that names the limit that it exceeds, or the notation that it must have': () => {
    const notation = /^field: must be a whole number in digits only, without leading zeros$/;
    for (const [schema, value, problem] of [
      [wholeNumberParameter(1), '9007199254740992', /^field: must be at most 9007199254740991$/],
      [wholeNumberParameter(1), '9'.repeat(1000), /^field: must be at most 9007199254740991$/],
      [wholeNumberParameter(1, 100), '101', /^field: must be at most 100$/],
      [wholeNumberParameter(1), '0', /^field: must be at least 1$/],
      ...['05', '+1', '-1', '1.0', '1e1', '0x1', ' 1', ''].map(
        (text) => [wholeNumberParameter(1), text, notation] as const,
      ),
      [nonNegativeNumber, HUGE, /^field: must be at most 1\.7976931348623157e\+308$/],
      [nonNegativeNumber, -HUGE, /^field: must be at least -1\.7976931348623157e\+308$/],
      [nonNegativeNumber, -1, /^field: must be at least 0$/],
      [amount, HUGE, /^field: must be a non-negative amount .* at most 12 digits/],
      [wholeNumber, HUGE, /^field: must be a whole number from 0 to 9007199254740991$/],
      [wholeNumber, -HUGE, /^field: must be a whole number from 0 to 9007199254740991$/],
      [wholeNumber, true, /^field: must be a number or a string$/],
    ] as const) {
      const parseField = () => parse(z.strictObject({ field: schema }), { field: value });
      assert.throws(parseField, { kind: 'invalid', message: problem });
    }
  },
});

suite('an array of IDs', {
  'has at most 100 different IDs, without duplicates, in the order sent and in lower case': () => {
    const createIds = (count: number) => Array.from({ length: count }, (_, i) => ID.slice(0, -3) + (999 - i));
    const [hundred, tooMany] = [createIds(100), createIds(101)];
    const duplicates = hundred.flatMap((one) => [one.toUpperCase(), one]);
    assert.deepEqual(ids.parse([...duplicates, ...duplicates]), hundred);
    assert.deepEqual(
      ids.safeParse(tooMany).error?.issues.map(({ message }) => message),
      ['must have at most 100 items'],
    );
  },

  'is validated in linear time, even if it has many duplicates': () => {
    for (const values of [[...Array(520_000).fill(0), 1], [...Array(350_000).fill(''), 'x'], Array(26_000).fill(ID)]) {
      const invalid = new Set(values.filter((value) => value !== ID)).size;
      assert.equal(ids.safeParse(values).error?.issues.length ?? 0, invalid);
      const cpuMs = measureCpuMs(() => ids.safeParse(values));
      assert.ok(cpuMs < 30, `${values.length} items take ${cpuMs} ms`);
    }
  },
});

suite('a URL field', {
  'has a pattern in the OpenAPI document that matches the URLs that the field accepts': () => {
    assertPatternAgrees(httpUrl, urls);
    assertPatternAgrees(httpUrlOrEmpty, urlsOrBlank);
  },

  'names the limit that a URL exceeds': () => {
    for (const [url, problem] of [
      [`https://example.com/${'a'.repeat(2029)}`, 'must have at most 2048 characters'],
      [`https://example.com/${'ü'.repeat(400)}`, 'must have at most 2048 characters when it is percent-encoded'],
      [`https://${'漢'.repeat(2000)}`, /has at most 255 characters, and at most 63 between two dots$/],
      ['https://example.com\\@evil.example/', /without a backslash/],
    ] as const) {
      const message = httpUrl.safeParse(url).error?.issues[0]?.message ?? '';
      if (typeof problem === 'string') assert.equal(message, problem);
      else assert.match(message, problem);
    }
  },

  'takes little time to validate, even if the host has thousands of letters': () => {
    const letters = Array.from({ length: 2000 }, (_, i) => String.fromCodePoint(0x4e00 + ((i * 7919) % 20_000))).join(
      '',
    );
    const cpuMs = measureCpuMs(() => {
      for (let count = 0; count < 100; count++) assert.equal(httpUrl.safeParse(`https://${letters}`).success, false);
    });
    assert.ok(cpuMs < 100, `100 URLs take ${cpuMs} ms`);
  },

  'accepts Latin-1 letters, even after V8 has optimized the validation': () => {
    for (const url of ['https://münchen.example/ä', 'https://münchen.example', 'https://example.com/é?ü=ß#ñ']) {
      for (let calls = 0; calls < HOT_CALL_COUNT; calls++) {
        assert.equal(httpUrl.safeParse(url).success, true, `${url} is rejected after ${calls} calls`);
      }
    }
  },
});
