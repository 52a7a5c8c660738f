import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { API_KEY_CACHE_TTL_MS, ApiKeyCache } from '../../adapters/http/api-key-cache.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import { Application } from '../../core/application.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite, type Test } from '../support/suite.ts';

const UNAUTHENTICATED = { kind: 'unauthenticated' };
const CHOSEN_SECRET = 'a-key-that-the-operator-chose';

interface Setup extends TestCore {
  readonly callers: ApiKeyCache;
  /** The monotonic clock. */
  readonly monotonic: { now: number };
  /** The hashes of secrets that were looked up. */
  readonly lookups: readonly string[];
  /** The writes of last uses, which a test settles. */
  readonly writes: { resolve(): void; reject(error: Error): void }[];
}

const withCallers =
  (test: (setup: Setup) => Promise<void>): Test =>
  () => {
    const core = testCore();
    const { apiKeys } = core.storage;
    const lookups: string[] = [];
    const writes: Setup['writes'] = [];
    const observed = {
      ...apiKeys,
      findByHash(hash: string) {
        lookups.push(hash);
        return apiKeys.findByHash(hash);
      },
      update: () =>
        new Promise<undefined>((resolve, reject) => writes.push({ resolve: () => resolve(undefined), reject })),
    };
    const system = { ...createNodeSystem(), now: () => core.clock.now };
    const app = new Application({ ...core.storage, apiKeys: observed }, system);
    const callers = new ApiKeyCache(app.apiKeys, CHOSEN_SECRET);
    const monotonic = { now: 0 };
    return withMonotonicClock(
      () => monotonic.now,
      () => test({ ...core, callers, monotonic, lookups, writes }),
    );
  };

suite('the cache of callers', {
  'looks a key up once for simultaneous requests, and again when its TTL has passed': withCallers(
    async ({ app, callers, monotonic, lookups }) => {
      const { apiKey, secret } = await app.apiKeys.create(OWN, {});
      const [one, same] = await Promise.all([callers.authenticate(secret), callers.authenticate(secret)]);
      assert.deepEqual([one.keyId, same.keyId], [apiKey.id, apiKey.id]);
      await app.apiKeys.revoke(OWN, apiKey.id);
      monotonic.now = API_KEY_CACHE_TTL_MS - 1;
      await callers.authenticate(secret);
      assert.equal(lookups.length, 1);
      monotonic.now = API_KEY_CACHE_TTL_MS;
      for (const _ of [1, 2]) await assert.rejects(callers.authenticate(secret), UNAUTHENTICATED);
      assert.equal(lookups.length, 3);
    },
  ),

  'rejects a cached key from the time at which it expires': withCallers(async ({ app, callers, monotonic }) => {
    const { secret } = await app.apiKeys.create(OWN, { expiresAt: formatTimestamp(NOON + SECOND) });
    for (monotonic.now of [0, SECOND - 1]) await callers.authenticate(secret);
    monotonic.now = SECOND;
    await assert.rejects(callers.authenticate(secret), UNAUTHENTICATED);
  }),

  'rejects a key with a wrong checksum without a lookup, unless the operator chose it': withCallers(
    async ({ app, callers, lookups }) => {
      const wrong = `${createApiKeySecret('x'.repeat(32)).slice(0, -1)}0`;
      for (const secret of ['', 'x', wrong, `${CHOSEN_SECRET}x`])
        await assert.rejects(callers.authenticate(secret), UNAUTHENTICATED);
      assert.equal(lookups.length, 0);
      await app.apiKeys.create(OWN, { secret: CHOSEN_SECRET });
      assert.equal((await callers.authenticate(CHOSEN_SECRET)).workspaceId, OWN);
    },
  ),

  'records uses in the background, one after another, and drops them if a write fails or 1,000 uses wait': withCallers(
    async ({ app, callers, writes }) => {
      // One use is being written, and 1,000 wait.
      for (let i = 0; i < 1_010; i++) {
        const { apiKey, secret } = await app.apiKeys.create(OWN, {});
        await callers.authenticate(secret);
        await app.apiKeys.revoke(OWN, apiKey.id);
      }
      for (let i = 0; i < 1_001; i++) {
        assert.equal(writes.length, i + 1);
        if (i === 0) writes[i]?.reject(new Error('unavailable'));
        else writes[i]?.resolve();
        await setImmediate();
      }
      await callers.settle();
      assert.equal(writes.length, 1_001);
    },
  ),
});
