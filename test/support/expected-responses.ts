import assert from 'node:assert/strict';
import type { ApiResponse } from './service.ts';

export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** An id in the form of one, of no record. */
export const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000';

/** The JSON of an answer that has the status; fails with the text of one that has not. */
export function jsonOf(answer: ApiResponse, status = 200): ApiResponse['json'] {
  assert.equal(answer.status, status, answer.text);
  return answer.json;
}

/** The codes of the specification by their statuses. */
export const expectedCodes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'invite_expired',
  422: 'unprocessable_entity',
  429: 'rate_limit_exceeded',
  500: 'internal_server_error',
};

/** The answer is a refusal: the status, the error object to the letter, and a message that matches. */
export function assertError(answer: ApiResponse, status: number, message: RegExp = /./, what = ''): void {
  assert.equal(answer.status, status, `${what} ${answer.text}`);
  assertHeaders(answer);
  const code = expectedCodes[status] as string;
  const { error } = answer.json;
  const doc_url = `/docs/errors#${code.replaceAll('_', '-')}`;
  assert.deepEqual(answer.json, { error: { code, message: error.message, doc_url } }, what);
  assert.match(error.message, message, what);
}

/** A 422 whose message says of each of these paths what is wrong with it, and of nothing else. */
export function assertInvalidFields(answer: ApiResponse, paths: readonly string[], what = ''): void {
  assertError(answer, 422, /./, what);
  assert.deepEqual(invalidFieldsOf(answer), paths, `${what} ${answer.text}`);
}

/** The paths that the message of a 422 names, in their order. */
export function invalidFieldsOf({ json }: ApiResponse): string[] {
  return json.error.message.split('; ').map((fault: string) => fault.split(': ')[0]);
}

/** The headers of every reply of the API. */
export function assertHeaders({ headers, text }: ApiResponse): void {
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  if (text !== '') assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)));
}

const VARYING = ['x-request-id', 'date', 'ratelimit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/** All of an answer but its request's id, the time, and the count of requests. */
export function comparablePartOf({ status, headers, text }: ApiResponse) {
  return { status, headers: [...headers].filter(([name]) => !VARYING.includes(name)), text };
}

/** Fails unless the answer is the 404 of an id that names no record here. */
export function assertNotFound(answer: ApiResponse, what = ''): void {
  assertError(answer, 404, /./, what);
}

/** Fails unless the answer is a 409. */
export function assertConflict(answer: ApiResponse, what = ''): void {
  assertError(answer, 409, /./, what);
}

/** What a list answers, one field of each record. */
export function fieldValuesOf(answer: ApiResponse, field: string): unknown[] {
  return jsonOf(answer).map((record: Record<string, unknown>) => record[field]);
}
