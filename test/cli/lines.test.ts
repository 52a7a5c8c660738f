import assert from 'node:assert/strict';
import fc from 'fast-check';
import { readLines } from '../../adapters/cli/lines.ts';
import { collectAll } from '../support/collect-all.ts';
import { suite } from '../support/suite.ts';

async function* splitIntoChunks(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

async function readTestLines(text: string, size: number, limit = 1000) {
  const lines = await collectAll(readLines(splitIntoChunks(text, size), limit));
  return lines.map(({ number, bytes }) => ({
    number,
    text: bytes && Buffer.from(bytes).toString(),
  }));
}

suite('the lines of a stream', {
  'are the same, however the text of the stream is split into chunks': () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '🏆', ' ', '\r'), maxLength: 9 })),
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        async (lineTexts, endsWithNewline, size) => {
          const file = lineTexts.join('\n') + (endsWithNewline ? '\n' : '');
          const parts = file === '' ? [] : file.replace(/\n$/, '').split('\n');
          const found = await readTestLines(file, size);
          assert.deepEqual(
            found.map(({ text }) => text),
            parts,
          );
          assert.deepEqual(
            found.map(({ number }) => number),
            parts.map((_, i) => i + 1),
          );
        },
      ),
    ),

  'do not include a byte-order mark at the start of the stream': async () => {
    for (const size of [1, 2, 3, 100]) {
      const found = await readTestLines('\ufeff{}\n\ufeff{}\n', size, 6);
      assert.deepEqual(
        found.map(({ text }) => text),
        ['{}', '\ufeff{}'],
      );
    }
  },

  'have no content if they are too long, and the lines after them are complete': async () => {
    const file = `${'a'.repeat(10)}\n${'b'.repeat(11)}\n${'c'.repeat(1000)}\nd\n${'e'.repeat(99)}`;
    for (const size of [1, 7, 10, 11, 5000]) {
      const found = await readTestLines(file, size, 10);
      assert.deepEqual(
        found.map(({ text }) => text),
        ['a'.repeat(10), undefined, undefined, 'd', undefined],
      );
    }
  },

  'are not buffered beyond the maximum length of a line': async () => {
    async function* endless() {
      for (let i = 0; i < 500; i++) yield Buffer.alloc(1e6, 'x');
    }
    const before = process.memoryUsage().arrayBuffers;
    const [line] = await collectAll(readLines(endless(), 1000));
    assert.deepEqual(line, { number: 1, bytes: undefined });
    assert.ok(process.memoryUsage().arrayBuffers - before < 2.5e8);
  },
});
