import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createApiKeySecret, isApiKeySecret } from '../../core/access/api-key.ts';
import { Application } from '../../core/application.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { MINUTE, NOON, OWN, SECOND, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };
const UNAUTHENTICATED = { kind: 'unauthenticated' };

suite('a new API key', {
  'is stored without its secret': async () => {
    const { app, storage } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, { label: 'laptop' });
    assert.ok(isApiKeySecret(secret));
    const { id, ...stored } = (await storage.apiKeys.findById(OWN, apiKey.id)) as typeof apiKey;
    assert.deepEqual(stored, {
      workspaceId: OWN,
      hash: createHash('sha256').update(secret).digest('hex'),
      lastFour: secret.slice(-4),
      label: 'laptop',
      memberId: null,
      access: 'full',
      createdAt: formatTimestamp(NOON),
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
  },
});

suite('authentication with an API key', {
  'returns the workspace, the access and the current member of the key': async () => {
    const { app, storage } = testCore();
    const member = await app.members.create(OWN, { ...ADA, role: 'admin' });
    const { apiKey, secret } = await app.apiKeys.create(OWN, { memberId: member.id, access: 'read' });
    const caller = { workspaceId: OWN, keyId: apiKey.id, access: 'read' };
    assert.deepEqual(await app.apiKeys.authenticate(secret), { ...caller, member });
    const changed = await storage.members.update(OWN, member.id, (current) => ({ ...current, role: 'member' }));
    assert.deepEqual(await app.apiKeys.authenticate(secret), { ...caller, member: changed });
  },

  'returns no member if the key does not belong to a member': async () => {
    const { app } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    assert.equal(apiKey.label, '');
    const caller = { workspaceId: OWN, keyId: apiKey.id, access: 'full', member: undefined };
    assert.deepEqual(await app.apiKeys.authenticate(secret), caller);
  },

  'rejects an unknown key, and a key whose member was removed': async () => {
    const { app, engine } = testCore();
    const { id: memberId } = await app.members.create(OWN, ADA);
    const { secret } = await app.apiKeys.create(OWN, { memberId });
    await engine.members.remove(OWN, memberId);
    for (const invalid of [secret, createApiKeySecret('x'.repeat(32)), '', 'x', 'constructor']) {
      await assert.rejects(app.apiKeys.authenticate(invalid), UNAUTHENTICATED, invalid);
    }
  },

  'rejects a key with a wrong checksum without looking it up': async () => {
    const { app } = testCore({ sha256: () => assert.fail('the key was looked up') });
    const wrong = `${createApiKeySecret('x'.repeat(32)).slice(0, -1)}0`;
    await assert.rejects(app.apiKeys.authenticate(wrong), UNAUTHENTICATED);
  },

  'accepts a key without a checksum only if the operator chose it': async () => {
    const operatorChosenSecret = 'a-key-that-the-operator-chose';
    const { app, storage } = testCore();
    await app.apiKeys.create(OWN, { secret: operatorChosenSecret });
    await assert.rejects(app.apiKeys.authenticate(operatorChosenSecret), UNAUTHENTICATED);
    const other = new Application(storage, createNodeSystem(), { operatorChosenSecret });
    assert.equal((await other.apiKeys.authenticate(operatorChosenSecret)).workspaceId, OWN);
  },
});

suite('an API key', {
  'expires at the time that was set on creation': async () => {
    const { app, clock } = testCore();
    const { secret } = await app.apiKeys.create(OWN, { expiresAt: formatTimestamp(NOON + SECOND) });
    clock.now = NOON + SECOND - 1;
    await app.apiKeys.authenticate(secret);
    clock.now = NOON + SECOND;
    await assert.rejects(app.apiKeys.authenticate(secret), UNAUTHENTICATED);
  },

  'stops working permanently when it is revoked': async () => {
    const { app, clock } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    const { secret: another } = await app.apiKeys.create(OWN, {});
    const revoked = await app.apiKeys.revoke(OWN, apiKey.id);
    assert.deepEqual(revoked, { ...apiKey, revokedAt: formatTimestamp(NOON) });
    await assert.rejects(app.apiKeys.authenticate(secret), UNAUTHENTICATED);
    await app.apiKeys.authenticate(another);
    clock.now += SECOND;
    assert.deepEqual(await app.apiKeys.revoke(OWN, apiKey.id), revoked);
  },

  'stops working in other processes at most one cache TTL after it is revoked, even if the clock is set back':
    async () => {
      const { app, storage, clock } = testCore();
      let elapsedMs = 0;
      const system = { ...createNodeSystem(), now: () => clock.now, monotonicNow: () => elapsedMs };
      const other = new Application(storage, system, { callerCacheTtlMs: 3 * SECOND });
      const { apiKey, secret } = await app.apiKeys.create(OWN, {});
      await other.apiKeys.authenticate(secret);
      await app.apiKeys.revoke(OWN, apiKey.id);
      elapsedMs += 3 * SECOND - 1;
      await other.apiKeys.authenticate(secret);
      elapsedMs += 1;
      clock.now -= SECOND;
      await assert.rejects(other.apiKeys.authenticate(secret), UNAUTHENTICATED);
    },
});

suite('the last use of an API key', {
  'is written at most once a minute': async () => {
    const { app, storage, clock } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    const cases = [
      [0, 0],
      [1, 0],
      [MINUTE - 1, 0],
      [MINUTE, MINUTE],
      [2 * MINUTE - 1, MINUTE],
      [5 * MINUTE, 5 * MINUTE],
    ] as const;
    for (const [usedAfterMs, expected] of cases) {
      clock.now = NOON + usedAfterMs;
      await app.apiKeys.authenticate(secret);
      await app.apiKeys.flush();
      const stored = await storage.apiKeys.findById(OWN, apiKey.id);
      assert.equal(stored?.lastUsedAt, formatTimestamp(NOON + expected), `used after ${usedAfterMs} ms`);
    }
  },

  'is not written for a rejected key': async () => {
    const { app, storage } = testCore();
    const { apiKey, secret } = await app.apiKeys.create(OWN, {});
    await app.apiKeys.revoke(OWN, apiKey.id);
    await assert.rejects(app.apiKeys.authenticate(secret), UNAUTHENTICATED);
    await app.apiKeys.flush();
    assert.equal((await storage.apiKeys.findById(OWN, apiKey.id))?.lastUsedAt, null);
  },

  'is written in the background, by one write at a time, and again at the next use if the write fails': async () => {
    const { app, updates } = createBlockedCore();
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

  'is written for one key after another; while 1,000 keys wait, uses of further keys are not recorded': async () => {
    const { app, updates } = createBlockedCore();
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

/** Creates the application on a storage whose updates of API keys settle when a test resolves or rejects them. */
function createBlockedCore() {
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
