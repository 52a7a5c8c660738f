import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { addAll } from '../support/add-all.ts';
import type { Tests } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildIdempotencyRecord, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const TTL_MS = 1_000;
const SHORT_TTL_MS = 3_000;
const LONG_TTL_MS = 3_600_000;

/**
 * Returns the tests of the expiry of records. An engine that takes the time from the test is tested to the millisecond.
 * With any other engine, the tests wait in real time, and check only that the engine keeps records that expire an hour
 * later.
 */
export function defineExpiryTests(test: CreateStorageTest, takesClock: boolean): Tests {
  return {
    'removes each record when it has expired, and not before': test(async (storage, { setTime }) => {
      const { idempotencyRecords: requests } = storage;
      const [here, elsewhere] = [newId(), newId()];
      const start = storage.now();
      setTime(start);
      const add = async (workspaceId: string, expiresAt: number) => {
        const record = buildIdempotencyRecord(workspaceId, { expiresAt });
        await requests.add(record);
        return record;
      };
      const end = start + TTL_MS;
      const [expiring, foreign, extended] = [await add(here, end), await add(elsewhere, end), await add(here, end)];
      const lasting = await add(here, takesClock ? end + 1 : end + LONG_TTL_MS);
      const extend = () => requests.update(here, extended.id, (it) => ({ ...it, expiresAt: lasting.expiresAt }));
      assert.ok(await extend());
      if (takesClock) {
        setTime(end - 1);
        await add(here, lasting.expiresAt);
        assert.deepEqual(await requests.get(here, expiring.id), expiring);
        assert.deepEqual(await requests.get(elsewhere, foreign.id), foreign);
      }
      setTime(end);
      const isRemoved = async () => {
        await add(newId(), lasting.expiresAt);
        const found = [await requests.get(here, expiring.id), await requests.get(elsewhere, foreign.id)];
        return found.every((it) => it === undefined);
      };
      if (takesClock) assert.ok(await isRemoved(), 'expired records remain after a write');
      else await waitUntil(isRemoved);
      assert.deepEqual(await requests.get(here, lasting.id), lasting);
      assert.equal((await requests.get(here, extended.id))?.expiresAt, lasting.expiresAt);
    }),

    'keeps a record that expires a few seconds later until then': test(async (storage) => {
      const { idempotencyRecords: requests } = storage;
      const expiresAt = storage.now() + SHORT_TTL_MS;
      const record = buildIdempotencyRecord(newId(), { expiresAt });
      await requests.add(record);
      for (;;) {
        await requests.add(buildIdempotencyRecord(newId()));
        const found = await requests.get(record.workspaceId, record.id);
        if (storage.now() >= expiresAt) return;
        assert.deepEqual(found, record, `${expiresAt - storage.now()} ms too early`);
        await delay(100);
      }
    }),

    'keeps an expired record that a change extends before the engine removes it': test(async (storage, { setTime }) => {
      const workspaceId = newId();
      const start = storage.now();
      setTime(start);
      const expired = [start, start].map((expiresAt) => buildIdempotencyRecord(workspaceId, { expiresAt }));
      const [first, second] = expired.map(({ id }) => id) as [string, string];
      await addAll(storage.idempotencyRecords, expired);
      setTime(start + TTL_MS);
      const extend = ({ idempotencyRecords: requests }: typeof storage, id: string) =>
        requests.update(workspaceId, id, (it) => ({ ...it, expiresAt: start + LONG_TTL_MS }));
      const extended = [
        await storage.runInTransaction((staged) => extend(staged, first)),
        await extend(storage, second),
      ];
      await storage.idempotencyRecords.add(buildIdempotencyRecord(workspaceId));
      assert.deepEqual(await storage.idempotencyRecords.get(workspaceId, first), extended[0]);
      assert.deepEqual(await storage.idempotencyRecords.get(workspaceId, second), extended[1]);
    }),
  };
}
