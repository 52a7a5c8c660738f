import assert from 'node:assert/strict';
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
