import assert from 'node:assert/strict';
import { IdempotencyService, type IdempotentRequest } from '../../core/idempotency/idempotency-service.ts';
import { DAY, NOON, OWN, SECOND, testCore } from '../support/core.ts';
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
  return { service: new IdempotencyService(storage.idempotencyRecords, { newId }, storage.clock), storage, clock };
}

suite('the idempotency service', {
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

  'stores only the ID of the record if the response has a secret, and rejects each repeated request': async () => {
    const { service, storage } = createService();
    const secretRequest = { ...request, lostSecretRemedy: 'rotate it for a new secret' };
    await service.acquire(secretRequest);
    await service.complete(secretRequest, 'owner 1', { ...RESPONSE, recordId: '1' });
    const stored = await storage.idempotencyRecords.update(OWN, 'key/once', (record) => record);
    assert.deepEqual(stored?.response, { recordId: '1' });
    for (let i = 0; i < 2; i++) {
      await assert.rejects(service.acquire(secretRequest), {
        kind: 'conflict',
        causeName: 'already_created',
        message: 'already created as 1; rotate it for a new secret',
      });
    }
    await assert.rejects(service.acquire({ ...secretRequest, fingerprint: 'another body' }), { kind: 'invalid' });
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

  'does not release a request that has a stored response': async () => {
    const { service } = createService();
    await service.acquire(request);
    await service.complete(request, 'owner 1', RESPONSE);
    await service.release(request, 'owner 1');
    assert.deepEqual(await service.acquire(request), { response: RESPONSE });
  },
});
