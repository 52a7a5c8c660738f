import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { SortedList } from '../../adapters/memory/sorted-list.ts';
import { suite } from '../support/suite.ts';

const MAX_VALUE = 10_000;

/** A run of values at a fixed distance, which are added or deleted in ascending or descending order. */
const change = fc.record({
  isDeletion: fc.boolean(),
  isDescending: fc.boolean(),
  first: fc.nat(MAX_VALUE),
  distance: fc.integer({ min: 1, max: 12 }),
  count: fc.nat(1200),
});

const twoBounds = fc.tuple(fc.nat(MAX_VALUE), fc.nat(MAX_VALUE));

suite('a sorted list', {
  'equals a sorted array in both directions and from any rank': () =>
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), twoBounds, (changes, bounds) => {
        const list = new SortedList<number>((a, b) => a - b);
        const values = new Set<number>();
        for (const { isDeletion, isDescending, first, distance, count } of changes) {
          const run = Array.from({ length: count }, (_, at) => first + at * distance);
          for (const value of isDescending ? run.reverse() : run) {
            if (values.has(value) !== isDeletion) continue;
            if (isDeletion) {
              values.delete(value);
              list.delete(value);
            } else {
              values.add(value);
              list.add(value);
            }
          }
          const array = [...values].sort((a, b) => a - b);
          assert.equal(list.size, array.length);
          assert.deepEqual([...list.iterateAscending(0, list.size)], array);
          assert.deepEqual([...list.iterateDescending(0, list.size)], array.toReversed());
          for (const bound of bounds) {
            assert.equal(
              list.countBefore((value) => value < bound),
              array.filter((value) => value < bound).length,
            );
          }
          const [start, end] = bounds.map((bound) => bound % (array.length + 2)) as [number, number];
          const part = array.slice(start, Math.max(start, end));
          assert.deepEqual([...list.iterateAscending(start, end)], part);
          assert.deepEqual([...list.iterateDescending(start, end)], part.toReversed());
        }
      }),
    ),

  'returns all values in the ranges, and skips most others': () => {
    const list = new SortedList<{ at: number; square: number }>((a, b) => a.at - b.at);
    const range = { field: 'square', from: 2498 ** 2, to: 2502 ** 2 } as const;
    for (let at = 0; at < 5000; at++) {
      list.add({ at, square: at ** 2 });
      assert.equal(list.count(0, 5000, { ranges: [range] }) > 0, at >= 2498);
    }
    list.delete({ at: 2500, square: 0 });
    for (const values of [
      list.iterateAscending(0, 4999, { ranges: [range] }),
      list.iterateDescending(0, 4999, { ranges: [range] }),
    ]) {
      const returned = [...values].map(({ at }) => at).sort((a, b) => a - b);
      assert.deepEqual(
        returned.filter((at) => at >= 2498 && at <= 2502),
        [2498, 2499, 2501, 2502],
      );
      assert.ok(returned.length < 300, `${returned.length} of 4,999`);
    }
  },

  'returns all texts with a term, and skips most others in repeated searches': async () => {
    const list = new SortedList<{ at: number; text: string }>((a, b) => a.at - b.at);
    const createText = (at: number) =>
      `${'Ünïcode 🏔 '.repeat(at % 7)}campaign ${at} of ${5000 - at} ${'long '.repeat(at % 50)}`;
    const terms = ['', 'a', '12', '123', 'campaign 4999', 'ode 🏔 ü', '🏔', 'gn 77 of', 'no such text', 'ong long l'];
    for (let at = 0; at < 5000; at++) list.add({ at, text: createText(at).toLowerCase() });
    for (let search = 0; search < 6; search++) {
      const isUnchanged = search > 0 && search < 4;
      for (const contains of terms) {
        const filter = { terms: [{ field: 'text', contains }] } as const;
        const hasTerm = ({ text }: { text: string }) => text.includes(contains);
        const all = [...list.iterateAscending(0, list.size)].filter(hasTerm);
        const [ascending, descending] = [
          [...list.iterateAscending(0, list.size, filter)],
          [...list.iterateDescending(0, list.size, filter)],
        ];
        assert.deepEqual(ascending.filter(hasTerm), all, contains);
        assert.deepEqual(descending.filter(hasTerm).reverse(), all, contains);
        const part = all.filter(({ at }) => at >= 1500 && at < 2000);
        assert.deepEqual([...list.iterateAscending(1500, 2000, filter)].filter(hasTerm), part, contains);
        if (isUnchanged && contains.length > 3)
          assert.ok(descending.length - all.length < 500, `${contains}: ${descending.length} of ${all.length}`);
      }
      if (search >= 3)
        for (let at = search; at < 5000; at += 97) {
          list.delete({ at, text: '' });
          list.add({ at, text: `${createText(at).toLowerCase()} gn 77 of no such text` });
        }
      for (let iteration = 0; iteration < 100; iteration++) await setImmediate();
    }
  },

  'indexes the texts of one block per iteration of the event loop after a repeated search': async () => {
    let readCount = 0;
    const list = new SortedList<{ at: number; text: string }>((a, b) => a.at - b.at);
    for (let at = 0; at < 2000; at++) {
      list.add({
        at,
        get text() {
          readCount++;
          return `campaign ${at}`;
        },
      });
    }
    const search = () =>
      [...list.iterateAscending(0, 2000, { terms: [{ field: 'text', contains: 'no such' }] })].length;
    assert.equal(search(), 2000);
    await setImmediate();
    assert.equal(search(), 2000);
    assert.equal(readCount, 0);
    for (let iteration = 0; iteration < 100; iteration++) {
      const before = readCount;
      await setImmediate();
      assert.ok(readCount - before <= 128, `${readCount - before} texts in an iteration`);
    }
    assert.equal(readCount, 2000);
    assert.equal(search(), 0);
  },

  'is empty at first, and after all values are deleted': () => {
    const list = new SortedList<number>((a, b) => a - b);
    assert.deepEqual([list.size, [...list.iterateAscending(0, 9)], [...list.iterateDescending(0, 9)]], [0, [], []]);
    for (let value = 0; value < 2000; value++) list.add(value);
    for (let value = 1999; value >= 0; value--) list.delete(value);
    assert.deepEqual([list.size, [...list.iterateAscending(0, 9)], [...list.iterateDescending(0, 9)]], [0, [], []]);
    assert.equal(
      list.countBefore(() => true),
      0,
    );
    list.add(7);
    assert.deepEqual([...list.iterateAscending(0, 9)], [7]);
  },
});
