import assert from 'node:assert/strict';
import fc from 'fast-check';
import { linesOf } from '../../adapters/cli/lines.ts';
import { collected } from '../support/collected.ts';
import { suite } from '../support/suite.ts';

async function* inChunks(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function lines(text: string, size: number, limit = 1000) {
  const all = await collected(linesOf(inChunks(text, size), limit));
  return all.map(({ number, bytes, end }) => ({ number, text: bytes && Buffer.from(bytes).toString(), end }));
}

suite('the lines of a stream', {
  'are those of its text, whatever the chunks that it comes in': () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '🏆', ' ', '\r'), maxLength: 9 })),
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        async (texts, endsWithNewline, size) => {
          const file = texts.join('\n') + (endsWithNewline ? '\n' : '');
          const parts = file === '' ? [] : file.replace(/\n$/, '').split('\n');
          const found = await lines(file, size);
          assert.deepEqual(
            found.map(({ text }) => text),
            parts,
          );
          assert.deepEqual(
            found.map(({ number }) => number),
            parts.map((_, i) => i + 1),
          );
          if (parts.length > 0) assert.equal(found.at(-1)?.end, Buffer.byteLength(file));
        },
      ),
    ),

  'are dropped where they are too long, and those after them are not': async () => {
    const file = `${'a'.repeat(10)}\n${'b'.repeat(11)}\n${'c'.repeat(1000)}\nd\n${'e'.repeat(99)}`;
    for (const size of [1, 7, 10, 11, 5000]) {
      const found = await lines(file, size, 10);
      assert.deepEqual(
        found.map(({ text }) => text),
        ['a'.repeat(10), undefined, undefined, 'd', undefined],
      );
      assert.equal(found.at(-1)?.end, file.length);
    }
  },

  'hold no more of a line than it may have': async () => {
    async function* endless() {
      for (let i = 0; i < 500; i++) yield Buffer.alloc(1e6, 'x');
    }
    const before = process.memoryUsage().arrayBuffers;
    const [line] = await collected(linesOf(endless(), 1000));
    assert.deepEqual([line?.bytes, line?.end], [undefined, 5e8]);
    assert.ok(process.memoryUsage().arrayBuffers - before < 2.5e8);
  },
});
