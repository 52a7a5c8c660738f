import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import { createHttpService } from '../../adapters/http/http-server.ts';
import { logObserver } from '../../adapters/http/log.ts';
import type { RequestContext } from '../../adapters/http/responder.ts';
import { memoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { memoryStorage } from '../../adapters/memory/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import type { Storage } from '../../core/storage.ts';
import { suite } from '../support/suite.ts';

const SECRET = 'mongodb://admin:hunter2@10.0.0.7 refused: E11000 in advocacy.campaigns';
const KEY = 'demo-key-of-the-failures';
const headers = { Authorization: `Bearer ${KEY}`, 'Content-Type': 'application/json' };

const requests = [
  ['GET', '/campaigns'],
  ['GET', '/campaigns/01890000-0000-7000-8000-000000000000'],
  ['POST', '/tags', '{"name":"x"}'],
  ['PATCH', '/tags/01890000-0000-7000-8000-000000000000', '{"name":"x"}'],
  ['DELETE', '/content-pillars/01890000-0000-7000-8000-000000000000'],
] as const;

suite('an unexpected failure', {
  'is a 500 that tells nothing of the inside, and one log line that tells all, joined by the request id': () =>
    withFailures(async ({ url, failures, storage }) => {
      storage.fails = true;
      for (const [method, path, body] of requests) {
        const reply = await fetch(url + path, { method, headers, ...(body && { body }) });
        const text = await reply.text();
        assert.equal(reply.status, 500);
        assert.deepEqual(Object.keys(JSON.parse(text).error), ['code', 'message', 'doc_url']);
        assert.equal(JSON.parse(text).error.code, 'internal_server_error');
        assert.ok(
          ![...reply.headers.values(), text].some((told) => /mongodb|hunter2|E11000|storage|\.ts/i.test(told)),
          text,
        );
        const [failure, ...others] = failures();
        assert.equal(others.length, 0);
        assert.equal(failure.requestId, reply.headers.get('x-request-id'));
        assert.equal(failure.err.message, SECRET);
        assert.match(failure.err.stack, /failure\.test/);
      }
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    }),

  'is logged with its causes, but without the records that a driver adds to its errors or quotes in their messages':
    () => {
      const logged: string[] = [];
      const log = pino(new Writable({ write: (line, _, done) => done(void logged.push(String(line))) }));
      const tried = new AggregateError([new Error('away: { name: "confidential" }')], 'tried "confidential"');
      const refused = Object.assign(
        new Error('refused: { name: "confidential\n    at }" } in tags', { cause: tried }),
        {
          code: 121,
          writeErrors: [{ op: { name: 'confidential' } }],
        },
      );
      logObserver(log).onError({} as RequestContext, refused);
      const { err } = JSON.parse(logged.join());
      assert.deepEqual([err.type, err.message, err.code], ['Error', 'refused: …', 121]);
      assert.match(err.stack, /^Error: refused: …\n {4}at .*failure\.test/);
      assert.deepEqual([err.cause.message, err.cause.errors[0].message], ['tried …', 'away: …']);
      logObserver(log).onError({} as RequestContext, '"confidential"');
      assert.equal(logged.join().includes('confidential'), false);
    },
});

suite('readiness', {
  'names what is missing, and logs what is wrong with it once for each outage': () =>
    withFailures(async ({ url, failures, storage }) => {
      const ready = async () => {
        const reply = await fetch(`${url}/readyz`);
        return [reply.status, await reply.json(), failures().map(({ err }) => err.message)];
      };
      const missing = { status: 'unavailable', missing: 'storage' };
      for (let outage = 0; outage < 2; outage++) {
        storage.fails = true;
        assert.deepEqual(await ready(), [503, missing, [SECRET]]);
        assert.deepEqual(await ready(), [503, missing, []]);
        storage.fails = false;
        assert.deepEqual(await ready(), [200, { status: 'ready' }, []]);
      }
    }),
});

interface Scene {
  readonly url: string;
  readonly storage: { fails: boolean };
  /** What was logged as a failure since it was asked last. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
  failures(): any[];
}

/** Serves on a storage that fails when it is told to. */
async function withFailures(test: (scene: Scene) => Promise<void>): Promise<void> {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, new Writable({ write: (line, _, done) => done(void lines.push(String(line))) }));
  const failing = await failingStorage();
  const app = new Application(failing.storage, createNodeSystem(KEY));
  const limiter = memoryRateLimiter(1000, 60);
  const { server } = createHttpService(
    { app, requestLimiter: limiter, refusalLimiter: limiter },
    { bodyLimit: 1000, docsUrl: '/docs', trustProxy: false },
    [logObserver(log)],
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await test({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      storage: failing,
      failures: () =>
        lines
          .splice(0)
          .map((line) => JSON.parse(line))
          .filter(({ msg }) => msg === 'failed'),
    });
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** A storage with a key in it, every method of which throws while it fails. */
async function failingStorage(): Promise<{ storage: Storage; fails: boolean }> {
  const working = memoryStorage(Date.now);
  const breakable = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name: string & keyof T) => {
        const value = target[name];
        if (typeof value !== 'function') return breakable(value as object);
        return async (...args: unknown[]) => {
          if (failing.fails) throw new Error(SECRET);
          return value(...args);
        };
      },
    });
  const app = new Application(working, createNodeSystem(KEY));
  const { id } = await app.workspaces.create('Northwind');
  await app.apiKeys.create(id, { secret: KEY });
  const failing = { storage: { ...breakable(working), now: working.now }, fails: false };
  return failing;
}
