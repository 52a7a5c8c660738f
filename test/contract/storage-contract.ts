import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestEngine } from '../support/engines/engine.ts';
import type { Tests } from '../support/suite.ts';
import { defineEventTests } from './events.ts';
import { defineExpiryTests } from './expiry.ts';
import { defineGlobalRecordTests } from './global-records.ts';
import { defineIndexedListTests } from './indexed-lists.ts';
import { defineModelTests } from './model.ts';
import { defineQueryTests } from './queries.ts';
import { defineRecordTests } from './records.ts';
import { defineSharedDataTests } from './shared-data.ts';
import { ContractDatabase } from './storage-test.ts';
import { defineSumTests } from './sums.ts';
import { defineTimeLimitTests } from './time-limits.ts';
import { defineTransactionTests } from './transactions.ts';
import { defineUnusualTextTests } from './unusual-texts.ts';

/** The clock of a MongoDB storage is read from heartbeats, which can arrive late on a busy machine. */
const CLOCK_TOLERANCE_MS = 10_000;

/**
 * Returns the tests that every storage engine must pass. They share a database, so each test uses its own IDs and
 * workspaces.
 */
export function defineStorageContract(engine: TestEngine): Tests[] {
  const database = new ContractDatabase(engine);
  const test = database.createTest;
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
    // These tests run early, because one of them kills a process, whose transaction MongoDB keeps open for ten seconds.
    // If they ran last, the clean-up would wait for the end of this transaction before it could remove the database.
    ...(engine.isShared ? [defineSharedDataTests(test, engine)] : []),
    defineRecordTests(test),
    defineGlobalRecordTests(test),
    defineQueryTests(test),
    defineUnusualTextTests(test),
    defineIndexedListTests(test, engine),
    defineSumTests(test, engine),
    ...(engine.isModel ? [] : [defineTimeLimitTests(test, engine)]),
    defineExpiryTests(test, engine.takesClock),
    defineEventTests(test, engine),
    ...defineTransactionTests(test, engine.transactions),
    ...(engine.isModel ? [] : [defineModelTests(test)]),
    { 'clean-up: removes the database': () => database.remove() },
  ];
}
