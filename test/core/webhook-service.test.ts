import assert from 'node:assert/strict';
import type { Webhook } from '../../core/webhook/webhook.ts';
import type { WebhookOutcome } from '../../core/webhook/webhook-sender.ts';
import { OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const url = 'https://a.example';

/** A core whose webhooks get the outcome that `send` returns. */
function testWebhooks(send: () => Promise<WebhookOutcome>) {
  const sender = { createSecret: () => 'whsec_secret', findUrlProblem: () => undefined, send };
  const { app, storage } = testCore({}, { webhooks: { sender } });
  let count = 0;
  return {
    ...{ app, storage },
    makeEvent: () => app.members.create(OWN, { name: 'Ada', email: `${++count}@x.example` }),
    findPending: async () => (await app.webhooks.findPending(OWN))[0]?.webhook as Webhook,
  };
}

const deliver = async (): Promise<WebhookOutcome> => ({ status: 204, problem: '', durationMs: 1 });

suite('a delivery', {
  'skips no event after a change of the types that it does not know': async () => {
    const { app, makeEvent, findPending } = testWebhooks(deliver);
    const { id } = await app.webhooks.create(OWN, { url, types: ['share.created'] });
    await makeEvent();
    const snapshot = await findPending();
    await app.webhooks.update(OWN, id, { types: ['member.created'] });
    await makeEvent();
    assert.equal(await app.webhooks.deliverNext(snapshot, 0), undefined);
    assert.equal((await app.webhooks.get(OWN, id)).after, 0);
    const delivery = await app.webhooks.deliverNext(await findPending(), 0);
    assert.equal(delivery?.event.sequence, 1);
  },

  'that succeeds while the webhook is disabled adds no event': async () => {
    const { app, storage, makeEvent, findPending } = testWebhooks(deliver);
    const { id } = await app.webhooks.create(OWN, { url });
    await makeEvent();
    const { update } = storage.webhooks;
    let updateCount = 0;
    // The request comes after the attempt, and before its outcome is stored.
    storage.webhooks.update = async (...parameters) => {
      if (++updateCount === 2) await app.webhooks.update(OWN, id, { enabled: false });
      return update(...parameters);
    };
    const delivery = await app.webhooks.deliverNext(await findPending(), 0);
    assert.deepEqual([delivery?.isDisabled, delivery?.webhook.enabled, delivery?.webhook.after], [false, false, 1]);
    assert.equal((await app.events.list(OWN, { after: 1, pageSize: 10 })).items.length, 0);
  },
});
