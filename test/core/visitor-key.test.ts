import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { Application } from '../../core/application.ts';
import { DAY, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('the visitor key', {
  'is the same in all processes during a day in UTC, and changes on the next day': async () => {
    const { app, storage, clock } = testCore();
    const other = new Application(storage, { ...createNodeSystem(), now: () => clock.now });
    const readKeys = () => Promise.all([app, other].map(({ links }) => links.getVisitorKey()));
    const [key, same] = await readKeys();
    assert.equal(same, key);
    clock.now += DAY / 2 - 1;
    assert.deepEqual(await readKeys(), [key, key]);
    clock.now += 1;
    const [next, sameNext] = await readKeys();
    assert.equal(sameNext, next);
    assert.notEqual(next, key);
  },

  'is not used later if it was added while the clock was wrong': async () => {
    const { app, storage, clock } = testCore();
    const other = new Application(storage, createNodeSystem());
    clock.now += 5 * DAY;
    const early = await app.links.getVisitorKey();
    clock.now -= 5 * DAY;
    await app.links.getVisitorKey();
    clock.now += 5 * DAY;
    assert.notEqual(await other.links.getVisitorKey(), early);
  },

  'is deleted before a new key is added; after a failed deletion, the next call deletes it': async () => {
    const { app, engine, clock } = testCore();
    await app.links.getVisitorKey();
    clock.now += 3 * DAY;
    const { visitorKeys } = engine;
    const { remove } = visitorKeys;
    visitorKeys.remove = () => Promise.reject(new Error('unavailable'));
    await assert.rejects(app.links.getVisitorKey(), { message: 'unavailable' });
    visitorKeys.remove = remove;
    const key = await app.links.getVisitorKey();
    assert.deepEqual(await visitorKeys.list('', 10), [{ id: '2026-02-03', secret: key }]);
  },
});
