import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import pino from 'pino';
import { createLogObserver } from '../../adapters/http/log.ts';
import type { RequestContext } from '../../adapters/http/request-context.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import type { Application } from '../../core/application.ts';
import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { assertError, assertTransientError, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

/** An error message that a response must not contain. */
const SECRET = 'mongodb://admin:hunter2@10.0.0.7 refused: E11000 in advocacy.campaigns';

/** A key that was not used before, so that its caller is not cached. */
const UNCACHED_KEY = createApiKeySecret('0'.repeat(32));

const fail = () => Promise.reject(new Error(SECRET));

/** Use cases that are made to fail, each with a request that calls the use case. */
const failures: readonly (readonly [
  use: (app: Application) => object,
  method: string,
  path: string,
  options?: { body?: object; key?: string },
])[] = [
  [(app) => Object.assign(app.campaigns, { list: fail }), 'GET', '/campaigns'],
  [(app) => Object.assign(app.campaigns, { get: fail }), 'GET', `/campaigns/${UNKNOWN_ID}`],
  [(app) => Object.assign(app.tags, { create: fail }), 'POST', '/tags', { body: { name: 'x' } }],
  [(app) => Object.assign(app.tags, { update: fail }), 'PATCH', `/tags/${UNKNOWN_ID}`, { body: { name: 'x' } }],
  [(app) => Object.assign(app.contentPillars, { remove: fail }), 'DELETE', `/content-pillars/${UNKNOWN_ID}`],
  [(app) => Object.assign(app.apiKeys, { authenticate: fail }), 'GET', '/domains', { key: UNCACHED_KEY }],
];

/** Runs a test with a service. `takeFailures` returns the log lines of the errors since the last call. */
// biome-ignore lint/suspicious/noExplicitAny: each test asserts the shape that it expects
function withLog(test: (api: Api, takeFailures: () => any[]) => Promise<void>): Promise<void> {
  const lines: string[] = [];
  const takeFailures = () =>
    lines
      .splice(0)
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === 'request failed');
  return withService((api) => test(api, takeFailures), { log: { write: (line) => void lines.push(line) } });
}

suite('an unexpected error', {
  'becomes a response with status 500 without internals, and a log line with details and the request ID of the response':
    () =>
      withLog(async ({ app, call }, takeFailures) => {
        for (const [makeFail, method, path, options] of failures) {
          makeFail(app);
          const response = await call(method, path, options);
          assertError(response, 500);
          const sent = [...response.headers.values(), response.text];
          assert.ok(!sent.some((value) => /mongodb|hunter2|E11000|storage|\.ts/i.test(value)), response.text);
          const [failure, ...others] = takeFailures();
          assert.equal(others.length, 0);
          assert.equal(failure.requestId, response.headers.get('x-request-id'));
          assert.equal(failure.err.message, SECRET);
          assert.match(failure.err.stack, /failure\.test/);
        }
        assert.equal((await call('GET', '/healthz')).status, 200);
      }),

  'is logged with its causes, but without records that a driver adds to an error or quotes in a message': () => {
    const logged: string[] = [];
    const log = pino(new Writable({ write: (line, _, done) => done(void logged.push(String(line))) }));
    const cause = new AggregateError([new Error('away: { name: "confidential" }')], 'tried "confidential"');
    const error = Object.assign(new Error('refused: { name: "confidential\n    at }" } in tags', { cause }), {
      code: 121,
      writeErrors: [{ op: { name: 'confidential' } }],
    });
    createLogObserver(log).onError({} as RequestContext, error);
    const { err } = JSON.parse(logged.join());
    assert.deepEqual([err.type, err.message, err.code], ['Error', 'refused: …', 121]);
    assert.match(err.stack, /^Error: refused: …\n {4}at .*failure\.test/);
    assert.deepEqual([err.cause.message, err.cause.errors[0].message], ['tried …', 'away: …']);
    createLogObserver(log).onError({} as RequestContext, '"confidential"');
    assert.equal(logged.join().includes('confidential'), false);
  },
});

suite('an unavailable storage', {
  'becomes a response with status 500 and Retry-After': () =>
    withLog(async ({ app, call }, takeFailures) => {
      app.tags.list = () => Promise.reject(new StorageUnavailable(SECRET));
      assertTransientError(await call('GET', '/tags'), 500);
      assert.equal(takeFailures()[0].err.message, SECRET);
    }),
});

suite('a list that takes long', {
  'is told when its client has gone': () =>
    withService(async ({ app, url }) => {
      let isAbandoned: (() => boolean) | undefined;
      app.tags.list = async (_, query) => {
        isAbandoned = query.isAbandoned;
        await waitUntil(() => query.isAbandoned?.() === true);
        return { items: [], hasNext: false };
      };
      const client = new AbortController();
      const headers = { Authorization: `Bearer ${DEMO_API_KEY}` };
      const request = fetch(`${url}/tags?search=x`, { headers, signal: client.signal });
      await waitUntil(() => isAbandoned !== undefined);
      assert.equal(isAbandoned?.(), false);
      client.abort();
      await assert.rejects(request);
      await waitUntil(() => isAbandoned?.() === true);
    }),
});

suite('readiness', {
  'names the unavailable component, and logs the cause once per outage': () =>
    withLog(async ({ app, call }, takeFailures) => {
      const checkReadiness = async (checkReady: () => Promise<void>) => {
        app.checkReady = checkReady;
        const { status, json } = await call('GET', '/readyz');
        return [status, json, takeFailures().map(({ err }) => err.message)];
      };
      const missing = { status: 'unavailable', missing: 'storage' };
      for (let outage = 0; outage < 2; outage++) {
        assert.deepEqual(await checkReadiness(fail), [503, missing, [SECRET]]);
        assert.deepEqual(await checkReadiness(fail), [503, missing, []]);
        assert.deepEqual(await checkReadiness(async () => undefined), [200, { status: 'ready' }, []]);
      }
    }),
});
