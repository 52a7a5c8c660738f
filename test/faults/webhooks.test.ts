import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '../../core/event/event.ts';
import { send, startLoad } from '../support/load.ts';
import { startProcess } from '../support/process.ts';
import { isLong } from '../support/scale.ts';
import { type Environment, withApplication, withDurableStorage, withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  RECEIVER_SETTINGS,
  startReceiver,
  TEST_CERTIFICATE,
  verify,
  type WebhookReceiver,
} from '../support/webhook-receiver.ts';

const EVENT_COUNT = 300;
const KILL_COUNT = 5;
const WRITER_COUNT = 4;
/** The maximum time of a graceful shutdown, with some time for a busy machine. */
const MAX_SHUTDOWN_MS = 15_000;

/** Runs a test with a durable storage and a receiver of webhooks, over TLS. */
async function withSecureReceiver(
  test: (settings: Environment, receiver: WebhookReceiver) => Promise<void>,
  respond?: Parameters<typeof startReceiver>[0],
): Promise<void> {
  const receiver = await startReceiver(respond, true);
  try {
    await withTemporaryFolder((folder) =>
      withDurableStorage(async (storage) => {
        const file = join(folder, 'ca.pem');
        writeFileSync(file, TEST_CERTIFICATE.cert);
        await test({ ...storage, ...RECEIVER_SETTINGS, NODE_EXTRA_CA_CERTS: file }, receiver);
      }),
    );
  } finally {
    await receiver.close();
  }
}

/** Creates a workspace with a webhook. */
const createWebhook = (settings: Environment, url: string) =>
  withApplication(settings, async (app) => {
    const workspace = await createWorkspace(app);
    return { ...workspace, webhook: await app.webhooks.create(workspace.workspaceId, { url }) };
  });

/** Returns all events of a workspace after a sequence. */
const readEvents = (settings: Environment, workspaceId: string, first: number) =>
  withApplication(settings, async (app) => {
    const events: Event[] = [];
    for (let hasNext = true; hasNext; ) {
      const after = events.at(-1)?.sequence ?? first;
      const page = await app.events.list(workspaceId, { after, pageSize: 100 });
      events.push(...page.items);
      hasNext = page.hasNext;
    }
    return events;
  });

suite('a webhook of a service that is killed', {
  'gets each event at least once, and in order': () =>
    withSecureReceiver(async (settings, { url, requests }) => {
      const { workspaceId, key, admin, webhook } = await createWebhook(settings, url);
      // The first event is older than the service.
      await withApplication(settings, (app) => app.members.update(workspaceId, admin.id, { name: 'first' }));
      let service = await startProcess(settings);
      try {
        await waitUntil(() => requests.length > 0);
        const path = `/members/${admin.id}`;
        let acknowledgedCount = 0;
        let quota = 0;
        // Each request is verified soon after it has arrived, because its signature is valid for some minutes.
        const verified: ReturnType<typeof verify>[] = [];
        const received = () => {
          for (const request of requests.slice(verified.length)) verified.push(verify(webhook.secret, request));
          return verified;
        };
        const load = startLoad(WRITER_COUNT, async (client, i) => {
          await waitUntil(() => acknowledgedCount < quota);
          const response = await send(service.url, { method: 'PATCH', path, key, body: { name: `${client} ${i}` } });
          if (response.status === 200) acknowledgedCount++;
          return response;
        });
        for (let kill = 1; kill <= KILL_COUNT; kill++) {
          quota = (kill * EVENT_COUNT) / (KILL_COUNT + 1);
          const { length } = received();
          await waitUntil(() => acknowledgedCount >= quota && received().length > length);
          await service.kill();
          // A long run waits until the lease of the killed process expires.
          if (!isLong)
            await withEngine(settings, (engine) =>
              engine.webhooks.update(workspaceId, webhook.id, (it) => ({ ...it, lease: null })),
            );
          service = await startProcess(settings);
        }
        quota = EVENT_COUNT;
        await waitUntil(() => acknowledgedCount >= EVENT_COUNT);
        quota = Number.POSITIVE_INFINITY;
        await load.stop();
        const events = await readEvents(settings, workspaceId, webhook.after);
        const sequences = events.map(({ sequence }) => sequence);
        assert.deepEqual(
          sequences,
          sequences.map((_, i) => webhook.after + 1 + i),
        );
        await waitUntil(() => received().at(-1)?.sequence === sequences.at(-1));
        const bySequence = new Map(received().map((event) => [event.sequence, event]));
        assert.deepEqual([...bySequence.keys()], sequences);
        for (const { id, sequence, data } of events) {
          const event = bySequence.get(sequence);
          assert.deepEqual([event?.id, event?.data], [id, data]);
        }
        const repeated = received().filter(({ sequence }, i) => sequence === received()[i - 1]?.sequence);
        assert.ok(repeated.length <= KILL_COUNT, `${repeated.length} events were sent twice`);
        assert.equal(received().length, sequences.length + repeated.length);
        assert.ok(!service.output.stderr.includes(webhook.secret));
      } finally {
        await service.kill();
      }
    }),
});

suite('a service that is stopped while it sends to a webhook that does not answer', {
  'exits in time, and the webhook gets the event from the next process': () => {
    let isAnswering = false;
    return withSecureReceiver(
      async (settings, { url, requests }) => {
        const { workspaceId, admin, webhook } = await createWebhook(settings, url);
        const service = await startProcess(settings);
        try {
          const change = (name: string) =>
            withApplication(settings, (app) => app.members.update(workspaceId, admin.id, { name }));
          // The service has not made this event, so it finds it within five seconds.
          await change('a');
          await waitUntil(() => requests.length === 1);
          const start = performance.now();
          service.child.kill('SIGTERM');
          assert.equal(await service.waitForExit(), 0);
          assert.ok(performance.now() - start < MAX_SHUTDOWN_MS);
        } finally {
          await service.kill();
        }
        isAnswering = true;
        if (!isLong) return;
        const next = await startProcess(settings);
        try {
          await waitUntil(() => requests.length === 2);
          for (const request of requests) assert.equal(verify(webhook.secret, request).sequence, webhook.after + 1);
        } finally {
          await next.kill();
        }
      },
      (_request, _message, response) => isAnswering && response.writeHead(204).end(),
    );
  },
});
