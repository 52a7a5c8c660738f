import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import pino from 'pino';
import { logObserver } from '../../adapters/http/log.ts';
import { httpService } from '../../adapters/http/server.ts';
import { memoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { memoryStorage } from '../../adapters/memory/storage.ts';
import { nodeSystem } from '../../bootstrap/system.ts';
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
  'is a 500 that tells nothing of the inside, and one log line that tells all, joined by the request id': async () => {
    const lines: string[] = [];
    const log = pino(
      { level: 'trace' },
      new Writable({ write: (line, _, done) => done(void lines.push(String(line))) }),
    );
    const { storage, fail } = await failingStorage();
    const application = new Application(storage, nodeSystem(KEY));
    const limiter = memoryRateLimiter(1000, 60);
    const { server } = httpService(
      { application, requests: limiter, refusals: limiter },
      { bodyLimit: 1000, docsUrl: '/docs', trustProxy: false },
      [logObserver(log)],
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    fail();
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      for (const [method, path, body] of requests) {
        lines.length = 0;
        const reply = await fetch(url + path, { method, headers, ...(body && { body }) });
        const text = await reply.text();
        assert.equal(reply.status, 500);
        assert.deepEqual(Object.keys(JSON.parse(text).error), ['code', 'message', 'doc_url']);
        assert.equal(JSON.parse(text).error.code, 'internal_server_error');
        assert.ok(
          ![...reply.headers.values(), text].some((told) => /mongodb|hunter2|E11000|storage|\.ts/i.test(told)),
          text,
        );
        const failed = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'failed');
        assert.equal(failed.length, 1);
        assert.equal(failed[0].requestId, reply.headers.get('x-request-id'));
        assert.equal(failed[0].err.message, SECRET);
        assert.match(failed[0].err.stack, /failure\.test/);
      }
      const ready = await fetch(`${url}/readyz`);
      assert.equal(ready.status, 503);
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
});

/** A storage with a key in it, every method of which throws once it is told to. */
async function failingStorage(): Promise<{ storage: Storage; fail: () => void }> {
  const working = memoryStorage(Date.now);
  let fails = false;
  const breakable = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name: string & keyof T) => {
        const value = target[name];
        if (typeof value !== 'function') return breakable(value as object);
        return async (...args: unknown[]) => {
          if (fails) throw new Error(SECRET);
          return value(...args);
        };
      },
    });
  const use = new Application(working, nodeSystem(KEY));
  const { id } = await use.workspaces.create('Northwind');
  await use.apiKeys.create(id, { secret: KEY });
  return { storage: breakable(working), fail: () => (fails = true) };
}
