import assert from 'node:assert/strict';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { engines } from '../support/engines/engines.ts';
import { suite } from '../support/suite.ts';
import { defineRateLimiterContract } from './rate-limiter-contract.ts';
import { defineStorageContract } from './storage-contract.ts';

/** The constant of adapters/memory/rate-limiter.ts with the same name. */
const MAX_KEY_COUNT = 50_000;

suite('storage in memory', ...defineStorageContract(await engines.memory()));

suite(
  'a rate limiter in memory',
  {
    'drops the count of the key whose last request is the oldest if there are too many keys': async () => {
      const limiter = createMemoryRateLimiter(1, 60);
      const isAllowed = async (key: string) => (await limiter.consume(key)).allowed;
      for (const key of ['attacker', 'other']) assert.equal(await isAllowed(key), true);
      for (let i = 0; i < MAX_KEY_COUNT - 1; i++) await limiter.consume(`address ${i}`);
      assert.equal(await isAllowed('other'), false);
      for (let i = 0; i < 2; i++) assert.equal(await isAllowed('attacker'), i === 0);
    },
  },
  defineRateLimiterContract(async (limit, windowSeconds) => ({
    limiter: createMemoryRateLimiter(limit, windowSeconds),
    close: async () => undefined,
  })),
);
