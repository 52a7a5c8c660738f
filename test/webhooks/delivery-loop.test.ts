import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { type Deliveries, DeliveryLoop } from '../../adapters/webhooks/delivery-loop.ts';
import { Application } from '../../core/application.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { getWaitMs } from '../../core/webhook/webhook.ts';
import type { WebhookMessage, WebhookOutcome, WebhookSender } from '../../core/webhook/webhook-sender.ts';
import type { Delivery } from '../../core/webhook/webhook-service.ts';
import { DAY, MINUTE, NOON, OTHER, OWN, SECOND, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const URL = 'https://a.example';
const OK: WebhookOutcome = { status: 200, problem: '', durationMs: 1 };
const DOWN: WebhookOutcome = { status: null, problem: 'connection refused', durationMs: 1 };

type Send = (message: WebhookMessage, url: string) => WebhookOutcome | Promise<WebhookOutcome>;

/** A core with a webhook service whose messages a test handles, and a loop that delivers them. */
function testLoop(send: Send) {
  const sent: number[] = [];
  const deliveries: Delivery[] = [];
  const errors: unknown[] = [];
  const sender: WebhookSender = {
    createSecret: () => 'whsec_secret',
    findUrlProblem: () => undefined,
    async send({ url }, message) {
      sent.push(message.sequence);
      return send(message, url);
    },
  };
  const loops: DeliveryLoop[] = [];
  const onChange = (id: string) => {
    for (const loop of loops) loop.onChange(id);
  };
  const options = { webhooks: { sender, onChange } };
  const core = testCore({}, options);
  const observer = { onAttempt: (it: Delivery) => deliveries.push(it), onError: (it: unknown) => errors.push(it) };
  const startLoop = (app: Application) => {
    const loop = new DeliveryLoop(app.webhooks, [observer]);
    loops.push(loop);
    return loop;
  };
  const loop = startLoop(core.app);
  core.storage.onEventsCommitted((id) => loop.onEvents(id));
  const { app, storage, clock } = core;
  let count = 0;
  return {
    ...core,
    ...{ loop, sent, deliveries, errors },
    /** Starts another process on the same storage. */
    startOther: () => {
      const system = { ...createNodeSystem(), now: () => clock.now };
      return startLoop(new Application(storage, system, options));
    },
    makeEvent: async (workspaceId = OWN) => {
      const email = `${++count}@x.example`;
      await app.members.create(workspaceId, { name: 'Ada', email });
    },
    stop: () => Promise.all(loops.map((it) => it.stop())),
  };
}

type TestLoop = ReturnType<typeof testLoop>;

async function withLoop(send: Send, test: (loop: TestLoop) => Promise<void>): Promise<void> {
  const loop = testLoop(send);
  try {
    await test(loop);
  } finally {
    await loop.stop();
  }
}

/** Polls until a condition is true, as the timer of a loop does. */
const pollUntil = (loops: readonly DeliveryLoop[], condition: () => boolean | Promise<boolean>) =>
  waitUntil(async () => {
    for (const loop of loops) loop.poll();
    return condition();
  });

suite('the delivery loop', {
  'sends an event at once after its commit, and each event once': () =>
    withLoop(
      () => OK,
      async ({ app, makeEvent, sent, deliveries }) => {
        const { id } = await app.webhooks.create(OWN, { url: URL });
        for (let i = 0; i < 50; i++) await makeEvent();
        await waitUntil(() => deliveries.length === 50);
        assert.deepEqual(
          sent,
          Array.from({ length: 50 }, (_, i) => i + 1),
        );
        const { after, lease, lastStatus } = await app.webhooks.get(OWN, id);
        assert.deepEqual([after, lease, lastStatus], [50, null, 200]);
      },
    ),

  'delivers all events in order to a receiver that was down for a day': () => {
    let outcome = DOWN;
    return withLoop(
      () => outcome,
      async ({ app, loop, clock, makeEvent, sent, deliveries }) => {
        const { id } = await app.webhooks.create(OWN, { url: URL });
        for (let i = 0; i < 3; i++) await makeEvent();
        await waitUntil(() => deliveries.length === 1);
        while (clock.now < NOON + DAY) {
          const { length } = deliveries;
          clock.now += Math.max(1, getWaitMs(await app.webhooks.get(OWN, id), clock.now));
          await pollUntil([loop], () => deliveries.length > length);
        }
        // 5 s, 5 min, 30 min, 2 h, 5 h and two or three times 10 h.
        assert.ok(sent.length >= 7 && sent.length <= 9, `${sent.length} attempts`);
        assert.ok(sent.every((sequence) => sequence === 1));
        const { failingSince, enabled } = await app.webhooks.get(OWN, id);
        assert.deepEqual([failingSince, enabled], [new Date(NOON).toISOString(), true]);
        outcome = OK;
        const { length } = sent;
        clock.now += DAY / 2;
        await pollUntil([loop], async () => (await app.webhooks.get(OWN, id)).after === 3);
        assert.deepEqual(sent.slice(length), [1, 2, 3]);
        assert.equal((await app.webhooks.get(OWN, id)).failingSince, null);
      },
    );
  },

  'disables a webhook after 5 days, which is an event that others get': () =>
    withLoop(
      (_message, url) => (url === URL ? DOWN : OK),
      async ({ app, loop, clock, makeEvent, deliveries }) => {
        const { id } = await app.webhooks.create(OWN, { url: URL });
        const other = await app.webhooks.create(OWN, { url: 'https://b.example', types: ['webhook.disabled'] });
        await makeEvent();
        const getWebhook = () => app.webhooks.get(OWN, id);
        while ((await getWebhook()).enabled) {
          const { failureCount } = await getWebhook();
          await pollUntil([loop], async () => (await getWebhook()).failureCount > failureCount);
          clock.now += getWaitMs(await getWebhook(), clock.now);
        }
        await waitUntil(() => deliveries.some(({ webhook }) => webhook.id === other.id));
        assert.equal(deliveries.filter(({ isDisabled }) => isDisabled).length, 1);
        const { items } = await app.events.list(OWN, { after: 1, pageSize: 9 });
        assert.deepEqual(
          items.map(({ type, data }) => [type, data]),
          [['webhook.disabled', { webhookId: id }]],
        );
        assert.ok(clock.now - NOON >= 5 * DAY && clock.now - NOON < 6 * DAY);
      },
    ),

  'goes on after the clock has jumped, in both directions': () => {
    let outcome = DOWN;
    return withLoop(
      () => outcome,
      async ({ app, loop, clock, makeEvent, deliveries }) => {
        const { id } = await app.webhooks.create(OWN, { url: URL });
        await makeEvent();
        await waitUntil(() => deliveries.length === 1);
        for (const jump of [7 * DAY, -14 * DAY, 7 * DAY]) {
          const { length } = deliveries;
          clock.now += jump;
          await pollUntil([loop], () => deliveries.length > length);
        }
        assert.equal((await app.webhooks.get(OWN, id)).enabled, true);
        outcome = OK;
        clock.now -= 30 * DAY;
        await pollUntil([loop], async () => (await app.webhooks.get(OWN, id)).after === 1);
      },
    );
  },

  'sends one event at a time, if several processes compete for a webhook': () => {
    let activeCount = 0;
    const send: Send = async () => {
      assert.equal(++activeCount, 1);
      await new Promise((resolve) => setImmediate(resolve));
      activeCount--;
      return OK;
    };
    return withLoop(send, async ({ app, startOther, loop, storage, makeEvent, sent, errors, deliveries }) => {
      const others = [startOther(), startOther()];
      for (const other of others) storage.onEventsCommitted((id) => other.onEvents(id));
      await app.webhooks.create(OWN, { url: URL });
      for (let i = 0; i < 100; i++) await makeEvent();
      await pollUntil([loop, ...others], () => deliveries.length >= 100);
      assert.deepEqual(
        sent,
        Array.from({ length: 100 }, (_, i) => i + 1),
      );
      assert.deepEqual(errors, []);
    });
  },

  'lets another process go on when a lease expires, and then changes nothing': async () => {
    const finish: ((outcome: WebhookOutcome) => void)[] = [];
    const send: Send = () => new Promise((resolve) => finish.push(resolve));
    await withLoop(send, async ({ app, startOther, clock, makeEvent, sent, deliveries }) => {
      const other = startOther();
      const { id } = await app.webhooks.create(OWN, { url: URL });
      await makeEvent();
      await makeEvent();
      await waitUntil(() => finish.length === 1);
      other.onChange(OWN);
      clock.now += 30 * SECOND - 1;
      other.poll();
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.deepEqual(sent, [1]);
      clock.now += 1;
      await pollUntil([other], () => finish.length === 2);
      finish[1]?.(OK);
      await waitUntil(() => finish.length === 3);
      assert.deepEqual(sent, [1, 1, 2]);
      // The frozen process reports a failure of the first event, while the other one sends the second event.
      finish[0]?.({ status: 410, problem: 'status', durationMs: 1 });
      await waitUntil(() => deliveries.length === 2);
      const { after, enabled, failingSince, lease } = await app.webhooks.get(OWN, id);
      assert.deepEqual([after, enabled, failingSince], [1, true, null]);
      assert.notEqual(lease, null);
      finish[2]?.(OK);
      await waitUntil(async () => (await app.webhooks.get(OWN, id)).after === 2);
    });
  },

  'delivers at once beside 500 webhooks that do not answer': () => {
    const waiting: (() => void)[] = [];
    const send: Send = (_message, url) =>
      url === URL ? OK : new Promise((resolve) => waiting.push(() => resolve(DOWN)));
    return withLoop(send, async ({ app, makeEvent, deliveries }) => {
      const workspaceIds = Array.from({ length: 50 }, (_, i) => `dead-${i}`);
      for (const workspaceId of workspaceIds) {
        for (let i = 0; i < 10; i++) await app.webhooks.create(workspaceId, { url: 'https://dead.example' });
        await makeEvent(workspaceId);
      }
      await waitUntil(() => waiting.length === 500);
      await app.webhooks.create(OTHER, { url: URL });
      await makeEvent(OTHER);
      await waitUntil(() => deliveries.length === 1);
      assert.equal(waiting.length, 500);
      for (const end of waiting) end();
    });
  },

  'finds webhooks of other processes, and works only for workspaces that have some': async () => {
    const calls: string[] = [];
    const found = new Set<string>();
    const webhooks: Deliveries = {
      findWorkspaceIds: async () => {
        calls.push('search');
        return found;
      },
      findPending: async (workspaceId) => {
        calls.push(workspaceId);
        return [];
      },
      deliverNext: async () => undefined,
    };
    const loop = new DeliveryLoop(webhooks, []);
    loop.poll();
    await waitUntil(() => calls.length === 1);
    for (let i = 0; i < 5; i++) {
      loop.poll();
      loop.onEvents(OWN);
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(calls, ['search']);
    await loop.stop();
    found.add(OWN);
    const next = new DeliveryLoop(webhooks, []);
    next.poll();
    await waitUntil(() => calls.length === 3);
    next.onEvents(OTHER);
    assert.deepEqual(calls, ['search', 'search', OWN]);
    await next.stop();
  },

  'waits for a storage that is unavailable, and then goes on': async () => {
    let isUp = false;
    const errors: unknown[] = [];
    await withLoop(
      () => OK,
      async ({ app, loop, makeEvent, deliveries }) => {
        const failUnlessUp = async <T>(work: () => Promise<T>): Promise<T> => {
          if (!isUp) throw new Error('unavailable');
          return work();
        };
        const { webhooks } = app;
        const deliveriesOfOther: Deliveries = {
          findWorkspaceIds: () => failUnlessUp(() => webhooks.findWorkspaceIds()),
          findPending: (workspaceId) => failUnlessUp(() => webhooks.findPending(workspaceId)),
          deliverNext: (...args) => failUnlessUp(() => webhooks.deliverNext(...args)),
        };
        await loop.stop();
        const other = new DeliveryLoop(deliveriesOfOther, [
          { onError: (error) => errors.push(error), onAttempt: (it) => deliveries.push(it) },
        ]);
        await webhooks.create(OWN, { url: URL });
        await makeEvent();
        await pollUntil([other], () => errors.length >= 3);
        assert.equal(deliveries.length, 0);
        isUp = true;
        await pollUntil([other], () => deliveries.length === 1);
        isUp = false;
        await makeEvent();
        const { length } = errors;
        await pollUntil([other], () => errors.length > length);
        isUp = true;
        await pollUntil([other], () => deliveries.length === 2);
        await other.stop();
      },
    );
  },

  'ends the attempt in progress when it stops, and starts no other': async () => {
    let finish: (outcome: WebhookOutcome) => void = doNothing;
    const send: Send = () => new Promise((resolve) => (finish = resolve));
    await withLoop(send, async ({ app, loop, makeEvent, sent }) => {
      const { id } = await app.webhooks.create(OWN, { url: URL });
      await makeEvent();
      await makeEvent();
      await waitUntil(() => sent.length === 1);
      let isStopped = false;
      const stopping = loop.stop().then(() => (isStopped = true));
      await makeEvent();
      assert.equal(isStopped, false);
      finish(OK);
      await stopping;
      assert.deepEqual([sent, (await app.webhooks.get(OWN, id)).after], [[1], 1]);
    });
  },
});

suite('a webhook whose lease has not been released', {
  'is served again after 30 seconds by the process that comes next': () => {
    let isCrashing = true;
    const send: Send = () => (isCrashing ? new Promise<WebhookOutcome>(doNothing) : OK);
    const core = testLoop(send);
    return (async () => {
      const { app, clock, makeEvent, sent, startOther, deliveries } = core;
      await app.webhooks.create(OWN, { url: URL });
      await makeEvent();
      await waitUntil(() => sent.length === 1);
      isCrashing = false;
      const other = startOther();
      clock.now += MINUTE / 2;
      await pollUntil([other], () => deliveries.length === 1);
      await other.stop();
      assert.deepEqual(sent, [1, 1]);
    })();
  },
});
