import assert from 'node:assert/strict';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OWN, SECOND, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('renaming a tag', {
  'keeps its color, and allows the same name in another case': async () => {
    const { app, clock } = testCore();
    await app.tags.create(OWN, 'First');
    const tag = await app.tags.create(OWN, 'Launch');
    assert.equal(tag.color, 'yellow');
    clock.now += SECOND;
    const renamed = { ...tag, name: 'LAUNCH', updatedAt: formatTimestamp(NOON + SECOND) };
    assert.deepEqual(await app.tags.rename(OWN, tag.id, 'LAUNCH'), renamed);
    clock.now += SECOND;
    assert.deepEqual(await app.tags.rename(OWN, tag.id, 'LAUNCH'), renamed);
  },
});
