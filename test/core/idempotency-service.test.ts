import assert from 'node:assert/strict';
import { IDEMPOTENCY_KEY } from '../../core/idempotency/idempotency.ts';
import { IdempotencyService, type IdempotentCall } from '../../core/idempotency/idempotency-service.ts';
import { DAY, NOON, OTHER, OWN, SECOND, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const REPLY = { status: 201, body: '{"id":"1"}' };

const request: IdempotentCall = {
  workspaceId: OWN,
  keyId: 'key',
  operationId: 'createTag',
  idempotencyKey: 'once',
  fingerprint: 'a body',
};

function open() {
  const { storage, clock } = testCore();
  let holders = 0;
  const newId = () => `holder ${++holders}`;
  return { steps: new IdempotencyService(storage.idempotentRequests, { newId }, () => clock.now), clock };
}

suite('the steps of answering a request once', {
  'hold it for the first, and refuse the next with conflict while that one runs': async () => {
    const { steps } = open();
    assert.deepEqual(await steps.acquire(request), { holder: 'holder 1' });
    await assert.rejects(steps.acquire(request), { kind: 'conflict' });
    await assert.rejects(steps.acquire({ ...request, fingerprint: 'another body' }), { kind: 'conflict' });
  },

  'give the kept reply to every repeat, and refuse another body': async () => {
    const { steps } = open();
    await steps.acquire(request);
    await steps.complete(request, 'holder 1', REPLY);
    for (let i = 0; i < 2; i++) assert.deepEqual(await steps.acquire(request), { reply: REPLY });
    await assert.rejects(steps.acquire({ ...request, fingerprint: 'another body' }), {
      kind: 'invalid',
      message: 'Idempotency-Key: was used for another body: send a new key',
    });
    assert.deepEqual(await steps.acquire(request), { reply: REPLY });
  },

  'know a key under its workspace, API key and operation alone': async () => {
    const { steps } = open();
    await steps.acquire(request);
    const others = [{ workspaceId: OTHER }, { keyId: 'b' }, { operationId: 'b' }, { idempotencyKey: 'b' }];
    for (const other of others) assert.ok('holder' in (await steps.acquire({ ...request, ...other })));
  },

  'hold it for 30 seconds at most, then the next one has it': async () => {
    const { steps, clock } = open();
    await steps.acquire(request);
    clock.now = NOON + 30 * SECOND - 1;
    await assert.rejects(steps.acquire(request), { kind: 'conflict' });
    clock.now = NOON + 30 * SECOND;
    const other = { ...request, fingerprint: 'another body' };
    assert.deepEqual(await steps.acquire(other), { holder: 'holder 3' });
    await assert.rejects(steps.complete(request, 'holder 1', REPLY), { kind: 'conflict' });
    await steps.release(request, 'holder 1');
    await assert.rejects(steps.acquire(request), { kind: 'conflict' });
    await steps.complete(other, 'holder 3', REPLY);
    assert.deepEqual(await steps.acquire(other), { reply: REPLY });
  },

  'keep the reply for 24 hours from its success': async () => {
    const { steps, clock } = open();
    await steps.acquire(request);
    clock.now = NOON + SECOND;
    await steps.complete(request, 'holder 1', REPLY);
    clock.now = NOON + SECOND + DAY - 1;
    assert.deepEqual(await steps.acquire(request), { reply: REPLY });
    clock.now = NOON + SECOND + DAY;
    assert.ok('holder' in (await steps.acquire({ ...request, fingerprint: 'another body' })));
  },

  'let go of it after a refusal, so that the next one is served, whatever its body': async () => {
    const { steps } = open();
    await steps.acquire(request);
    await steps.release(request, 'holder 1');
    assert.deepEqual(await steps.acquire({ ...request, fingerprint: 'another body' }), { holder: 'holder 2' });
  },

  'never let go of a reply that is kept': async () => {
    const { steps } = open();
    await steps.acquire(request);
    await steps.complete(request, 'holder 1', REPLY);
    await steps.release(request, 'holder 1');
    assert.deepEqual(await steps.acquire(request), { reply: REPLY });
  },
});

suite('work that is done once', {
  'is done at the first request, and its reply is replayed at every other': async () => {
    const { app } = testCore();
    const work = async (inner: typeof app) => ({ status: 201, body: (await inner.tags.create(OWN, 'Launch')).id });
    const first = await app.runOnce(request, work);
    assert.equal(first.replayed, false);
    for (let i = 0; i < 2; i++) {
      const again = await app.runOnce(request, () => assert.fail('was done again'));
      assert.deepEqual(again, { ...first, replayed: true });
    }
    await assert.rejects(app.tags.create(OWN, 'Launch'), { kind: 'conflict' });
  },

  'keeps nothing where it is refused, and is done at the next request': async () => {
    const { app, storage } = testCore();
    const refused = app.runOnce(request, async (inner) => {
      await inner.tags.create(OWN, 'Launch');
      await inner.tags.create(OWN, 'LAUNCH');
      return REPLY;
    });
    await assert.rejects(refused, { kind: 'conflict' });
    assert.equal(await storage.tags.count(OWN, []), 0);
    const repeated = await app.runOnce({ ...request, fingerprint: 'another body' }, async (inner) => {
      await inner.tags.create(OWN, 'Launch');
      return REPLY;
    });
    assert.deepEqual(repeated, { ...REPLY, replayed: false });
    assert.equal(await storage.tags.count(OWN, []), 1);
  },

  'is done once by many requests at the same time': async () => {
    const { app, storage } = testCore();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        app.runOnce(request, async (inner) => ({ status: 201, body: (await inner.tags.create(OWN, 'Launch')).id })),
      ),
    );
    const done = outcomes.filter(({ status }) => status === 'fulfilled');
    assert.equal(done.length, 1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal(outcome.reason.kind, 'conflict');
    assert.equal(await storage.tags.count(OWN, []), 1);
  },
});

suite('an idempotency key', {
  'is 1 to 255 visible ASCII characters': () => {
    for (const key of ['a', '!', '~', 'x'.repeat(255), '"a",;{}']) assert.match(key, IDEMPOTENCY_KEY);
    for (const key of ['', ' ', 'a b', 'a\t', 'é', 'a\x7f', 'a\n', 'x'.repeat(256)]) {
      assert.doesNotMatch(key, IDEMPOTENCY_KEY);
    }
  },
});
