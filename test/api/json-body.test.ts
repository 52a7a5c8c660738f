import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readJson } from '../../adapters/api/json-body.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const SIZE_BYTES = 2 ** 20;
const MAX_DEPTH = 32;
const MAX_ELEMENT_COUNT = 1_000;
const RUN_COUNT = 5;
/** Relative to a plain body of the same size. Measured: 0.1 to 3, and 35 to 110 without the limits. */
const MAX_SLOWDOWN = 10;

const readText = (json: string) => readJson(Buffer.from(json));
const repeat = (part: string, size = SIZE_BYTES) => part.repeat(size / part.length);
const createDistinctNames = () => Array.from({ length: SIZE_BYTES / 9 }, (_, i) => `"${i.toString(36)}":1`).join();
const createNested = (depth: number, inner = '') => `{"name":${'['.repeat(depth - 1)}${inner}${']'.repeat(depth - 1)}}`;

/** Returns how deep objects and arrays are nested in a value. The value itself counts. */
const measureDepth = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(measureDepth)) : 0;

/** Returns the shortest time to read or reject a body, in milliseconds. */
function measureTime(json: string): number {
  const bytes = Buffer.from(json);
  const times = Array.from({ length: RUN_COUNT }, () => {
    const start = performance.now();
    try {
      readJson(bytes);
    } catch {
      // A rejected body counts, too.
    }
    return performance.now() - start;
  });
  return Math.min(...times);
}

suite('the JSON body reader', {
  'parses JSON as JSON.parse does': () => {
    const textCases = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '[{', ']}', ':', '\\"', ''));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(textCases, fc.integer(), fc.boolean(), fc.constant(null), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(textCases, tie('value'), { maxKeys: 4 }),
    }));
    const spaces = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.dictionary(textCases, value, { maxKeys: 4 }), spaces, (body, space) => {
        const json = JSON.stringify(body, undefined, space);
        assert.deepEqual(readText(json), JSON.parse(json));
      }),
    );
  },

  'reads 32 levels, and returns empty arrays and objects below them': () => {
    const bodiesWithEmpty = [
      createNested(MAX_DEPTH, '[]'),
      createNested(MAX_DEPTH, '[],{}'),
      createNested(MAX_DEPTH, '{},1,[]'),
    ];
    const bodiesWithFilled = [
      createNested(MAX_DEPTH, '[1]'),
      createNested(MAX_DEPTH, '[[],[2]],{"a":{}}'),
      createNested(MAX_DEPTH, '{"]":"}"},1,[[]]'),
    ];
    for (const [i, json] of bodiesWithEmpty.entries()) {
      assert.deepEqual(readText(json), JSON.parse(json));
      assert.deepEqual(readText(bodiesWithFilled[i] as string), JSON.parse(json));
    }
    assert.equal(measureDepth(readText(createNested(MAX_DEPTH + 1_000))), MAX_DEPTH + 1);
    const siblings = readText(`{"first":1,"deep":${repeat('[', 1000)}${repeat(']', 1000)},"last":2}`);
    assert.deepEqual({ ...siblings, deep: 0 }, { first: 1, deep: 0, last: 2 });
  },

  'rejects brackets that do not match, at any depth': () => {
    const bodies = [
      '{"name":[}',
      `{"name":${'['.repeat(100)}`,
      `${createNested(100)}]`,
      createNested(100).replace(/]}$/, '}}'),
    ];
    for (const json of [...bodies, createNested(100).slice(0, -1), `{"name":"${'['.repeat(100)}`]) {
      assert.throws(() => readText(json), { name: 'MalformedBody', message: /not valid JSON/ }, json);
    }
  },

  'accepts at most 1,000 field names, objects and arrays': () => {
    const createItems = (count: number) => `{"a":1,"items":[${Array(count).fill('{"b":[]}').join()}]}`;
    const maxItems = Math.floor((MAX_ELEMENT_COUNT - 4) / 3);
    assert.equal(Object.values(readText(createItems(maxItems)))[1].length, maxItems);
    assert.throws(() => readText(createItems(maxItems + 1)), {
      message: /^items: too many elements, the body must have at most 1000/,
    });
    const createNames = (count: number) => `{${Array.from({ length: count }, (_, i) => `"n${i}":":[{"`).join()}}`;
    assert.equal(Object.keys(readText(createNames(MAX_ELEMENT_COUNT - 1))).length, MAX_ELEMENT_COUNT - 1);
    assert.throws(() => readText(createNames(MAX_ELEMENT_COUNT)), {
      name: 'CoreError',
      message: /^n999: too many elements/,
    });
    assert.throws(() => readText(createNames(MAX_ELEMENT_COUNT).replaceAll('n999', '\\u0061')), {
      message: /^a: too many/,
    });
    assert.throws(() => readText(`[${createItems(MAX_ELEMENT_COUNT)}]`), {
      message: 'The request body must be a JSON object.',
    });
  },

  'blocks the process hardly longer than a plain body of the same size': () => {
    const flatTime = measureTime(`{"name":"${repeat('a')}"}`);
    const bodies = {
      'nested arrays': `{"name":${repeat('[', SIZE_BYTES / 2)}${repeat(']', SIZE_BYTES / 2)}}`,
      'unclosed arrays': `{"name":${repeat('[')}`,
      'nested objects': `{"name":${repeat('{"a":', SIZE_BYTES / 2)}1${'}'.repeat(SIZE_BYTES / 10)}}`,
      'arrays after each other': `{"name":[${repeat('[],')}[]]}`,
      'objects after each other': `{"name":[${repeat('{},')}{}]}`,
      'many names': `{${createDistinctNames()}}`,
      'many names of an inner object': `{"name":{${createDistinctNames()}}}`,
      'one repeated name': `{${repeat('"name":1,')}"name":1}`,
    };
    return each(bodies, (json) => {
      const slowdown = measureTime(json) / flatTime;
      assert.ok(slowdown < MAX_SLOWDOWN, `${slowdown.toFixed(1)} times`);
    });
  },
});
