import assert from 'node:assert/strict';
import { CoreError } from '../../core/shared/core-error.ts';

/** Asserts that a promise rejects with `conflict`, and with the message if it is given. */
export async function assertRejectsWithConflict(rejected: Promise<unknown>, message?: string): Promise<void> {
  await assert.rejects(rejected, (error) => {
    assert.ok(error instanceof CoreError, String(error));
    assert.equal(error.kind, 'conflict');
    if (message !== undefined) assert.equal(error.message, message);
    return true;
  });
}
