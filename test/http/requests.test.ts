import assert from 'node:assert/strict';
import { each, textCases, withCases } from '../support/each.ts';
import { assertError } from '../support/expected-responses.ts';
import {
  allOperations,
  assertChangesNothing,
  operationsWithId,
  postOperations,
  toPath,
} from '../support/operations.ts';
import { callRaw, type RawRequest } from '../support/raw-requests.ts';
import { withService, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

type Headers = NonNullable<RawRequest['headers']>;

const undecodable = textCases('%', '%f', '%zz', '%ff', 'a%c3%28', '%ed%a0%80', '%c0%af', 'x%2');

const malformedIdempotencyKeys: Readonly<Record<string, Headers>> = {
  'an empty key': [['Idempotency-Key', '']],
  'a key with a space': [['Idempotency-Key', 'a b']],
  'a key with a tab': [['Idempotency-Key', 'a\tb']],
  'a key with a letter beyond ASCII': [['Idempotency-Key', 'é']],
  'a key of 256 characters': [['Idempotency-Key', 'k'.repeat(256)]],
  'two keys': [
    ['Idempotency-Key', 'a'],
    ['Idempotency-Key', 'b'],
  ],
};

suite('a request', {
  'must have a path that can be decoded, whether or not it has a key': () =>
    withSharedService((api) =>
      each(operationsWithId, (operation) =>
        assertChangesNothing(api, operation, (ask) =>
          each(undecodable, async (id) => {
            for (const target of [toPath(operation, id), `${toPath(operation, id)}/`]) {
              assertError(await ask({ target }), 400, /path cannot be decoded/);
              assertError(await ask({ target, key: null }), 400, /path cannot be decoded/);
            }
          }),
        ),
      ),
    ),

  'must have a query that can be decoded': () =>
    withSharedService((api) =>
      each(withCases(allOperations, undecodable), ({ row: operation, cases }) =>
        assertChangesNothing(api, operation, (ask, _, { ids }) =>
          each(cases, async (text) => {
            const path = toPath(operation, ids.tags);
            for (const query of [text, `page=${text}`, `${text}=1`, `page=1&page=${text}`]) {
              assertError(await ask({ target: `${path}?${query}` }), 400, /query cannot be decoded/);
            }
          }),
        ),
      ),
    ),

  'must not have more than one Authorization header': () =>
    withSharedService((api) =>
      each(allOperations, (operation) =>
        assertChangesNothing(api, operation, async (ask, body, { key }) => {
          const good = `Bearer ${key}`;
          const two = [
            [good, good],
            [good, 'Bearer another'],
            ['Bearer another', good],
            [good, 'Basic abc'],
            ['', good],
            [good, ''],
          ];
          await each(
            two.map((values) => [values.join(), values] as const),
            async (values) => {
              const headers = values.map((value, at) => [at ? 'authorization' : 'Authorization', value] as const);
              const contentType: Headers = body ? [['Content-Type', 'application/json']] : [];
              const response = await ask({ key: null, headers: [...contentType, ...headers] });
              assertError(response, 400, /More than one Authorization header/);
            },
          );
        }),
      ),
    ),

  'must not have a malformed Idempotency-Key if it is a POST': () =>
    withSharedService((api) =>
      each(postOperations, (operation) =>
        assertChangesNothing(api, operation, (ask) =>
          each(malformedIdempotencyKeys, async (headers) => {
            const all: Headers = [['Content-Type', 'application/json'], ...headers];
            assertError(await ask({ headers: all }), 400, /Idempotency-Key/);
          }),
        ),
      ),
    ),

  'may have an absolute URL as its target': () =>
    withService(async (api) => {
      const key = api.demo.apiKey;
      assert.equal((await callRaw(api, { method: 'GET', target: `${api.url}/domains`, key })).status, 200);
      const response = await callRaw(api, { method: 'GET', target: `${api.url}/domains?no=1`, key });
      assertError(response, 422, /^no: unknown field/);
    }),
});
