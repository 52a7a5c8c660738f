import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { createMemoryStorage } from '../../adapters/memory/storage.ts';
import { suite } from '../support/suite.ts';
import { defineRateLimiterContract } from './rate-limiter-contract.ts';
import { defineStorageContract } from './storage-contract.ts';

const close = async () => undefined;
const openStorage = async () => ({ storage: createMemoryStorage(Date.now), close });

suite('storage in memory', ...defineStorageContract(openStorage));

suite(
  'a rate limiter in memory',
  defineRateLimiterContract(async (limit, windowSeconds) => ({
    limiter: createMemoryRateLimiter(limit, windowSeconds),
    close,
  })),
);
