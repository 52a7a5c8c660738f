import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createNodeSystem } from '../../bootstrap/system.ts';
import { apiKeySecret, isApiKeySecret } from '../../core/access/api-key.ts';
import { Application } from '../../core/application.ts';
import { timestamp } from '../../core/shared/date.ts';
import { MINUTE, NOON, OTHER, OWN, SECOND, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };
const REFUSED = { kind: 'unauthenticated' };

suite('a new API key', {
  'is kept without its secret': async () => {
    const { app, storage } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, { label: 'laptop' });
    assert.ok(isApiKeySecret(secret));
    const { id, ...kept } = (await storage.apiKeys.get(OWN, apiKey.id)) as typeof apiKey;
    assert.deepEqual(kept, {
      workspaceId: OWN,
      hash: createHash('sha256').update(secret).digest('hex'),
      lastFour: secret.slice(-4),
      label: 'laptop',
      memberId: null,
      access: 'full',
      createdAt: timestamp(NOON),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
  },

  'is for a member of its workspace, or for none': async () => {
    const { app, storage } = testCore();
    const { id } = await app.members.create(OTHER, ADA);
    for (const memberId of [id, UNKNOWN_ID]) {
      await assert.rejects(app.apiKeys.create(OWN, { memberId }), { kind: 'not_found' });
    }
    assert.equal(await storage.apiKeys.count(OWN, []), 0);
  },
});

suite('the caller of an API key', {
  'is its workspace, its access and its member as it is now': async () => {
    const { app, storage } = testCore();
    const member = await app.members.create(OWN, { ...ADA, role: 'admin' });
    const { apiKey, secret } = await app.apiKeys.create(OWN, { memberId: member.id, access: 'read' });
    const caller = { workspaceId: OWN, keyId: apiKey.id, access: 'read' };
    assert.deepEqual(await app.apiKeys.authenticate(secret), { ...caller, member });
    const changed = await storage.members.update(OWN, member.id, (now) => ({ ...now, role: 'member' }));
    assert.deepEqual(await app.apiKeys.authenticate(secret), { ...caller, member: changed });
  },

  'is no member where the key has none': async () => {
    const { app } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    assert.equal(apiKey.label, '');
    const caller = { workspaceId: OWN, keyId: apiKey.id, access: 'full', member: undefined };
    assert.deepEqual(await app.apiKeys.authenticate(secret), caller);
  },

  'is refused with a key that was never made, or whose member is gone': async () => {
    const { app, storage } = testCore();
    const { id: memberId } = await app.members.create(OWN, ADA);
    const { secret } = await app.apiKeys.create(OWN, { memberId });
    await storage.members.remove(OWN, memberId);
    for (const unknown of [secret, apiKeySecret('x'.repeat(32)), '', 'x', 'constructor']) {
      await assert.rejects(app.apiKeys.authenticate(unknown), REFUSED, unknown);
    }
  },

  'is refused without a look-up where the checksum is wrong': async () => {
    const { app } = testCore({ sha256: () => assert.fail('was looked up') });
    const wrong = `${apiKeySecret('x'.repeat(32)).slice(0, -1)}0`;
    await assert.rejects(app.apiKeys.authenticate(wrong), REFUSED);
  },

  'may have a key without a checksum in the demo alone': async () => {
    const secret = 'demo-key-of-the-tests';
    const demo = testCore({ demoApiKey: secret });
    await demo.app.apiKeys.create(OWN, { secret });
    assert.equal((await demo.app.apiKeys.authenticate(secret)).workspaceId, OWN);
    const other = testCore();
    await other.app.apiKeys.create(OWN, { secret });
    await assert.rejects(other.app.apiKeys.authenticate(secret), REFUSED);
  },
});

suite('the end of an API key', {
  'is the moment that it was made with': async () => {
    const { app, clock } = testCore();
    const { secret } = await app.apiKeys.create(OWN, { expiresAt: timestamp(NOON + SECOND) });
    clock.now = NOON + SECOND - 1;
    await app.apiKeys.authenticate(secret);
    clock.now = NOON + SECOND;
    await assert.rejects(app.apiKeys.authenticate(secret), REFUSED);
  },

  'is its revocation, at once and for good': async () => {
    const { app, clock } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    const { secret: another } = await app.apiKeys.create(OWN, {});
    const revoked = await app.apiKeys.revoke(OWN, apiKey.id);
    assert.deepEqual(revoked, { ...apiKey, revokedAt: timestamp(NOON) });
    await assert.rejects(app.apiKeys.authenticate(secret), REFUSED);
    await app.apiKeys.authenticate(another);
    clock.now += SECOND;
    assert.deepEqual(await app.apiKeys.revoke(OWN, apiKey.id), revoked);
  },

  'is noticed in time by a process whose clock is set back': async () => {
    const { app, storage, clock } = testCore();
    let elapsed = 0;
    const system = { ...createNodeSystem(), now: () => clock.now, elapsed: () => elapsed };
    const other = new Application(storage, system, 3 * SECOND);
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    await other.apiKeys.authenticate(secret);
    await app.apiKeys.revoke(OWN, apiKey.id);
    elapsed += 3 * SECOND - 1;
    await other.apiKeys.authenticate(secret);
    elapsed += 1;
    clock.now -= SECOND;
    await assert.rejects(other.apiKeys.authenticate(secret), REFUSED);
  },

  'is not for another workspace to bring about': async () => {
    const { app } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    await assert.rejects(app.apiKeys.revoke(OTHER, apiKey.id), { kind: 'not_found' });
    await assert.rejects(app.apiKeys.revoke(OWN, UNKNOWN_ID), { kind: 'not_found' });
    await app.apiKeys.authenticate(secret);
  },
});

suite('the last use of an API key', {
  'is written once a minute at most': async () => {
    const { app, storage, clock } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    const written = [
      [0, 0],
      [1, 0],
      [MINUTE - 1, 0],
      [MINUTE, MINUTE],
      [2 * MINUTE - 1, MINUTE],
      [5 * MINUTE, 5 * MINUTE],
    ] as const;
    for (const [used, expected] of written) {
      clock.now = NOON + used;
      await app.apiKeys.authenticate(secret);
      await app.apiKeys.flush();
      const kept = await storage.apiKeys.get(OWN, apiKey.id);
      assert.equal(kept?.lastUsedAt, timestamp(NOON + expected), `used after ${used} ms`);
    }
  },

  'is not that of a refused key': async () => {
    const { app, storage } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    await app.apiKeys.revoke(OWN, apiKey.id);
    await assert.rejects(app.apiKeys.authenticate(secret), REFUSED);
    await app.apiKeys.flush();
    assert.equal((await storage.apiKeys.get(OWN, apiKey.id))?.lastUsedAt, null);
  },

  'is recorded in the background, once for uses at the same time, and again after a failure': async () => {
    const { app, updates } = blockedCore();
    const { secret } = await app.apiKeys.create(OWN, {});
    for (let i = 0; i < 3; i++) await app.apiKeys.authenticate(secret);
    assert.equal(updates.length, 1);
    updates[0]?.reject(new Error('unavailable'));
    await app.apiKeys.flush();
    await app.apiKeys.authenticate(secret);
    assert.equal(updates.length, 2);
    updates[1]?.resolve();
    await app.apiKeys.flush();
  },

  'is pending for at most 1,000 keys, which are written one after another': async () => {
    const { app, updates } = blockedCore();
    for (let i = 0; i <= 1_000; i++) {
      await app.apiKeys.authenticate((await app.apiKeys.create(OWN, {})).secret);
    }
    for (let i = 0; i < 1_000; i++) {
      assert.equal(updates.length, i + 1);
      updates[i]?.resolve();
      await setImmediate();
    }
    await app.apiKeys.flush();
    assert.equal(updates.length, 1_000);
  },
});

/** The use cases over a storage whose updates of API keys end as a test says. */
function blockedCore() {
  const { storage, clock } = testCore();
  const updates: { resolve(): void; reject(error: Error): void }[] = [];
  const update = () =>
    new Promise<undefined>((resolve, reject) => updates.push({ resolve: () => resolve(undefined), reject }));
  const app = new Application(
    { ...storage, apiKeys: { ...storage.apiKeys, update } },
    { ...createNodeSystem(), now: () => clock.now },
  );
  return { app, updates };
}
