import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import { createHttpService } from '../../adapters/http/http-server.ts';
import { createLogObserver } from '../../adapters/http/log.ts';
import type { RequestContext } from '../../adapters/http/responder.ts';
import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { createStorage } from '../../adapters/persistence/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { Application } from '../../core/application.ts';
import type { Storage } from '../../core/storage.ts';
import { suite } from '../support/suite.ts';

/** An error message that a response must not contain. */
const SECRET = 'mongodb://admin:hunter2@10.0.0.7 refused: E11000 in advocacy.campaigns';
const KEY = createApiKeySecret('f'.repeat(32));
const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };

const requests = [
  ['GET', '/campaigns'],
  ['GET', '/campaigns/01890000-0000-7000-8000-000000000000'],
  ['POST', '/tags', '{"name":"x"}'],
  ['PATCH', '/tags/01890000-0000-7000-8000-000000000000', '{"name":"x"}'],
  ['DELETE', '/content-pillars/01890000-0000-7000-8000-000000000000'],
] as const;

suite('an unexpected error', {
  'becomes a response with status 500 without internals, and a log line with its details and the same request id': () =>
    withFailures(async ({ url, takeFailures, storage }) => {
      storage.isFailing = true;
      for (const [method, path, body] of requests) {
        const response = await fetch(url + path, { method, headers, ...(body && { body }) });
        const text = await response.text();
        assert.equal(response.status, 500);
        assert.deepEqual(Object.keys(JSON.parse(text).error), ['code', 'message', 'doc_url']);
        assert.equal(JSON.parse(text).error.code, 'internal_server_error');
        assert.ok(
          ![...response.headers.values(), text].some((value) => /mongodb|hunter2|E11000|storage|\.ts/i.test(value)),
          text,
        );
        const [failure, ...others] = takeFailures();
        assert.equal(others.length, 0);
        assert.equal(failure.requestId, response.headers.get('x-request-id'));
        assert.equal(failure.err.message, SECRET);
        assert.match(failure.err.stack, /failure\.test/);
      }
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
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

suite('readiness', {
  'names the unavailable component, and logs the cause once per outage': () =>
    withFailures(async ({ url, takeFailures, storage }) => {
      const checkReadiness = async () => {
        const response = await fetch(`${url}/readyz`);
        return [response.status, await response.json(), takeFailures().map(({ err }) => err.message)];
      };
      const missing = { status: 'unavailable', missing: 'storage' };
      for (let outage = 0; outage < 2; outage++) {
        storage.isFailing = true;
        assert.deepEqual(await checkReadiness(), [503, missing, [SECRET]]);
        assert.deepEqual(await checkReadiness(), [503, missing, []]);
        storage.isFailing = false;
        assert.deepEqual(await checkReadiness(), [200, { status: 'ready' }, []]);
      }
    }),
});

interface FailingService {
  readonly url: string;
  readonly storage: { isFailing: boolean };
  /** Returns the log lines of the errors since the last call. */
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the shape that it expects
  takeFailures(): any[];
}

/** Runs a test with a service whose storage can be made to fail. */
async function withFailures(test: (service: FailingService) => Promise<void>): Promise<void> {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, new Writable({ write: (line, _, done) => done(void lines.push(String(line))) }));
  const failing = await createFailingStorage();
  const app = new Application(failing.storage, createNodeSystem());
  const limiter = createMemoryRateLimiter(1000, 60);
  const { server } = createHttpService(
    { app, requestLimiter: limiter, refusalLimiter: limiter },
    { bodyLimit: 1000, docsUrl: '/docs', trustProxy: false },
    [createLogObserver(log)],
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await test({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      storage: failing,
      takeFailures: () =>
        lines
          .splice(0)
          .map((line) => JSON.parse(line))
          .filter(({ msg }) => msg === 'request failed'),
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Creates a storage with a key. Each of its methods throws while `isFailing` is set. */
async function createFailingStorage(): Promise<{ storage: Storage; isFailing: boolean }> {
  const working = createStorage(createMemoryEngine(Date.now));
  const makeBreakable = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name: string & keyof T) => {
        const value = target[name];
        if (typeof value !== 'function') return makeBreakable(value as object);
        return async (...args: unknown[]) => {
          if (failing.isFailing) throw new Error(SECRET);
          return value(...args);
        };
      },
    });
  const app = new Application(working, createNodeSystem());
  const { id } = await app.workspaces.create('Northwind');
  await app.apiKeys.create(id, { secret: KEY });
  const failing = { storage: { ...makeBreakable(working), now: working.now }, isFailing: false };
  return failing;
}
