import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { createStorage } from '../../adapters/persistence/storage-engine.ts';
import type { Storage } from '../../core/application.ts';
import { createEventFactory, type EventType } from '../../core/event/event.ts';
import { EVENT_TTL_MS } from '../../core/limits.ts';
import { addAll } from '../support/add-all.ts';
import { each } from '../support/each.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { quickOrLong } from '../support/scale.ts';
import type { Tests } from '../support/suite.ts';
import { buildEvent, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const CONCURRENT_COUNT = 40;
const [SMALL_COUNT, LARGE_COUNT] = [100, quickOrLong(1_500, 10_000)];
const MAX_GROWTH = 3;

/** Returns the tests of the events of a workspace and their numbers. */
export function defineEventTests(test: CreateStorageTest, { countExaminedRecords, takesClock }: TestEngine): Tests {
  const add = (storage: Storage, workspaceId: string, type: EventType = 'campaign.published') =>
    storage.unitOfWork.run(({ events }) => events.add(createEvent(storage, workspaceId, type)));
  return {
    'numbers the events of each workspace without a gap, in the order of the commits': test(
      async (_, { openOnSameData }) => {
        const storages = (await openOnSameData()).map(createStorage);
        const workspaceIds = [newId(), newId()];
        let isDone = false;
        const read = async (workspaceId: string) => {
          const sequences: number[] = [];
          while (sequences.length < CONCURRENT_COUNT) {
            const wasDone = isDone;
            const query = {
              after: sequences.at(-1) ?? 0,
              types: ['member.updated', 'share.created'],
              pageSize: 7,
            } as const;
            const { items } = await findPage(storages.at(-1) as Storage, workspaceId, query);
            sequences.push(...items.map(({ sequence }) => sequence));
            if (wasDone && items.length === 0) break;
            await delay(1);
          }
          return sequences;
        };
        const addConcurrently = (workspaceId: string) =>
          Array.from({ length: CONCURRENT_COUNT }, (__, i) =>
            add(
              storages[i % storages.length] as Storage,
              workspaceId,
              i % 3 === 0 ? 'member.updated' : 'share.created',
            ),
          );
        const readers = Promise.all(workspaceIds.map(read));
        await Promise.all(workspaceIds.flatMap(addConcurrently)).finally(() => {
          isDone = true;
        });
        const all = Array.from({ length: CONCURRENT_COUNT }, (__, i) => i + 1);
        for (const sequences of await readers) assert.deepEqual(sequences, all);
      },
    ),

    'keeps neither the events nor the numbers of a transaction that throws': test(async (engine) => {
      const storage = createStorage(engine);
      const committed: string[] = [];
      storage.onEventsCommitted((id) => committed.push(id));
      const workspaceId = newId();
      const failure = new Error('the work throws');
      const addTwice = (shouldThrow: boolean) =>
        storage.unitOfWork.run(async ({ events, unitOfWork }) => {
          await events.add(createEvent(storage, workspaceId));
          await unitOfWork.run((nested) => nested.events.add(createEvent(storage, workspaceId)));
          assert.equal(await events.findNewestSequence(workspaceId), 2);
          assert.deepEqual(committed, []);
          if (shouldThrow) throw failure;
        });
      await assert.rejects(addTwice(true), failure);
      assert.equal(await storage.events.findNewestSequence(workspaceId), 0);
      assert.deepEqual(await listSequences(storage, workspaceId), []);
      await addTwice(false);
      assert.deepEqual(await listSequences(storage, workspaceId), [1, 2]);
      assert.deepEqual(committed, [workspaceId]);
    }),

    'returns events until they expire, and numbers later events after them': test(async (engine, { setTime }) => {
      const storage = createStorage(engine);
      const workspaceId = newId();
      const start = engine.now();
      setTime(start);
      for (let i = 0; i < 3; i++) await add(storage, workspaceId);
      const end = start + EVENT_TTL_MS;
      // Other engines have a later time when they store an event.
      if (takesClock) assert.deepEqual(await listSequences(storage, workspaceId, 0, end - 1), [1, 2, 3]);
      const muchLater = end + EVENT_TTL_MS;
      assert.deepEqual(await listSequences(storage, workspaceId, 0, takesClock ? end : muchLater), []);
      assert.equal(await storage.events.findNewestSequence(workspaceId), 3);
      setTime(end);
      await add(storage, workspaceId);
      assert.deepEqual(
        await listSequences(storage, workspaceId, 0, takesClock ? end : start),
        takesClock ? [4] : [1, 2, 3, 4],
      );
      assert.deepEqual(await listSequences(storage, workspaceId, 3, start), [4]);
      assert.deepEqual(await listSequences(storage, workspaceId, 4, start), []);
    }),

    'starts a page at the oldest event that has not expired': test(async (engine) => {
      const storage = createStorage(engine);
      const workspaceId = newId();
      const now = engine.now();
      const far = now + EVENT_TTL_MS;
      const records = Array.from({ length: 9 }, (_, i) =>
        buildEvent(workspaceId, { sequence: i + 1, expiresAt: i < 6 ? far : far + 1 }),
      );
      await addAll(engine.events, records);
      await engine.eventCounters.add({ id: workspaceId, workspaceId, sequence: 9 });
      const types = ['campaign.published'] as const;
      await each(new Map([undefined, types].map((it) => [`${it}`, it] as const)), async (given) => {
        const list = (after: number, time: number) =>
          findPage(storage, workspaceId, { after, pageSize: 2, types: given }, time);
        assert.deepEqual(toSequences(await list(0, far - 1)), [1, 2]);
        for (const after of [0, 3, 6]) assert.deepEqual(toSequences(await list(after, far)), [7, 8]);
        assert.deepEqual(toSequences(await list(7, far)), [8, 9]);
        assert.deepEqual([(await list(6, far)).hasNext, (await list(7, far)).hasNext], [true, false]);
      });
    }),

    ...(typeof countExaminedRecords === 'string'
      ? {}
      : {
          'examines few events after a late sequence, or of a rare type': test(async (engine, { location }) => {
            const storage = createStorage(engine);
            const count = async (eventCount: number) => {
              const workspaceId = newId();
              const records = Array.from({ length: eventCount }, (_, i) =>
                buildEvent(workspaceId, { sequence: i + 1, type: i === 5 ? 'domain.verified' : 'share.created' }),
              );
              await addAll(engine.events, records);
              await engine.eventCounters.add({ id: workspaceId, workspaceId, sequence: eventCount });
              const pages = [
                [{ after: eventCount - 9 }, 9],
                [{ after: 0, types: ['domain.verified'] }, 1],
                [{ after: eventCount - 9, types: ['domain.verified', 'share.created'] }, 9],
                [{ after: 6, types: ['domain.verified', 'member.created'] }, 0],
              ] as const;
              const counts: number[] = [];
              for (const [query, expectedCount] of pages) {
                const examined = await countExaminedRecords(location, async () => {
                  const { items } = await findPage(storage, workspaceId, { pageSize: 50, ...query });
                  assert.equal(items.length, expectedCount);
                });
                counts.push(examined);
              }
              return counts;
            };
            const [few, many] = [await count(SMALL_COUNT), await count(LARGE_COUNT)];
            for (const [i, examined] of many.entries())
              assert.ok(examined <= MAX_GROWTH * Math.max(few[i] as number, 5), `${few}, and then ${many}`);
          }),
        }),
  };
}

function createEvent(storage: Storage, workspaceId: string, type: EventType = 'campaign.published') {
  return createEventFactory({ newId }, storage.clock)(workspaceId, type, {} as never);
}

type Query = Parameters<Storage['events']['findPage']>[1];

function findPage(storage: Storage, workspaceId: string, query: Query, now = storage.clock.now()) {
  return storage.events.findPage(workspaceId, query, now);
}

const toSequences = ({ items }: Awaited<ReturnType<typeof findPage>>) => items.map((it) => it.sequence);

async function listSequences(storage: Storage, workspaceId: string, after = 0, now?: number): Promise<number[]> {
  return toSequences(await findPage(storage, workspaceId, { after, pageSize: 100 }, now));
}
