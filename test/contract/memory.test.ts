import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { engines } from '../support/engines/engines.ts';
import { suite } from '../support/suite.ts';
import { defineRateLimiterContract } from './rate-limiter-contract.ts';
import { defineStorageContract } from './storage-contract.ts';

suite('storage in memory', ...defineStorageContract(await engines.memory()));

suite(
  'a rate limiter in memory',
  defineRateLimiterContract(async (limit, windowSeconds) => ({
    limiter: createMemoryRateLimiter(limit, windowSeconds),
    close: async () => undefined,
  })),
);
