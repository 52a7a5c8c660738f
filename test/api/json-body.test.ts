import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readJson } from '../../adapters/api/json-body.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const SIZE = 2 ** 20;
const MAX_DEPTH = 32;
const MAX_PARTS = 1_000;
const RUNS = 5;
/** Measured: 0.1 to 3, and 35 to 110 without the limits. */
const MAX_SLOWDOWN = 10;

const read = (json: string) => readJson(Buffer.from(json));
const repeated = (part: string, size = SIZE) => part.repeat(size / part.length);
const distinctNames = () => Array.from({ length: SIZE / 9 }, (_, i) => `"${i.toString(36)}":1`).join();
const nested = (depth: number, inner = '') => `{"name":${'['.repeat(depth - 1)}${inner}${']'.repeat(depth - 1)}}`;

/** Objects and arrays inside each other in a value, itself included. */
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

/** The shortest time in which a body is read or rejected, in milliseconds. */
function timeOf(json: string): number {
  const bytes = Buffer.from(json);
  const times = Array.from({ length: RUNS }, () => {
    const start = performance.now();
    try {
      readJson(bytes);
    } catch {
      // Rejecting is as good.
    }
    return performance.now() - start;
  });
  return Math.min(...times);
}

suite('a JSON body', {
  'is parsed as JSON.parse does': () => {
    const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '[{', ']}', ':', '\\"', ''));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(texts, tie('value'), { maxKeys: 4 }),
    }));
    const spaces = fc.constantFrom(undefined, 1, '\t');
    fc.assert(
      fc.property(fc.dictionary(texts, value, { maxKeys: 4 }), spaces, (body, space) => {
        const json = JSON.stringify(body, undefined, space);
        assert.deepEqual(read(json), JSON.parse(json));
      }),
    );
  },

  'is read down to 32 levels, and empty below': () => {
    const empty = [nested(MAX_DEPTH, '[]'), nested(MAX_DEPTH, '[],{}'), nested(MAX_DEPTH, '{},1,[]')];
    const filled = [
      nested(MAX_DEPTH, '[1]'),
      nested(MAX_DEPTH, '[[],[2]],{"a":{}}'),
      nested(MAX_DEPTH, '{"]":"}"},1,[[]]'),
    ];
    for (const [i, json] of empty.entries()) {
      assert.deepEqual(read(json), JSON.parse(json));
      assert.deepEqual(read(filled[i] as string), JSON.parse(json));
    }
    assert.equal(depthOf(read(nested(MAX_DEPTH + 1_000))), MAX_DEPTH + 1);
    const around = read(`{"first":1,"deep":${repeated('[', 1000)}${repeated(']', 1000)},"last":2}`);
    assert.deepEqual({ ...around, deep: 0 }, { first: 1, deep: 0, last: 2 });
  },

  'is rejected if brackets do not match, at any depth': () => {
    const jsons = ['{"name":[}', `{"name":${'['.repeat(100)}`, `${nested(100)}]`, nested(100).replace(/]}$/, '}}')];
    for (const json of [...jsons, nested(100).slice(0, -1), `{"name":"${'['.repeat(100)}`]) {
      assert.throws(() => read(json), { name: 'MalformedBody', message: /no valid JSON/ }, json);
    }
  },

  'has at most 1,000 names, objects and arrays': () => {
    const withItems = (count: number) => `{"a":1,"items":[${Array(count).fill('{"b":[]}').join()}]}`;
    const most = Math.floor((MAX_PARTS - 4) / 3);
    assert.equal(Object.values(read(withItems(most)))[1].length, most);
    assert.throws(() => read(withItems(most + 1)), {
      message: /^items: too many elements, the body must have at most 1000/,
    });
    const names = (count: number) => `{${Array.from({ length: count }, (_, i) => `"n${i}":":[{"`).join()}}`;
    assert.equal(Object.keys(read(names(MAX_PARTS - 1))).length, MAX_PARTS - 1);
    assert.throws(() => read(names(MAX_PARTS)), { name: 'CoreError', message: /^n999: too many elements/ });
    assert.throws(() => read(names(MAX_PARTS).replaceAll('n999', '\\u0061')), { message: /^a: too many/ });
    assert.throws(() => read(`[${withItems(MAX_PARTS)}]`), { message: 'The body must be a JSON object.' });
  },

  'does not block the process much longer in any shape than a plain body of its size': () => {
    const flat = timeOf(`{"name":"${repeated('a')}"}`);
    const bodies = {
      'nested arrays': `{"name":${repeated('[', SIZE / 2)}${repeated(']', SIZE / 2)}}`,
      'arrays that do not end': `{"name":${repeated('[')}`,
      'nested objects': `{"name":${repeated('{"a":', SIZE / 2)}1${'}'.repeat(SIZE / 10)}}`,
      'arrays after each other': `{"name":[${repeated('[],')}[]]}`,
      'objects after each other': `{"name":[${repeated('{},')}{}]}`,
      'many names': `{${distinctNames()}}`,
      'many names of an inner object': `{"name":{${distinctNames()}}}`,
      'one name again and again': `{${repeated('"name":1,')}"name":1}`,
    };
    return each(bodies, (json) => {
      const slowdown = timeOf(json) / flat;
      assert.ok(slowdown < MAX_SLOWDOWN, `${slowdown.toFixed(1)} times`);
    });
  },
});
