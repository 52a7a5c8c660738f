import assert from 'node:assert/strict';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { createCachedLookups, MAX_LOOKUP_COUNT, MAX_WAITING_COUNT } from '../../adapters/links/lookup-cache.ts';
import type { Link } from '../../core/link/link.ts';
import { suite } from '../support/suite.ts';

const MAX_COUNT = MAX_LOOKUP_COUNT + MAX_WAITING_COUNT;

/** Creates cached lookups of links that settle when the test settles them. */
function setUp() {
  const running: { resolve(): void; reject(error: Error): void }[] = [];
  const findLink = (key: string) =>
    new Promise<Link>((resolve, reject) => running.push({ resolve: () => resolve({ key } as Link), reject }));
  const { findLink: find } = createCachedLookups({ findLink, findCampaign: assert.fail, findDomain: assert.fail });
  const settleAll = async () => {
    await nextIteration();
    while (running.length > 0) {
      for (const { resolve } of running.splice(0)) resolve();
      await nextIteration();
    }
  };
  return { find: async (key: string) => (await find(key))?.key, running, settleAll };
}

const createKeys = (count: number): string[] => Array.from({ length: count }, (_, i) => `key ${i}`);

suite('the cached lookups of short links', {
  'run a limited number at the same time, let a limited number wait, and reject further ones': async () => {
    const { find, running, settleAll } = setUp();
    const keys = createKeys(MAX_COUNT);
    const found = Promise.all([...keys, 'key 0'].map(find));
    await nextIteration();
    assert.equal(running.length, MAX_LOOKUP_COUNT);
    await assert.rejects(find('one more'), /Too many short links/);
    await settleAll();
    assert.deepEqual(await found, [...keys, 'key 0']);
    const next = find('one more');
    await settleAll();
    assert.equal(await next, 'one more');
  },

  'go on if earlier ones fail': async () => {
    const { find, running, settleAll } = setUp();
    const results = Promise.allSettled(createKeys(MAX_LOOKUP_COUNT + 1).map(find));
    await nextIteration();
    for (const { reject } of running.splice(0)) reject(new Error('no storage'));
    await settleAll();
    const rejectedCount = (await results).filter(({ status }) => status === 'rejected').length;
    assert.equal(rejectedCount, MAX_LOOKUP_COUNT);
  },
});
