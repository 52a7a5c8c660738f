import assert from 'node:assert/strict';
import { type LoadResponse, send } from '../support/load.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withMongodbProxy } from '../support/mongodb-proxy.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/request.ts';
import { campaignBody } from '../support/samples.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const HOUR_MS = 60 * 60 * 1000;
/** After a process crashes, its lock on an Idempotency-Key lasts at most this long, as the API promises. */
const MAX_LOCK_MS = 30_000;
const WINDOW_SECONDS = 3;

/**
 * Returns settings for a process whose clock is ahead. SIGHUP sets the clock an hour forward, and SIGUSR2 an hour back.
 */
function createClockSettings(aheadMs: number): Readonly<Record<string, string>> {
  const script = `
    const { now } = Date;
    let ahead = ${aheadMs};
    Date.now = () => now() + ahead;
    process.on('SIGHUP', () => (ahead += ${HOUR_MS}));
    process.on('SIGUSR2', () => (ahead -= ${HOUR_MS}));`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

suite('a process whose clock is wrong', {
  'locks an Idempotency-Key for the usual time, and neither takes over locks nor expires API keys too early': () =>
    withMongodbProxy(async (proxy, uri) => {
      const { key, expiringKey } = await withApplication(uri, async (app) => {
        const workspace = await createWorkspace(app);
        const expiresAt = new Date(Date.now() + HOUR_MS / 2).toISOString();
        const { secret } = await app.apiKeys.create(workspace.workspaceId, { expiresAt });
        return { ...workspace, expiringKey: secret };
      });
      const postRequest = {
        ...{ method: 'POST', path: '/campaigns', key, body: campaignBody },
        headers: { 'Idempotency-Key': 'once' },
      };
      await withProcess(
        { ...createMongodbSettings(proxy.uri), ...createClockSettings(300_000) },
        async ({ url, kill }) => {
          assert.equal((await send(url, { path: '/campaigns', key })).status, 200);
          // The process is killed before its commit reaches MongoDB, so the lock of the Idempotency-Key remains.
          proxy.lose('commitTransaction', 'request', 1, kill);
          assert.equal((await send(url, postRequest)).status, 0);
        },
      );
      const [locked, { localTime }] = await withMongoClient(uri, (client) =>
        Promise.all([client.db().collection('idempotencyRecords').findOne(), client.db().command({ hello: 1 })]),
      );
      const ttlMs = locked?.expiresAt - localTime.getTime();
      assert.ok(ttlMs > 0 && ttlMs <= MAX_LOCK_MS, `locked for ${ttlMs} ms`);

      await withProcess({ ...createMongodbSettings(uri), ...createClockSettings(HOUR_MS) }, async ({ url }) => {
        assert.equal((await send(url, postRequest)).status, 409);
        assert.equal((await send(url, { path: '/campaigns', key: expiringKey })).status, 200);
      });
    }),

  'ends a rate limit window on time, and sends no Retry-After longer than the window, even if the clock changes': () =>
    withProcess(
      { ...createClockSettings(0), RATE_LIMIT_POINTS: '1', RATE_LIMIT_WINDOW_SECONDS: `${WINDOW_SECONDS}` },
      async ({ url, child }) => {
        const get = () => send(url, { path: '/domains', key: DEMO_API_KEY });
        for (const signal of ['SIGUSR2', 'SIGHUP'] as const) {
          await waitUntil(async () => (await get()).status === 429);
          child.kill(signal);
          const responses: LoadResponse[] = [];
          await waitUntil(async () => {
            responses.push(await get());
            return responses.at(-1)?.status === 200;
          });
          for (const { status, headers } of responses.filter((it) => it.status === 429)) {
            assert.equal(status, 429);
            assert.ok(Number(headers['retry-after']) <= WINDOW_SECONDS, `${signal}: ${headers['retry-after']}`);
            const [, wait] = /;t=(\d+)$/.exec(`${headers.ratelimit}`) as RegExpExecArray;
            assert.ok(Number(wait) <= WINDOW_SECONDS, `${signal}: ${headers.ratelimit}`);
          }
        }
      },
    ),
});
