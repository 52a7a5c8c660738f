import assert from 'node:assert/strict';
import { each, texts } from '../support/each.ts';
import { assertRefused } from '../support/expected-responses.ts';
import { callOf, everyOperation, pathOf, posts, successOf, whileRefused, withId } from '../support/operations.ts';
import { callRaw, type RawRequest } from '../support/raw.ts';
import { withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant } from '../support/tenants.ts';

type Headers = NonNullable<RawRequest['headers']>;

const undecodable = texts('%', '%f', '%zz', '%ff', 'a%c3%28', '%ed%a0%80', '%c0%af', 'x%2');

const malformedKeys: Readonly<Record<string, Headers>> = {
  'an empty one': [['Idempotency-Key', '']],
  'one with a space': [['Idempotency-Key', 'a b']],
  'one with a tab': [['Idempotency-Key', 'a\tb']],
  'one with a letter beyond ASCII': [['Idempotency-Key', 'é']],
  'one of 256 characters': [['Idempotency-Key', 'k'.repeat(256)]],
  two: [
    ['Idempotency-Key', 'a'],
    ['Idempotency-Key', 'b'],
  ],
};

suite('a request', {
  'has a path that can be decoded, whoever asks': () =>
    withService((api) =>
      each(withId, (operation) =>
        whileRefused(api, operation, (ask) =>
          each(undecodable, async (id) => {
            for (const target of [pathOf(operation, id), `${pathOf(operation, id)}/`]) {
              assertRefused(await ask({ target }), 400, /path cannot be decoded/);
              assertRefused(await ask({ target, key: null }), 400, /path cannot be decoded/);
            }
          }),
        ),
      ),
    ),

  'has a query that can be decoded': () =>
    withService((api) =>
      each(everyOperation, (operation) =>
        whileRefused(api, operation, (ask, _, { ids }) =>
          each(undecodable, async (text) => {
            const path = pathOf(operation, ids.tags);
            for (const query of [text, `page=${text}`, `${text}=1`, `page=1&page=${text}`]) {
              assertRefused(await ask({ target: `${path}?${query}` }), 400, /query cannot be decoded/);
            }
          }),
        ),
      ),
    ),

  'has one Authorization header': () =>
    withService((api) =>
      each(everyOperation, (operation) =>
        whileRefused(api, operation, async (ask, body, { key }) => {
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
              const content: Headers = body ? [['Content-Type', 'application/json']] : [];
              const answer = await ask({ key: null, headers: [...content, ...headers] });
              assertRefused(answer, 400, /Two Authorization headers/);
            },
          );
        }),
      ),
    ),

  'has a well-formed Idempotency-Key on a POST, or none': () =>
    withService((api) =>
      each(posts, (operation) =>
        whileRefused(api, operation, (ask) =>
          each(malformedKeys, async (headers) => {
            const all: Headers = [['Content-Type', 'application/json'], ...headers];
            assertRefused(await ask({ headers: all }), 400, /Idempotency-Key/);
          }),
        ),
      ),
    ),

  'may have any Idempotency-Key where it does nothing': () =>
    withService((api) =>
      each(
        everyOperation.filter(([, { method }]) => method !== 'POST'),
        (operation) =>
          each(malformedKeys, async (headers) => {
            const tenant = await createTenant(api, 'tenant');
            const { path: target, body } = callOf(operation, tenant);
            const content: Headers = body ? [['Content-Type', 'application/json']] : [];
            const { status, headers: answered } = await callRaw(api, {
              method: operation.method,
              target,
              key: tenant.key,
              headers: [...content, ...headers],
              body: body && JSON.stringify(body),
            });
            assert.equal(status, successOf(operation));
            assert.equal(answered.get('idempotency-replayed'), null);
          }),
      ),
    ),

  'may name its target in full': () =>
    withService(async (api) => {
      const key = api.demo.apiKey;
      assert.equal((await callRaw(api, { method: 'GET', target: `${api.url}/domains`, key })).status, 200);
      const answer = await callRaw(api, { method: 'GET', target: `${api.url}/domains?no=1`, key });
      assertRefused(answer, 422, /^no: unknown field/);
    }),
});
