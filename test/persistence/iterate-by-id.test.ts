import assert from 'node:assert/strict';
import { iterateById } from '../../adapters/persistence/iterate-by-id.ts';
import { collectAll } from '../support/collect-all.ts';
import { suite } from '../support/suite.ts';

/**
 * Creates records in the order of their IDs, and `read`, which reads a batch of them and adds each of its calls to
 * `reads`.
 */
function createRecords(count: number) {
  const all = Array.from({ length: count }, (_, i) => ({ id: String(i).padStart(6, '0') }));
  const reads: [after: string, count: number][] = [];
  const read = async (after: string, take: number) => {
    const batch = all.filter(({ id }) => id > after).slice(0, take);
    reads.push([after, batch.length]);
    return batch;
  };
  return { all, reads, read };
}

suite('an iteration by ID', {
  'returns every record once and in order, and reads one batch at a time': async () => {
    for (const [count, batches] of [
      [0, [0]],
      [1, [1]],
      [999, [999]],
      [1000, [1000, 0]],
      [2500, [1000, 1000, 500]],
    ] as const) {
      const { all, reads, read } = createRecords(count);
      assert.deepEqual(await collectAll(iterateById(read)), all);
      assert.deepEqual(
        reads.map(([, readCount]) => readCount),
        batches,
      );
    }
  },

  'stops reading when its consumer stops': async () => {
    const { reads, read } = createRecords(2500);
    for await (const { id } of iterateById(read)) if (id === '001000') break;
    assert.deepEqual(reads, [
      ['', 1000],
      ['000999', 1000],
    ]);
  },
});
