import { createMemoryEngine } from '../../adapters/memory/engine.ts';
import { createMemoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { suite } from '../support/suite.ts';
import { defineRateLimiterContract } from './rate-limiter-contract.ts';
import { defineStorageContract } from './storage-contract.ts';

const close = async () => undefined;
const openStorage = async () => ({ engine: createMemoryEngine(Date.now), close });

suite('storage in memory', ...defineStorageContract(openStorage));

suite(
  'a rate limiter in memory',
  defineRateLimiterContract(async (limit, windowSeconds) => ({
    limiter: createMemoryRateLimiter(limit, windowSeconds),
    close,
  })),
);
