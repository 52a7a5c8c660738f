import assert from 'node:assert/strict';
import { CoreError } from '../../core/shared/core-error.ts';

/** Expects a refusal with `conflict`, and its sentence where one is given. */
export async function assertConflict(refused: Promise<unknown>, sentence?: string): Promise<void> {
  await assert.rejects(refused, (error) => {
    assert.ok(error instanceof CoreError, String(error));
    assert.equal(error.kind, 'conflict');
    if (sentence !== undefined) assert.equal(error.message, sentence);
    return true;
  });
}
