import assert from 'node:assert/strict';
import type { ConflictReason } from '../../adapters/persistence/record-store.ts';
import { CoreError } from '../../core/shared/core-error.ts';

/** Asserts that a promise rejects with `conflict`, and with the message and the cause if they are given. */
export async function assertRejectsWithConflict(rejected: Promise<unknown>, reason?: ConflictReason): Promise<void> {
  await assert.rejects(rejected, (error) => {
    assert.ok(error instanceof CoreError, String(error));
    assert.equal(error.kind, 'conflict');
    if (reason) assert.deepEqual([error.message, error.causeName], [reason[0], reason[1]]);
    return true;
  });
}
