import assert from 'node:assert/strict';
import type { Answer } from './service.ts';

export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An id in the form of one, of no record. */
export const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000';

/** The JSON of an answer that has the status; fails with the text of one that has not. */
export function jsonOf(answer: Answer, status = 200): Answer['json'] {
  assert.equal(answer.status, status, answer.text);
  return answer.json;
}

/** Fails unless the answer is the refusal of this status and code. */
export function assertRefused(answer: Answer, status: number, code: string, what = ''): void {
  assert.equal(answer.status, status, `${what} ${answer.text}`);
  assert.deepEqual(Object.keys(answer.json), ['error'], what);
  assert.equal(answer.json.error.code, code, what);
}

/** Fails unless the answer is a 422 whose message names exactly these fields. */
export function assertFaults(answer: Answer, paths: readonly string[], what = ''): void {
  assertRefused(answer, 422, 'unprocessable_entity', what);
  const named = answer.json.error.message.split('; ').map((fault: string) => fault.split(': ')[0]);
  assert.deepEqual(named, paths, `${what} ${answer.text}`);
}

/** Fails unless the answer is the 404 of an id that names no record here. */
export function assertNotFound(answer: Answer, what = ''): void {
  assertRefused(answer, 404, 'not_found', what);
}

/** Fails unless the answer is a 409. */
export function assertConflict(answer: Answer, what = ''): void {
  assertRefused(answer, 409, 'conflict', what);
}

/** What a list answers, one field of each record. */
export function valuesOf(answer: Answer, field: string): unknown[] {
  return jsonOf(answer).map((record: Record<string, unknown>) => record[field]);
}
