import assert from 'node:assert/strict';
import { VisitorHash } from '../../adapters/links/visitor-hash.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { Application } from '../../core/application.ts';
import { DAY, NOON, type TestCore, testCore } from '../support/core.ts';
import { withMonotonicClock } from '../support/monotonic-clock.ts';
import { suite } from '../support/suite.ts';

interface Setup extends TestCore {
  /** Hashes a visitor in each of two processes that run all the time, or in one that has just started. */
  hashInProcesses(): Promise<readonly string[]>;
  hashInNewProcess(): Promise<string>;
}

/** Runs a test with a monotonic clock that advances with the clock of the storage. */
function withProcesses(test: (setup: Setup) => Promise<void>): Promise<void> {
  const core = testCore();
  const createHash = () => new VisitorHash(new Application(core.storage, createNodeSystem()).links);
  const processes = [createHash(), createHash()];
  return withMonotonicClock(
    () => core.clock.now - NOON + 1,
    () =>
      test({
        ...core,
        hashInProcesses: () => Promise.all(processes.map((process) => process.hash('visitor'))),
        hashInNewProcess: () => createHash().hash('visitor'),
      }),
  );
}

suite('the hash of a visitor', {
  'is the same in all processes during a day in UTC, and another one on the next day': () =>
    withProcesses(async ({ clock, hashInProcesses, hashInNewProcess }) => {
      const [hash, same] = await hashInProcesses();
      assert.equal(same, hash);
      clock.now += DAY / 2 - 1;
      assert.deepEqual([...(await hashInProcesses()), await hashInNewProcess()], [hash, hash, hash]);
      clock.now += 2;
      const [next, sameNext] = await hashInProcesses();
      assert.equal(sameNext, next);
      assert.notEqual(next, hash);
    }),

  'never uses a key that was added while the clock was wrong': () =>
    withProcesses(async ({ clock, hashInNewProcess }) => {
      clock.now += 5 * DAY;
      const early = await hashInNewProcess();
      clock.now -= 5 * DAY;
      await hashInNewProcess();
      clock.now += 5 * DAY;
      assert.notEqual(await hashInNewProcess(), early);
    }),

  'uses a key whose predecessors are deleted, and until they are, a key of its own process': () =>
    withProcesses(async ({ engine: { visitorKeys }, clock, hashInNewProcess, hashInProcesses }) => {
      await hashInNewProcess();
      clock.now += 3 * DAY;
      const { remove } = visitorKeys;
      visitorKeys.remove = () => Promise.reject(new Error('unavailable'));
      const [one, other] = await hashInProcesses();
      assert.notEqual(one, other);
      visitorKeys.remove = remove;
      const [hash] = await hashInProcesses();
      assert.notEqual(hash, one);
      assert.deepEqual(
        (await visitorKeys.list('', 10)).map(({ id }) => id),
        ['2026-02-03'],
      );
    }),
});
