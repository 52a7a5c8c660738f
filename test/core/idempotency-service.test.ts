import assert from 'node:assert/strict';
import { IDEMPOTENCY_KEY_PATTERN } from '../../core/idempotency/idempotency.ts';
import { IdempotencyService, type IdempotentRequest } from '../../core/idempotency/idempotency-service.ts';
import { DAY, NOON, OTHER, OWN, SECOND, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const RESPONSE = { status: 201, body: '{"id":"1"}' };

const request: IdempotentRequest = {
  workspaceId: OWN,
  keyId: 'key',
  idempotencyKey: 'once',
  fingerprint: 'a body',
};

function createService() {
  const { storage, clock } = testCore();
  // Each call of `acquire` takes the next ID, even if the call rejects.
  let ownerCount = 0;
  const newId = () => `owner ${++ownerCount}`;
  return { service: new IdempotencyService(storage.idempotencyRecords, { newId }, () => clock.now), clock };
}

suite('the idempotency service', {
  'locks a request for the first attempt, and meanwhile rejects other attempts with conflict': async () => {
    const { service } = createService();
    assert.deepEqual(await service.acquire(request), { lockOwner: 'owner 1' });
    await assert.rejects(service.acquire(request), { kind: 'conflict' });
    await assert.rejects(service.acquire({ ...request, fingerprint: 'another body' }), { kind: 'conflict' });
  },

  'returns the stored response to each repeated request, and rejects a request with another body': async () => {
    const { service } = createService();
    await service.acquire(request);
    await service.complete(request, 'owner 1', RESPONSE);
    for (let i = 0; i < 2; i++) assert.deepEqual(await service.acquire(request), { response: RESPONSE });
    await assert.rejects(service.acquire({ ...request, fingerprint: 'another body' }), {
      kind: 'invalid',
      message: 'idempotencyKey: was already used with another path or body, send a new key for each new request',
    });
    assert.deepEqual(await service.acquire(request), { response: RESPONSE });
  },

  'treats an idempotency key as new of another API key': async () => {
    const { service } = createService();
    await service.acquire(request);
    const others = [{ workspaceId: OTHER, keyId: 'c' }, { keyId: 'b' }, { idempotencyKey: 'b' }];
    for (const other of others) assert.ok('lockOwner' in (await service.acquire({ ...request, ...other })));
  },

  'releases a lock after 29 seconds, and lets the next request take it over': async () => {
    const { service, clock } = createService();
    await service.acquire(request);
    clock.now = NOON + 29 * SECOND - 1;
    await assert.rejects(service.acquire(request), { kind: 'conflict' });
    clock.now = NOON + 29 * SECOND;
    const other = { ...request, fingerprint: 'another body' };
    assert.deepEqual(await service.acquire(other), { lockOwner: 'owner 3' });
    await assert.rejects(service.complete(request, 'owner 1', RESPONSE), { kind: 'conflict' });
    await service.release(request, 'owner 1');
    await assert.rejects(service.acquire(request), { kind: 'conflict' });
    await service.complete(other, 'owner 3', RESPONSE);
    assert.deepEqual(await service.acquire(other), { response: RESPONSE });
  },

  'stores a response for 24 hours after the request has succeeded': async () => {
    const { service, clock } = createService();
    await service.acquire(request);
    clock.now = NOON + SECOND;
    await service.complete(request, 'owner 1', RESPONSE);
    clock.now = NOON + SECOND + DAY - 1;
    assert.deepEqual(await service.acquire(request), { response: RESPONSE });
    clock.now = NOON + SECOND + DAY;
    assert.ok('lockOwner' in (await service.acquire({ ...request, fingerprint: 'another body' })));
  },

  'lets the next request run, with any body, after the first request was rejected': async () => {
    const { service } = createService();
    await service.acquire(request);
    await service.release(request, 'owner 1');
    assert.deepEqual(await service.acquire({ ...request, fingerprint: 'another body' }), { lockOwner: 'owner 2' });
  },

  'does not release a request that has a stored response': async () => {
    const { service } = createService();
    await service.acquire(request);
    await service.complete(request, 'owner 1', RESPONSE);
    await service.release(request, 'owner 1');
    assert.deepEqual(await service.acquire(request), { response: RESPONSE });
  },
});

suite('work under an idempotency key', {
  'runs for the first request, and its response is replayed to each repeated request': async () => {
    const { app } = testCore();
    const work = async (inner: typeof app) => ({ status: 201, body: (await inner.tags.create(OWN, 'Launch')).id });
    const first = await app.runOnce(request, work);
    assert.equal(first.replayed, false);
    for (let i = 0; i < 2; i++) {
      const repeated = await app.runOnce(request, () => assert.fail('the work ran again'));
      assert.deepEqual(repeated, { ...first, replayed: true });
    }
    await assert.rejects(app.tags.create(OWN, 'Launch'), { kind: 'conflict' });
  },

  'stores nothing if it is rejected, and runs again for the next request': async () => {
    const { app, engine } = testCore();
    const rejected = app.runOnce(request, async (inner) => {
      await inner.tags.create(OWN, 'Launch');
      await inner.tags.create(OWN, 'LAUNCH');
      return RESPONSE;
    });
    await assert.rejects(rejected, { kind: 'conflict' });
    assert.equal(await engine.tags.count(OWN, []), 0);
    const repeated = await app.runOnce({ ...request, fingerprint: 'another body' }, async (inner) => {
      await inner.tags.create(OWN, 'Launch');
      return RESPONSE;
    });
    assert.deepEqual(repeated, { ...RESPONSE, replayed: false });
    assert.equal(await engine.tags.count(OWN, []), 1);
  },

  'runs once for many concurrent requests': async () => {
    const { app, engine } = testCore();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        app.runOnce(request, async (inner) => ({ status: 201, body: (await inner.tags.create(OWN, 'Launch')).id })),
      ),
    );
    const isFirst = (it: (typeof outcomes)[number]) => it.status === 'fulfilled' && !it.value.replayed;
    assert.equal(outcomes.filter(isFirst).length, 1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal(outcome.reason.kind, 'conflict');
    assert.equal(await engine.tags.count(OWN, []), 1);
  },
});

suite('an idempotency key', {
  'has 1 to 255 visible ASCII characters': () => {
    for (const key of ['a', '!', '~', 'x'.repeat(255), '"a",;{}']) assert.match(key, IDEMPOTENCY_KEY_PATTERN);
    for (const key of ['', ' ', 'a b', 'a\t', 'é', 'a\x7f', 'a\n', 'x'.repeat(256)]) {
      assert.doesNotMatch(key, IDEMPOTENCY_KEY_PATTERN);
    }
  },
});
