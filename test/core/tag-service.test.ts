import assert from 'node:assert/strict';
import { COLORS } from '../../core/shared/color.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a new tag', {
  'gets the color that is least used in its workspace': async () => {
    const { app } = testCore();
    await app.tags.create(OTHER, 'theirs');
    const created = [];
    for (let i = 0; i < 8; i++) created.push(await app.tags.create(OWN, `tag ${i}`));
    assert.deepEqual(
      created.map(({ color }) => color),
      [...COLORS, 'red', 'yellow'],
    );
    await app.tags.remove(OWN, created[3]?.id as string);
    assert.equal((await app.tags.create(OWN, 'next')).color, 'blue');
  },

  'is rejected if another tag of the workspace has its name (case-insensitive)': async () => {
    const { app, engine } = testCore();
    await app.tags.create(OWN, 'Σχολείος é');
    for (const name of ['Σχολείος é', 'ΣΧΟΛΕΊΟΣ É', 'σχολείοσ e\u0301']) {
      await assert.rejects(app.tags.create(OWN, name), { kind: 'conflict' }, name);
    }
    for (const name of ['σχολειος é', 'Σχολείος e']) await app.tags.create(OWN, name);
    await app.tags.create(OTHER, 'Σχολείος é');
    assert.equal(await engine.tags.count(OWN, []), 3);
  },
});

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

  'frees the old name, and rejects the name of another tag': async () => {
    const { app } = testCore();
    const tag = await app.tags.create(OWN, 'Launch');
    await app.tags.create(OWN, 'Hiring');
    await assert.rejects(app.tags.rename(OWN, tag.id, 'HIRING'), { kind: 'conflict' });
    await app.tags.rename(OWN, tag.id, 'Start');
    await app.tags.create(OWN, 'launch');
    await assert.rejects(app.tags.create(OWN, 'START'), { kind: 'conflict' });
  },
});

suite('the deletion of a tag', {
  'removes it from the list and frees its name': async () => {
    const { app } = testCore();
    const [one, two] = [await app.tags.create(OWN, 'Launch'), await app.tags.create(OWN, 'Hiring')];
    await app.tags.remove(OWN, one.id);
    const query = { page: 1, pageSize: 9, sortBy: 'name', sortOrder: 'asc' } as const;
    assert.deepEqual((await app.tags.list(OWN, query)).items, [two]);
    await assert.rejects(app.tags.get(OWN, one.id), { kind: 'not_found' });
    assert.notEqual((await app.tags.create(OWN, 'LAUNCH')).id, one.id);
  },
});
