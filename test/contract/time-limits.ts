import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import type { StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { STORAGE_TIMEOUT_MS } from '../../adapters/persistence/storage-timeout.ts';
import { addAll } from '../support/add-all.ts';
import type { TestEngine } from '../support/engines/engine.ts';
import { freezableStorages } from '../support/storage.ts';
import type { Tests } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildCampaign, buildDomain, buildTag, newId } from './samples.ts';
import type { CreateStorageTest } from './storage-test.ts';

const RECORD_COUNT = 20_000;
const LIST_COUNT = 8;
/** The minimum number of reads by ID, one after another, while the lists run. */
const MIN_READ_COUNT = 5;
/** The time by which a call may exceed `STORAGE_TIMEOUT_MS`, because the machine is busy. */
const TOLERANCE_MS = 2_000;

/** Returns the tests of an engine that lists and failures of its database can delay. */
export function defineTimeLimitTests(test: CreateStorageTest, { name, open, runSlowList }: TestEngine): Tests {
  return {
    'rejects a scan that exceeds its time limit as invalid, and does not let reads by ID wait for scans': test(
      async ({ domains }) => {
        const workspaceId = newId();
        const all = Array.from({ length: RECORD_COUNT }, (_, i) => buildDomain(workspaceId, `${i}.example`));
        await addAll(domains, all);
        const list = (term: string) =>
          domains.list(workspaceId, {
            // A search index cannot find a term of two characters.
            where: [{ field: 'searchText', contains: term }],
            by: 'createdAt',
            order: 'asc',
            skip: 0,
            take: 1,
          });
        if (runSlowList) {
          const error = { name: 'CoreError', kind: 'invalid', causeName: 'list_too_slow' };
          await assert.rejects(
            runSlowList(() => list('?!')),
            error,
          );
        }
        let isListing = true;
        const lists = Array.from({ length: LIST_COUNT }, (_, i) => list(`?${i}`));
        const listing = Promise.all(lists).finally(() => (isListing = false));
        let readCount = 0;
        for (; isListing; readCount++) {
          await nextIteration();
          assert.ok(await domains.get(workspaceId, all[readCount]?.id ?? ''));
        }
        assert.deepEqual((await listing).flat(), []);
        assert.ok(readCount >= MIN_READ_COUNT, `${readCount} reads during ${LIST_COUNT} lists`);
      },
    ),

    'ends each call within the time limit while the database hangs, and works again afterwards': async () => {
      const { location, freeze, thaw, stop } = await freezableStorages[name as keyof typeof freezableStorages]();
      const { engine, close } = await open(location, Date.now);
      try {
        const campaign = buildCampaign(newId());
        const { workspaceId, id } = campaign;
        await engine.campaigns.add(campaign);
        freeze();
        const update = ({ campaigns }: StorageEngine) =>
          campaigns.update(workspaceId, id, (it) => ({ ...it, clicks: it.clicks + 1 }));
        const calls = [
          () => engine.campaigns.get(workspaceId, id),
          () => engine.campaigns.list(workspaceId, { where: [], by: 'createdAt', order: 'asc', skip: 0, take: 1 }),
          () => engine.tags.add(buildTag(workspaceId, 'added')),
          () => engine.tags.remove(workspaceId, newId()),
          // Changes of one record wait for each other.
          ...Array.from({ length: 3 }, () => () => update(engine)),
          ...Array.from({ length: 3 }, () => () => engine.runInTransaction(update)),
        ];
        const startedAt = performance.now();
        const durations = await Promise.all(
          calls.map((call) =>
            call()
              .catch(() => undefined)
              .then(() => performance.now() - startedAt),
          ),
        );
        assert.ok(Math.max(...durations) < STORAGE_TIMEOUT_MS + TOLERANCE_MS, `${durations.map(Math.round)}`);
        thaw();
        await waitUntil(() =>
          engine.checkReady().then(
            () => true,
            () => false,
          ),
        );
        assert.equal((await engine.runInTransaction(update))?.workspaceId, workspaceId);
      } finally {
        thaw();
        await close();
        await stop();
      }
    },
  };
}
