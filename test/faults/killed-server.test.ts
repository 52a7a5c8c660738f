import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiKey } from '../../core/access/api-key.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { Ledger } from '../support/ledger.ts';
import { send, startLoad } from '../support/load.ts';
import { type Loss, withMongodbProxy } from '../support/mongodb-proxy.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { startProcess, withProcess } from '../support/process.ts';
import { campaignBody } from '../support/samples.ts';
import { isLong, quickOrLong } from '../support/scale.ts';
import { withApplication, withDurableStorage } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ShareRecorder } from './share-recorder.ts';

const WRITER_COUNT = quickOrLong(6, 16);
const KILL_COUNT = quickOrLong(1, 5);
/** The number of shares that each process must record. */
const SHARE_COUNT = quickOrLong(100, 200);
/** The number of members who share a campaign over HTTP. */
const SHARER_COUNT = 40;
/** After a process is killed, its lock on an Idempotency-Key lasts at most this long, as the API promises. */
const MAX_LOCK_MS = 30_000;
const RETRY_INTERVAL_MS = 250;

suite('a service that is killed while it writes', {
  'loses no acknowledged write, and stores no write twice, even after retries with an Idempotency-Key': () =>
    withDurableStorage(async (settings) => {
      let service = await startProcess(settings);
      try {
        const { workspaceId, key } = await withApplication(settings, createWorkspace);
        const ledger = new Ledger(() => service.url, key);
        const load = startLoad(WRITER_COUNT, (client, i) => ledger.write(client, i));
        for (let kill = 0; kill < KILL_COUNT; kill++) {
          const { size } = ledger;
          await waitUntil(() => ledger.size > size + 5 * WRITER_COUNT);
          await service.kill();
          service = await startProcess(settings);
        }
        await delay(quickOrLong(1_000, MAX_LOCK_MS));
        const { size } = ledger;
        await waitUntil(() => ledger.size > size + 5 * WRITER_COUNT);
        await load.stop();

        const failureCount = load.responses.filter(({ status }) => status === 0).length;
        assert.ok(failureCount >= KILL_COUNT, `${failureCount} requests failed`);
        const others = load.responses.map(({ status }) => status).filter((status) => ![0, 201, 409].includes(status));
        assert.deepEqual(others, []);
        await ledger.assertStored(settings, workspaceId);
        // Only a long run waits until the locks of the killed processes have expired.
        if (isLong) assert.deepEqual(ledger.unacknowledged, []);
      } finally {
        await service.kill();
      }
    }),
});

/**
 * The moment of a POST at which the process is killed: when the proxy loses the request or the response (`loss`) of the
 * next MongoDB command with the name `command`.
 */
interface KillPoint {
  readonly command: string;
  readonly loss: Loss;
  /**
   * Whether the record is stored at that moment. If not, a retry gets 409 until the lock of the killed process expires.
   */
  readonly isStored: boolean;
}

/** The kill points. Each name says which message is lost. */
const killPoints: Readonly<Record<string, KillPoint>> = {
  'the response to the commit': { command: 'commitTransaction', loss: 'response', isStored: true },
  ...(isLong && {
    'the commit': { command: 'commitTransaction', loss: 'request', isStored: false },
    'the second write of the transaction': { command: 'update', loss: 'request', isStored: false },
    'the response to the second write': { command: 'update', loss: 'response', isStored: false },
    'the response to the lock of the Idempotency-Key': {
      command: 'insert',
      loss: 'response',
      isStored: false,
    },
  }),
};

suite('a service on MongoDB that is killed in the middle of a POST with an Idempotency-Key', {
  'lets a retry to another process succeed within 30 seconds, and stores the record once': async () => {
    const outcomes = Object.entries(killPoints).map(([name, killPoint]) => [name, postAndRetry(killPoint)] as const);
    await Promise.allSettled(outcomes.map(([, outcome]) => outcome));
    await each(outcomes, (outcome) => outcome);
  },
});

/**
 * Sends a request to a process that is killed meanwhile. Then retries with another process until the request succeeds.
 */
function postAndRetry({ command, loss, isStored }: KillPoint): Promise<void> {
  return withMongodbProxy(async (proxy, uri) => {
    const killed = await startProcess(createMongodbSettings(proxy.uri));
    try {
      await withApplication(uri, async (app) => {
        const { workspaceId, key } = await createWorkspace(app);
        const listStored = () => collectAll<Campaign>(app.campaigns.iterate(workspaceId));
        const headers = { 'Idempotency-Key': 'once' };
        const post = (url: string) =>
          send(url, { method: 'POST', path: '/campaigns', key, body: campaignBody, headers });
        // The service records the first use of an API key in the background, with separate commands.
        assert.equal((await send(killed.url, { path: '/campaigns', key })).status, 200);
        await waitUntil(
          async () => (await collectAll<ApiKey>(app.apiKeys.iterate(workspaceId)))[0]?.lastUsedAt !== null,
        );
        proxy.lose(command, loss, 1, killed.kill);
        assert.equal((await post(killed.url)).status, 0);
        assert.equal(proxy.remainingLossCount, 0);
        const killedAt = performance.now();
        assert.equal((await listStored()).length, isStored ? 1 : 0);

        await withProcess(createMongodbSettings(uri), async ({ url }) => {
          let response = await post(url);
          for (; response.status === 409; response = await post(url)) {
            assert.ok(!isStored, 'the retry was rejected although the record is stored');
            assert.match(response.text, /A request with this idempotency key is in progress/);
            assert.ok(
              response.sentAt - killedAt < MAX_LOCK_MS,
              `rejected ${response.sentAt - killedAt} ms after the kill`,
            );
            await delay(RETRY_INTERVAL_MS);
          }
          assert.equal(response.status, 201, response.text);
          assert.equal(response.headers['idempotency-replayed'], isStored ? 'true' : undefined);
          const again = await post(url);
          assert.deepEqual([again.status, again.text], [201, response.text]);
          assert.deepEqual(
            (await listStored()).map(({ id }) => id),
            [JSON.parse(response.text).id],
          );
        });
      });
    } finally {
      await killed.kill();
    }
  });
}

suite('a process that is killed while it records shares', {
  'keeps the counter equal to the number of shares, and loses no acknowledged share': () =>
    withDurableStorage(async (settings) => {
      const { workspaceId } = await withApplication(settings, createWorkspace);
      const recorder = await ShareRecorder.create(settings, workspaceId, SHARE_COUNT * KILL_COUNT);
      for (let kill = 0; kill < KILL_COUNT; kill++) {
        const { recordedShareCount: recorded } = recorder;
        recorder.startProcess(SHARE_COUNT);
        await waitUntil(() => recorder.recordedShareCount > recorded + SHARE_COUNT / 10);
        await recorder.killProcess();
        assert.ok(recorder.recordedShareCount < recorded + SHARE_COUNT, 'the process was killed too late');
        await recorder.assertConsistent();
      }
    }),
});

/** Repeats a request until it succeeds. Resolves to its response body. */
async function repeatUntilShared(share: () => ReturnType<typeof send>): Promise<string> {
  for (;;) {
    const { status, text } = await share();
    if (status === 200 || status === 201) return text;
    await delay(RETRY_INTERVAL_MS);
  }
}

suite('a service that is killed while members share a campaign', {
  'counts each member once, and keeps each acknowledged share': () =>
    withDurableStorage(async (settings) => {
      let service = await startProcess(settings);
      try {
        const {
          workspaceId,
          key: adminKey,
          keys,
        } = await withApplication(settings, async (app) => {
          const workspace = await createWorkspace(app);
          const memberKeys: string[] = [];
          for (let i = 0; i < SHARER_COUNT; i++) {
            const member = { name: `Member ${i}`, email: `${i}@northwind.example` };
            const { id: memberId } = await app.members.create(workspace.workspaceId, member);
            memberKeys.push((await app.apiKeys.create(workspace.workspaceId, { memberId })).secret);
          }
          return { ...workspace, keys: memberKeys };
        });
        for (let kill = 0; kill < KILL_COUNT; kill++) {
          const { id } = await withApplication(settings, (app) =>
            app.campaigns.create({ workspaceId }, createCampaignFields()),
          );
          const path = `/campaigns/${id}/shares`;
          const share = (key: string) => send(service.url, { method: 'POST', path, key });
          const acknowledged = new Set<string>();
          const sharers = keys.map(async (key) => {
            for (let status = 200; status !== 0; ) {
              const response = await share(key);
              status = response.status;
              if (status === 200 || status === 201) acknowledged.add(response.text);
            }
          });
          await waitUntil(() => acknowledged.size > 0);
          await service.kill();
          await Promise.all(sharers);

          service = await startProcess(settings);
          // The first attempts may fail: MongoDB keeps the locks of an open transaction of the killed process for some
          // seconds.
          const shares = await Promise.all(keys.map((key) => repeatUntilShared(() => share(key))));
          for (const text of acknowledged) assert.ok(shares.includes(text), text);
          const campaign = await send(service.url, { path: `/campaigns/${id}`, key: adminKey });
          assert.equal(JSON.parse(campaign.text).shares, SHARER_COUNT);
          assert.equal(JSON.parse((await send(service.url, { path, key: adminKey })).text).length, SHARER_COUNT);
        }
      } finally {
        await service.kill();
      }
    }),
});
