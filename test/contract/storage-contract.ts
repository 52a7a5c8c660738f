import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Tests } from '../support/suite.ts';
import { defineGlobalRecordTests } from './global-records.ts';
import { defineQueryTests } from './queries.ts';
import { defineRecordTests } from './records.ts';
import { createStorageTest, type OpenStorage } from './storage-test.ts';
import { defineTransactionTests } from './transactions.ts';

/** The clock of a MongoDB storage is read from heartbeats, which can arrive late on a busy machine. */
const CLOCK_TOLERANCE_MS = 10_000;

/** Returns the tests that every storage must pass. Tests may share a database, so each test uses its own ids and workspaces. */
export function defineStorageContract(open: OpenStorage): Tests[] {
  const test = createStorageTest(open);
  const basicTests: Tests = {
    'is ready after it was opened': test((storage) => storage.checkReady()),
    'returns the current time, also in a transaction': test(async (storage) => {
      const before = storage.now();
      assert.ok(Math.abs(before - Date.now()) < CLOCK_TOLERANCE_MS, `${before}`);
      await delay(50);
      const after = await storage.runInTransaction(async (transaction) => transaction.now());
      assert.ok(after > before && after < before + CLOCK_TOLERANCE_MS, `${before}, ${after}`);
    }),
  };
  return [
    basicTests,
    defineRecordTests(test),
    defineGlobalRecordTests(test),
    defineQueryTests(test),
    defineTransactionTests(test),
  ];
}
