import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { SortedList } from '../../adapters/memory/sorted-list.ts';
import { suite } from '../support/suite.ts';

const LARGEST = 10_000;

/** A run of values, each so far from the one before, that are added or deleted from the first or from the last. */
const change = fc.record({
  deletes: fc.boolean(),
  downwards: fc.boolean(),
  first: fc.nat(LARGEST),
  distance: fc.integer({ min: 1, max: 12 }),
  count: fc.nat(1200),
});

const twoBounds = fc.tuple(fc.nat(LARGEST), fc.nat(LARGEST));

suite('a sorted list', {
  'has what a sorted array has, in both directions and from any rank': () =>
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 12 }), twoBounds, (changes, bounds) => {
        const list = new SortedList<number>((a, b) => a - b);
        const values = new Set<number>();
        for (const { deletes, downwards, first, distance, count } of changes) {
          const run = Array.from({ length: count }, (_, at) => first + at * distance);
          for (const value of downwards ? run.reverse() : run) {
            if (values.has(value) !== deletes) continue;
            if (deletes) {
              values.delete(value);
              list.delete(value);
            } else {
              values.add(value);
              list.add(value);
            }
          }
          const array = [...values].sort((a, b) => a - b);
          assert.equal(list.size, array.length);
          assert.deepEqual([...list.ascending(0, list.size)], array);
          assert.deepEqual([...list.descending(0, list.size)], array.toReversed());
          for (const bound of bounds) {
            assert.equal(
              list.rank((value) => value < bound),
              array.filter((value) => value < bound).length,
            );
          }
          const [start, end] = bounds.map((bound) => bound % (array.length + 2)) as [number, number];
          const part = array.slice(start, Math.max(start, end));
          assert.deepEqual([...list.ascending(start, end)], part);
          assert.deepEqual([...list.descending(start, end)], part.toReversed());
        }
      }),
    ),

  'leaves out nothing that lies in the ranges, and most of what does not': () => {
    const list = new SortedList<{ at: number; square: number }>((a, b) => a.at - b.at);
    const range = { field: 'square', from: 2498 ** 2, to: 2502 ** 2 } as const;
    for (let at = 0; at < 5000; at++) {
      list.add({ at, square: at ** 2 });
      assert.equal(list.count(0, 5000, { ranges: [range] }) > 0, at >= 2498);
    }
    list.delete({ at: 2500, square: 0 });
    for (const values of [
      list.ascending(0, 4999, { ranges: [range] }),
      list.descending(0, 4999, { ranges: [range] }),
    ]) {
      const given = [...values].map(({ at }) => at).sort((a, b) => a - b);
      assert.deepEqual(
        given.filter((at) => at >= 2498 && at <= 2502),
        [2498, 2499, 2501, 2502],
      );
      assert.ok(given.length < 300, `${given.length} of 4,999`);
    }
  },

  'leaves out no text that has a term, and of texts that are searched again most that have not': async () => {
    const list = new SortedList<{ at: number; text: string }>((a, b) => a.at - b.at);
    const textOf = (at: number) =>
      `${'Ünïcode 🏔 '.repeat(at % 7)}campaign ${at} of ${5000 - at} ${'long '.repeat(at % 50)}`;
    const terms = ['', 'a', '12', '123', 'campaign 4999', 'ode 🏔 ü', '🏔', 'gn 77 of', 'no such text', 'ong long l'];
    for (let at = 0; at < 5000; at++) list.add({ at, text: textOf(at).toLowerCase() });
    for (let search = 0; search < 6; search++) {
      const isUnchanged = search > 0 && search < 4;
      for (const contains of terms) {
        const sought = { terms: [{ field: 'text', contains }] } as const;
        const has = ({ text }: { text: string }) => text.includes(contains);
        const all = [...list.ascending(0, list.size)].filter(has);
        const [upwards, downwards] = [
          [...list.ascending(0, list.size, sought)],
          [...list.descending(0, list.size, sought)],
        ];
        assert.deepEqual(upwards.filter(has), all, contains);
        assert.deepEqual(downwards.filter(has).reverse(), all, contains);
        const part = all.filter(({ at }) => at >= 1500 && at < 2000);
        assert.deepEqual([...list.ascending(1500, 2000, sought)].filter(has), part, contains);
        if (isUnchanged && contains.length > 3)
          assert.ok(downwards.length - all.length < 500, `${contains}: ${downwards.length} of ${all.length}`);
      }
      if (search >= 3)
        for (let at = search; at < 5000; at += 97) {
          list.delete({ at, text: '' });
          list.add({ at, text: `${textOf(at).toLowerCase()} gn 77 of no such text` });
        }
      for (let turn = 0; turn < 100; turn++) await setImmediate();
    }
  },

  'that is searched again looks at the texts of one block in a turn, so that nobody waits for all': async () => {
    let looks = 0;
    const list = new SortedList<{ at: number; text: string }>((a, b) => a.at - b.at);
    for (let at = 0; at < 2000; at++) {
      list.add({
        at,
        get text() {
          looks++;
          return `campaign ${at}`;
        },
      });
    }
    const search = () => [...list.ascending(0, 2000, { terms: [{ field: 'text', contains: 'no such' }] })].length;
    assert.equal(search(), 2000);
    await setImmediate();
    assert.equal(search(), 2000);
    assert.equal(looks, 0);
    for (let turn = 0; turn < 100; turn++) {
      const before = looks;
      await setImmediate();
      assert.ok(looks - before <= 128, `${looks - before} texts in a turn`);
    }
    assert.equal(looks, 2000);
    assert.equal(search(), 0);
  },

  'begins and ends empty': () => {
    const list = new SortedList<number>((a, b) => a - b);
    assert.deepEqual([list.size, [...list.ascending(0, 9)], [...list.descending(0, 9)]], [0, [], []]);
    for (let value = 0; value < 2000; value++) list.add(value);
    for (let value = 1999; value >= 0; value--) list.delete(value);
    assert.deepEqual([list.size, [...list.ascending(0, 9)], [...list.descending(0, 9)]], [0, [], []]);
    assert.equal(
      list.rank(() => true),
      0,
    );
    list.add(7);
    assert.deepEqual([...list.ascending(0, 9)], [7]);
  },
});
