import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AdvocacyClient, AdvocacyError, type ClientOptions, type Schemas } from '../../clients/typescript/client.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { holdNextTransaction } from '../support/hold-transaction.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

/** No service has this port. */
const UNUSED_URL = 'http://127.0.0.1:9';

const createClient = (baseUrl: string, options: Partial<ClientOptions> = {}) =>
  new AdvocacyClient({ baseUrl, key: DEMO_API_KEY, ...options });

/** A way in which a proxy loses a response of the service. */
type Fault = (to: ServerResponse, body: Buffer, response: IncomingMessage) => void;

/** The faults of an unreliable network. The service has executed the request in all of them. */
const faults = {
  'a lost response': (to) => to.destroy(),
  'half a response': (to, body, { headers }) => {
    to.writeHead(201, { 'Content-Length': headers['content-length'] });
    to.write(body.subarray(0, body.length / 2), () => to.destroy());
  },
  'an error of a proxy': (to) => to.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>'),
  'a response that takes too long': doNothing,
} as const satisfies Record<string, Fault>;

interface Proxy {
  readonly url: string;
  /** The requests so far. */
  readonly requests: IncomingMessage[];
}

/** Runs a proxy of the service below the path `/prefix`. The faults replace the first responses. */
async function withProxy(target: string, faults: readonly Fault[], test: (proxy: Proxy) => Promise<void>) {
  const requests: IncomingMessage[] = [];
  const server = createServer((from, to) => {
    const fault = faults[requests.length];
    requests.push(from);
    const { method, headers, url = '' } = from;
    if (!url.startsWith('/prefix/')) {
      to.writeHead(404).end();
      return;
    }
    const forwarded = request(target + url.slice('/prefix'.length), { method, headers }, async (response) => {
      const chunks: Buffer[] = await collectAll(response);
      const body = Buffer.concat(chunks);
      if (fault) fault(to, body, response);
      else to.writeHead(response.statusCode ?? 502, response.headers).end(body);
    });
    // The service may stop while a test abandons a request.
    from.pipe(forwarded.on('error', () => to.destroy()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    await test({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/prefix`, requests });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Returns the error of a rejected promise. */
const getError = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail('the promise is fulfilled'),
    (error: unknown) => error,
  );

/** Asserts that a promise is rejected with an `AdvocacyError`, and returns the error. */
async function getAdvocacyError(promise: Promise<unknown>): Promise<AdvocacyError> {
  const error = await getError(promise);
  assert.ok(error instanceof AdvocacyError, String(error));
  return error;
}

/**
 * Starts a request to create a tag with the idempotency key `key`. The request fails when the returned function is
 * called.
 */
async function startHangingRequest({ app }: Api): Promise<() => void> {
  const { keyId, workspaceId } = (await app.apiKeys.authenticate(DEMO_API_KEY)).caller;
  const request = { workspaceId, keyId, idempotencyKey: 'key', fingerprint: '' };
  const { held, release } = holdNextTransaction(app);
  app.runOnce(request, () => Promise.reject(new Error('the request fails'))).catch(doNothing);
  await held;
  return release;
}

suite('the TypeScript client', {
  'iterates over the pages of a filtered list, even if the base URL has a path': () =>
    withService(async ({ url, call }) => {
      const expected = (await call('GET', '/campaigns?includeArchived=true&domain=go.northwind.example')).json;
      assert.ok(expected.length > 5, String(expected.length));
      await withProxy(url, [], async (proxy) => {
        const query = { includeArchived: true, domain: 'go.northwind.example', pageSize: 2 };
        const campaigns = await collectAll(createClient(proxy.url).list('/campaigns', { query }));
        assert.deepEqual(campaigns, expected);
        assert.equal(proxy.requests.length, Math.ceil(expected.length / 2));
      });
    }),

  'requests a page only when its records are needed': () =>
    withService(({ url }) =>
      withProxy(url, [], async (proxy) => {
        for await (const { name } of createClient(`${proxy.url}/`).list('/tags', { query: { pageSize: 1 } })) {
          assert.ok(name);
          break;
        }
        assert.equal(proxy.requests.length, 1);
      }),
    ),

  'iterates over the events after a sequence, and waits for further ones if it polls': () =>
    withService(async ({ url, call }) => {
      const client = createClient(url);
      const createTag = () => client.request('POST', '/tags', { body: { name: 'irrelevant' } });
      let count = 0;
      const createMember = () =>
        client.request('POST', '/members', { body: { name: 'Kim', email: `kim-${count++}@example.com` } });
      for (let i = 0; i < 5; i++) await createMember();
      const expected = (await call('GET', '/events?pageSize=100')).json;
      assert.ok(expected.length >= 5);
      assert.deepEqual(await collectAll(client.events({ pageSize: 2 })), expected);
      const after = expected.at(-4).sequence;
      assert.deepEqual(await collectAll(client.events({ after, pageSize: 2 })), expected.slice(-3));
      const types = ['domain.verified'] as const;
      assert.deepEqual(await collectAll(client.events({ after, types })), []);

      const controller = new AbortController();
      const last = expected.at(-1).sequence;
      const events = client.events({ after: last, pollIntervalMs: 1, signal: controller.signal });
      const next = events.next();
      await createTag();
      const { id } = await createMember();
      assert.deepEqual((await next).value?.data, { memberId: id });
      const waiting = events.next();
      controller.abort(new Error('enough'));
      await assert.rejects(waiting, /enough/);
    }),

  'sends arrays, booleans and encoded text in queries and paths': () =>
    withService(async ({ url, call }) => {
      const client = createClient(url);
      const tags = ['a & b', 'c+d', 'é/?#'];
      for (const name of tags) await client.request('POST', '/tags', { body: { name } });
      for (const name of tags) {
        const [tag] = await collectAll(client.list('/tags', { query: { search: name } }));
        assert.equal(tag?.name, name);
      }
      const all = (await call('GET', '/campaigns')).json;
      const query = { tagNames: ['launch', 'hiring'], includeArchived: false };
      const found = await client.request('GET', '/campaigns', { query });
      assert.ok(found.length > 0 && found.length < all.length);
      const error = await getAdvocacyError(client.request('GET', '/tags/{id}', { path: { id: '../me?x=#' } }));
      assert.equal(error.code, 'not_found');
    }),

  'sends no request for an ID that would change the path': () =>
    withService(({ url }) =>
      withProxy(url, [], async (proxy) => {
        for (const id of ['', '.', '..']) {
          const error = await getError(createClient(proxy.url).request('DELETE', '/tags/{id}', { path: { id } }));
          assert.equal(String(error), `TypeError: The path parameter id is "${id}". Set it to the ID of a record.`);
          const list = createClient(proxy.url).list('/campaigns/{id}/shares', { path: { id } });
          assert.match(String(await getError(collectAll(list))), /path parameter id/);
        }
        assert.equal(proxy.requests.length, 0);
        for (const id of ['%2e%2e', '...', '../..', './x', '.\t.', '\\..', '%2F..']) {
          const error = await getAdvocacyError(
            createClient(`${proxy.url}/`).request('GET', '/campaigns/{id}/brief', { path: { id } }),
          );
          assert.match(`${error.code} ${error.message}`, /^not_found No such campaign/, id);
        }
      }),
    ),

  'creates one record if the first response does not arrive': () =>
    withService(({ url }) =>
      each(faults, (fault, name) =>
        withProxy(url, [fault], async (proxy) => {
          const replayed: (string | null)[] = [];
          const client = createClient(proxy.url, {
            timeoutMs: 1000,
            fetch: async (...args) => {
              const response = await fetch(...args);
              replayed.push(response.headers.get('Idempotency-Replayed'));
              return response;
            },
          });
          const tag = await client.request('POST', '/tags', { body: { name } });
          assert.deepEqual(await collectAll(client.list('/tags', { query: { search: name } })), [tag]);
          const [first, second] = proxy.requests.map(({ headers }) => headers['idempotency-key']);
          assert.ok(first && first === second, 'both attempts have the same key');
          assert.equal(replayed.filter((value) => value === 'true').length, 1);
        }),
      ),
    ),

  'uses a new idempotency key for each call, unless the caller passes a key': () =>
    withService(({ url }) =>
      withProxy(url, [], async (proxy) => {
        const client = createClient(proxy.url);
        await client.request('POST', '/groups', { body: { name: 'one' } });
        await client.request('POST', '/groups', { body: { name: 'two' } });
        const three = await client.request('POST', '/groups', { body: { name: 'three' }, idempotencyKey: 'mine' });
        const again = await client.request('POST', '/groups', { body: { name: 'three' }, idempotencyKey: 'mine' });
        assert.deepEqual(again, three);
        const keys = proxy.requests.map(({ headers }) => headers['idempotency-key']);
        assert.equal(new Set(keys).size, 3);
        assert.equal(keys[2], 'mine');
        await client.request('GET', '/me');
        assert.equal(proxy.requests.at(-1)?.headers['idempotency-key'], undefined);
      }),
    ),

  'retries a POST while an earlier attempt with the same idempotency key is in progress': () =>
    withService(async (api) => {
      const finish = await startHangingRequest(api);
      await withProxy(api.url, [faults['a lost response']], async (proxy) => {
        const tag = createClient(proxy.url).request('POST', '/tags', { body: { name: 'late' }, idempotencyKey: 'key' });
        setTimeout(finish, 1500);
        assert.equal((await tag).name, 'late');
        assert.ok(proxy.requests.length > 2, 'an attempt was rejected with 409');
      });
    }),

  'waits as many seconds as Retry-After says': () =>
    withService(
      async ({ url }) => {
        const client = createClient(url);
        const before = performance.now();
        for (let times = 0; times < 4; times++) await client.request('GET', '/me');
        assert.ok(performance.now() - before > 1000);
      },
      { settings: { RATE_LIMIT_POINTS: '3', RATE_LIMIT_WINDOW_SECONDS: '2' } },
    ),

  'rejects at once if Retry-After is longer than the client may wait': () =>
    withService(
      async ({ url }) => {
        const client = createClient(url, { maxRetryAfterMs: 5000 });
        await client.request('GET', '/me');
        const before = performance.now();
        const { status, code } = await getAdvocacyError(client.request('GET', '/me'));
        assert.deepEqual([status, code], [429, 'rate_limit_exceeded']);
        assert.ok(performance.now() - before < 5000);
      },
      { settings: { RATE_LIMIT_POINTS: '1', RATE_LIMIT_WINDOW_SECONDS: '3600' } },
    ),

  'retries until the service is available again': () =>
    withService(async ({ url }) => {
      let attempts = 0;
      const client = createClient(url, {
        fetch: (target, init) => fetch(attempts++ < 2 ? UNUSED_URL : target, init),
      });
      assert.equal(
        (await client.request('POST', '/tags', { body: { name: 'after an outage' } })).name,
        'after an outage',
      );
      assert.equal(attempts, 3);
    }),

  'rejects with the error of fetch after the last attempt': async () => {
    let attempts = 0;
    const client = createClient(UNUSED_URL, {
      maxAttempts: 2,
      fetch: (...args) => {
        attempts++;
        return fetch(...args);
      },
    });
    assert.ok((await getError(client.request('GET', '/me'))) instanceof TypeError);
    assert.equal(attempts, 2);
  },

  'does not retry a request with an invalid field or a name that is taken': () =>
    withService(({ url }) =>
      withProxy(url, [], async (proxy) => {
        const client = createClient(proxy.url);
        const error = await getAdvocacyError(client.request('POST', '/tags', { body: { name: 'a,b' } }));
        assert.equal(proxy.requests.length, 1);
        const { name, status, code, message, docUrl } = error;
        assert.deepEqual(
          { name, status, code, message, docUrl },
          {
            name: 'AdvocacyError',
            status: 422,
            code: 'unprocessable_entity',
            message: 'name: must not contain a comma',
            docUrl: `${new URL(proxy.url).origin}/docs/errors#unprocessable-entity`,
          },
        );
        assert.match(error.requestId ?? '', /^[0-9a-f-]{36}$/);
        await client.request('POST', '/tags', { body: { name: 'twice' } });
        const conflict = await getAdvocacyError(client.request('POST', '/tags', { body: { name: 'twice' } }));
        assert.deepEqual([conflict.status, conflict.code], [409, 'conflict']);
        assert.equal(proxy.requests.length, 3);
      }),
    ),

  'describes an error response that is not from the service': () =>
    withService(({ url }) =>
      withProxy(url, [faults['an error of a proxy']], async (proxy) => {
        const error = await getAdvocacyError(createClient(proxy.url, { maxAttempts: 1 }).request('GET', '/me'));
        assert.deepEqual(
          [error.status, error.code, error.message, error.docUrl, error.requestId],
          [502, undefined, 'The response has status 502.', undefined, undefined],
        );
      }),
    ),

  'rejects with the reason of an abort during an attempt': () =>
    withService(({ url }) =>
      withProxy(url, [faults['a response that takes too long']], async (proxy) => {
        const controller = new AbortController();
        const error = getError(createClient(proxy.url).request('GET', '/me', { signal: controller.signal }));
        await waitUntil(() => proxy.requests.length === 1);
        controller.abort(new Error('enough'));
        assert.equal(String(await error), 'Error: enough');
        const { signal } = controller;
        assert.equal(String(await getError(collectAll(createClient(url).list('/tags', { signal })))), 'Error: enough');
      }),
    ),

  'rejects with the reason of an abort between two attempts': () =>
    withService(
      async ({ url }) => {
        const client = createClient(url, { maxRetryAfterMs: 3_600_000 });
        await client.request('GET', '/me');
        const signal = AbortSignal.timeout(300);
        assert.equal(await getError(client.request('GET', '/me', { signal })), signal.reason);
      },
      { settings: { RATE_LIMIT_POINTS: '1', RATE_LIMIT_WINDOW_SECONDS: '3600' } },
    ),

  'rejects wrong paths, parameters and fields at compile time': () => {
    const client = createClient(UNUSED_URL);
    const body = { name: 'a tag' };
    // Compiled, but never called.
    const calls = [
      // @ts-expect-error there is no such path
      () => client.request('GET', '/labels'),
      // @ts-expect-error the path has no such operation
      () => client.request('DELETE', '/domains/{id}', { path: { id: '' } }),
      // @ts-expect-error the path has an ID
      () => client.request('GET', '/tags/{id}'),
      // @ts-expect-error the body is required
      () => client.request('POST', '/tags'),
      // @ts-expect-error the body has no such field
      () => client.request('POST', '/tags', { body: { name: '', colour: 'red' } }),
      // @ts-expect-error a field has another type
      () => client.request('POST', '/tags', { body: { name: 1 } }),
      // @ts-expect-error the operation has no body
      () => client.request('GET', '/tags', { body }),
      // @ts-expect-error the operation has no such parameter
      () => client.request('GET', '/tags', { query: { filter: 'active' } }),
      // @ts-expect-error a parameter has another value
      () => client.list('/campaigns', { query: { filter: 'past' } }),
      // @ts-expect-error not a list
      () => client.list('/me'),
      // @ts-expect-error the response has no such field
      async () => (await client.request('POST', '/tags', { body })).colour,
      async (): Promise<Schemas['Tag']> => client.request('POST', '/tags', { body }),
      async (): Promise<readonly Schemas['Tag'][]> => client.request('GET', '/tags'),
    ];
    assert.equal(calls.length, 13);
  },
});
