import { memoryRateLimiter } from '../../adapters/memory/rate-limiter.ts';
import { memoryStorage } from '../../adapters/memory/storage.ts';
import { suite } from '../support/suite.ts';
import { storageModel } from './model.ts';
import { rateLimiterContract } from './rate-limiter.ts';
import { storageContract } from './storage.ts';

const close = async () => undefined;
const openStorage = async () => ({ storage: memoryStorage(Date.now), close });

suite('storage in memory', { ...storageContract(openStorage), ...storageModel(openStorage, 200) });

suite(
  'a rate limiter in memory',
  rateLimiterContract(async (limit, windowSeconds) => ({ limiter: memoryRateLimiter(limit, windowSeconds), close })),
);
