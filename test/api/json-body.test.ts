import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readJson } from '../../adapters/api/json-body.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const BODY_SIZE_BYTES = 2 ** 20;
const MAX_DEPTH = 32;
const MAX_ELEMENT_COUNT = 1_000;
const RUN_COUNT = 5;
/**
 * Reading a body may take at most ten times as long as reading one long text of the same size. Measured: 0.1 to 3 times
 * as long with the limits on depth and elements, and 35 to 110 times as long without them.
 */
const MAX_SLOWDOWN = 10;

const readText = (json: string) => readJson(Buffer.from(json));
const repeat = (part: string, length = BODY_SIZE_BYTES) => part.repeat(length / part.length);
const createDistinctNames = () => Array.from({ length: BODY_SIZE_BYTES / 9 }, (_, i) => `"${i.toString(36)}":1`).join();
/**
 * Returns a body with nested arrays. The body itself is the first level. `inner` is the content of the deepest array.
 */
const createNested = (depth: number, inner = '') => `{"name":${'['.repeat(depth - 1)}${inner}${']'.repeat(depth - 1)}}`;

/** Returns how deep objects and arrays are nested in a value. The value itself is the first level. */
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
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '[{', ']}', ':', '\\"', ''));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
    }));
    const spaces = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.dictionary(text, value, { maxKeys: 4 }), spaces, (body, space) => {
        const json = JSON.stringify(body, undefined, space);
        assert.deepEqual(readText(json), JSON.parse(json));
      }),
    );
  },

  'keeps 32 levels of nesting, and empties the arrays and objects at level 33': () => {
    const expectedBodies = [
      createNested(MAX_DEPTH, '[]'),
      createNested(MAX_DEPTH, '[],{}'),
      createNested(MAX_DEPTH, '{},1,[]'),
    ];
    const deepBodies = [
      createNested(MAX_DEPTH, '[1]'),
      createNested(MAX_DEPTH, '[[],[2]],{"a":{}}'),
      createNested(MAX_DEPTH, '{"]":"}"},1,[[]]'),
    ];
    for (const [i, json] of expectedBodies.entries()) {
      assert.deepEqual(readText(json), JSON.parse(json));
      assert.deepEqual(readText(deepBodies[i] as string), JSON.parse(json));
    }
    assert.equal(measureDepth(readText(createNested(MAX_DEPTH + 1_000))), MAX_DEPTH + 1);
    const siblings = readText(`{"first":1,"deep":${repeat('[', 1000)}${repeat(']', 1000)},"last":2}`);
    assert.deepEqual({ ...siblings, deep: 0 }, { first: 1, deep: 0, last: 2 });
  },

  'rejects mismatched brackets at any depth, and an unclosed string': () => {
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

  'accepts at most 1,000 elements: field names, objects and arrays together': () => {
    const createItems = (count: number) => `{"a":1,"items":[${Array(count).fill('{"b":[]}').join()}]}`;
    // An item has three elements, and the rest of the body has four.
    const maxItemCount = Math.floor((MAX_ELEMENT_COUNT - 4) / 3);
    assert.equal(Object.values(readText(createItems(maxItemCount)))[1].length, maxItemCount);
    assert.throws(() => readText(createItems(maxItemCount + 1)), {
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

  'takes at most ten times as long for nested or many elements as for one long text of the same size': () => {
    const plainTime = measureTime(`{"name":"${repeat('a')}"}`);
    const bodies = {
      'nested arrays': `{"name":${repeat('[', BODY_SIZE_BYTES / 2)}${repeat(']', BODY_SIZE_BYTES / 2)}}`,
      'unclosed arrays': `{"name":${repeat('[')}`,
      'nested objects': `{"name":${repeat('{"a":', BODY_SIZE_BYTES / 2)}1${'}'.repeat(BODY_SIZE_BYTES / 10)}}`,
      'arrays after each other': `{"name":[${repeat('[],')}[]]}`,
      'objects after each other': `{"name":[${repeat('{},')}{}]}`,
      'many names': `{${createDistinctNames()}}`,
      'many names of an inner object': `{"name":{${createDistinctNames()}}}`,
      'one repeated name': `{${repeat('"name":1,')}"name":1}`,
    };
    return each(bodies, (json) => {
      const slowdown = measureTime(json) / plainTime;
      assert.ok(slowdown < MAX_SLOWDOWN, `${slowdown.toFixed(1)} times`);
    });
  },
});
