import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { type OpenStorage, onStorage, type Tests } from './on-storage.ts';
import { queries } from './queries.ts';
import { records } from './records.ts';
import { registry } from './registry.ts';
import { transactions } from './transactions.ts';

/** Heartbeats of a database may be read late on a busy machine. */
const CLOCK_TOLERANCE_MS = 10_000;

/**
 * What every storage does, as tests. What is open may be shared by other tests: each of these works with ids and in
 * workspaces of its own.
 */
export function storageContract(open: OpenStorage): Tests {
  const test = onStorage(open);
  return {
    'is ready when it is open': test((storage) => storage.checkReady()),
    'tells the time, inside of a transaction too': test(async (storage) => {
      const before = storage.now();
      assert.ok(Math.abs(before - Date.now()) < CLOCK_TOLERANCE_MS, `${before}`);
      await delay(50);
      const inside = await storage.runInTransaction(async (staged) => staged.now());
      assert.ok(inside > before && inside < before + CLOCK_TOLERANCE_MS, `${before}, ${inside}`);
    }),
    ...records(test),
    ...registry(test),
    ...queries(test),
    ...transactions(test),
  };
}
