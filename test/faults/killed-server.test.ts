import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { collectAll } from '../support/collect-all.ts';
import { parseJsonOutput, runProcess } from '../support/command-line.ts';
import { Ledger } from '../support/ledger.ts';
import { type LoadResponse, send, startLoad } from '../support/load.ts';
import { startProcess } from '../support/process.ts';
import { isLong, quickOrLong } from '../support/scale.ts';
import { withApplication, withDurableStorage } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const WRITER_COUNT = quickOrLong(6, 16);
const KILL_COUNT = quickOrLong(1, 5);
/** The number of members who share a campaign over HTTP. */
const SHARER_COUNT = 40;
/** After a process is killed, its lock on an Idempotency-Key lasts at most this long, as the API promises. */
const MAX_LOCK_MS = 30_000;
const RETRY_INTERVAL_MS = 250;
/** How long a share may be retried after a restart. */
const MAX_RETRY_MS = 90_000;

suite('a service that is killed while it writes', {
  'loses no acknowledged write, and stores no write twice, even after retries with an Idempotency-Key': () =>
    withDurableStorage(async (settings) => {
      let service = await startProcess(settings);
      try {
        const { workspaceId, key } = await withApplication(settings, createWorkspace);
        const ledger = new Ledger(() => service.url, key);
        const load = startLoad(WRITER_COUNT, (client, i) => ledger.write(client, i));
        // The command line writes, too.
        const created: string[] = [];
        const creating = startLoad(1, async () => {
          const args = ['workspace', 'create', '--name', 'Contoso', '--json'];
          created.push(parseJsonOutput(await runProcess(args, settings)).id);
          return {} as LoadResponse;
        });
        for (let kill = 0; kill < KILL_COUNT; kill++) {
          const [{ size }, count] = [ledger, created.length];
          await waitUntil(() => ledger.size > size + 5 * WRITER_COUNT && created.length > count);
          await service.kill();
          service = await startProcess(settings);
        }
        await delay(quickOrLong(1_000, MAX_LOCK_MS));
        const { size } = ledger;
        await waitUntil(() => ledger.size > size + 5 * WRITER_COUNT);
        await Promise.all([load.stop(), creating.stop()]);

        const failureCount = load.responses.filter(({ status }) => status === 0).length;
        assert.ok(failureCount >= KILL_COUNT, `${failureCount} requests failed`);
        const others = load.responses
          .map(({ status }) => status)
          .filter((status) => ![0, 201, 409, 429].includes(status));
        assert.deepEqual(others, []);
        await ledger.assertStored(settings, workspaceId);
        const workspaces = await withApplication(settings, (app) => collectAll(app.workspaces.iterate()));
        assert.equal(created.filter((id) => !workspaces.some((it) => it.id === id)).length, 0);
        // Only a long run waits until the locks of the killed processes have expired.
        if (isLong) assert.deepEqual(ledger.unacknowledged, []);
      } finally {
        await service.kill();
      }
    }),
});

/** Repeats a request until it succeeds. Resolves to its response body. Rejects if that takes too long. */
async function repeatUntilShared(share: () => ReturnType<typeof send>): Promise<string> {
  const deadline = performance.now() + MAX_RETRY_MS;
  for (;;) {
    const { status, text } = await share();
    if (status === 200 || status === 201) return text;
    if (performance.now() >= deadline) throw new Error(`still ${status} after ${MAX_RETRY_MS} ms: ${text}`);
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
            const email = `${i}@northwind.example`;
            const member = { name: `Member ${i}`, email, invitation: 'accepted' } as const;
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
          let isKilled = false;
          const sharers = keys.map(async (key) => {
            while (!isKilled) {
              const { status, text } = await share(key);
              if (status === 200 || status === 201) acknowledged.add(text);
            }
          });
          await waitUntil(() => acknowledged.size > 0);
          await service.kill();
          isKilled = true;
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
