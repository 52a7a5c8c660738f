import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createApiKeySecret, isApiKeySecret } from '../../core/access/api-key.ts';
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
      isRotated: false,
    });
  },
});

suite('authentication with an API key', {
  'returns the workspace, the access and the current member of the key': async () => {
    const { app, storage } = testCore();
    const { groups: _, ...member } = await app.members.create(OWN, { ...ADA, role: 'admin' });
    const { apiKey, secret } = await app.apiKeys.create(OWN, { memberId: member.id, access: 'read' });
    const caller = { workspaceId: OWN, keyId: apiKey.id, access: 'read' };
    assert.deepEqual((await app.apiKeys.authenticate(secret)).caller, { ...caller, member });
    const changed = await storage.members.update(OWN, member.id, (current) => ({ ...current, role: 'member' }));
    assert.deepEqual((await app.apiKeys.authenticate(secret)).caller, {
      ...caller,
      member: { ...changed, invitation: 'pending' },
    });
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
});

suite('an API key', {
  'expires at the time that was set on creation': async () => {
    const { app, clock } = testCore();
    const { secret } = await app.apiKeys.create(OWN, { expiresAt: formatTimestamp(NOON + SECOND) });
    clock.now = NOON + SECOND - 1;
    assert.equal((await app.apiKeys.authenticate(secret)).remainingMs, 1);
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
});

suite('a revoked API key of a caller who is still cached', {
  'neither creates nor rotates another key': async () => {
    const { app } = testCore();
    const [caller, other] = [await app.apiKeys.create(OWN, {}), await app.apiKeys.create(OWN, {})];
    await app.apiKeys.revoke(OWN, caller.apiKey.id);
    await assert.rejects(app.apiKeys.create(OWN, {}, caller.apiKey.id), UNAUTHENTICATED);
    await assert.rejects(app.apiKeys.rotate(OWN, other.apiKey.id, 0, caller.apiKey.id), UNAUTHENTICATED);
    await app.apiKeys.authenticate(other.secret);
  },
});

suite('the last use of an API key', {
  'is recorded at most once a minute': async () => {
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
      assert.equal((await app.apiKeys.authenticate(secret)).isUseDue, usedAfterMs === expected);
      await app.apiKeys.recordUse(OWN, apiKey.id);
      const stored = await storage.apiKeys.findById(OWN, apiKey.id);
      assert.equal(stored?.lastUsedAt, formatTimestamp(NOON + expected), `used after ${usedAfterMs} ms`);
    }
  },
});
