import assert from 'node:assert/strict';
import type { ApiResponse } from './service.ts';

export const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A valid ID that no record has. */
export const UNKNOWN_ID = '0190a000-0000-7000-8000-000000000000';

/** Returns the JSON of a response. Fails with the text of the response if the status differs. */
export function jsonOf(response: ApiResponse, status = 200): ApiResponse['json'] {
  assert.equal(response.status, status, response.text);
  return response.json;
}

/** The error codes of the specification by status. */
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

/**
 * Asserts that a response is an error: its status, exactly the error object, and a matching message. It must have
 * `Retry-After` only if it is a 429.
 */
export function assertError(response: ApiResponse, status: number, message: RegExp = /./, what = ''): void {
  assertErrorObject(response, status, message, what);
  assert.equal(response.headers.has('retry-after'), status === 429, `${what} ${response.text}`);
}

/** Asserts that a response is an error after which the same request can succeed in a second. */
export function assertTransientError(response: ApiResponse, status: number, message: RegExp = /./): void {
  assertErrorObject(response, status, message, '');
  assert.equal(response.headers.get('retry-after'), '1', response.text);
}

function assertErrorObject(response: ApiResponse, status: number, message: RegExp, what: string): void {
  assert.equal(response.status, status, `${what} ${response.text}`);
  assertHeaders(response);
  const code = expectedCodes[status] as string;
  const { error } = response.json;
  const { message: text, doc_url } = error;
  assert.deepEqual(response.json, { error: { code, message: text, doc_url } }, what);
  const anchor = code.replaceAll('_', '-');
  assert.match(doc_url, new RegExp(`^/docs/errors#${anchor}(?:-[a-z-]+)?$`), what);
  assert.match(error.message, message, what);
}

/**
 * Asserts that a response is a 422 whose message names these paths in this order: the first ten, and the number of the
 * others.
 */
export function assertInvalidFields(response: ApiResponse, paths: readonly string[], what = ''): void {
  assertError(response, 422, /./, what);
  assert.deepEqual(invalidFieldsOf(response), paths.slice(0, 10), `${what} ${response.text}`);
  const count = paths.length - 10;
  const others = /; (and \d+ more .*)$/.exec(response.json.error.message)?.[1];
  assert.equal(others, count > 0 ? `and ${count} more invalid field${count === 1 ? '' : 's'}` : undefined, what);
}

/** Returns the paths that the message of a 422 names, in order. */
export function invalidFieldsOf({ json }: ApiResponse): string[] {
  const problems: string[] = json.error.message.split('; ').filter((part: string) => !/^and \d+ more /.test(part));
  return problems.map((problem) => problem.split(': ')[0] as string);
}

/** Asserts the headers that every response of the API has. */
export function assertHeaders({ headers, text }: ApiResponse): void {
  assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  if (text !== '') assert.equal(headers.get('content-length'), String(Buffer.byteLength(text)));
}

const VARYING_HEADERS = ['x-request-id', 'date', 'ratelimit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/**
 * Returns a response without the request ID, the date and the rate limit headers, which can differ in each response.
 */
export function comparablePartOf({ status, headers, text }: ApiResponse) {
  return { status, headers: [...headers].filter(([name]) => !VARYING_HEADERS.includes(name)), text };
}

/** Asserts that a response is a 409. */
export function assertConflict(response: ApiResponse, what = ''): void {
  assertError(response, 409, /./, what);
}

/** Returns one field of each record of a list. */
export function fieldValuesOf(response: ApiResponse, field: string): unknown[] {
  return jsonOf(response).map((record: Record<string, unknown>) => record[field]);
}
