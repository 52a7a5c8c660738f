import assert from 'node:assert/strict';
import { createRepository } from '../../adapters/persistence/repository.ts';
import { defineSchema } from '../../adapters/persistence/schema.ts';
import { recordSchemas } from '../../adapters/persistence/storage-engine.ts';
import { tagSchema } from '../../adapters/persistence/tags.ts';
import type { Tag } from '../../core/tag/tag.ts';
import { newTag } from '../../core/tag/tag.ts';
import { NOON, OWN, testCore } from '../support/core.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { suite } from '../support/suite.ts';

const tag = newTag(OWN, UNKNOWN_ID, { name: 'ÉLAN' }, 'red', NOON);

suite('a repository', {
  'stores an entity with its derived columns, and returns it without them': async () => {
    const { engine } = testCore();
    const tags = createRepository(engine.tags, tagSchema);
    await tags.add(tag);
    assert.deepEqual(await engine.tags.get(OWN, tag.id), { ...tag, foldedName: 'élan' });
    assert.deepEqual(await tags.findById(OWN, tag.id), tag);
    assert.deepEqual(await tags.findMany(OWN, [tag.id]), [tag]);
  },

  'derives the columns again when an entity changes': async () => {
    const { engine } = testCore();
    const tags = createRepository(engine.tags, tagSchema);
    await tags.add(tag);
    const renamed = { ...tag, name: 'Elan' };
    assert.deepEqual(await tags.update(OWN, tag.id, () => renamed), renamed);
    assert.equal((await engine.tags.get(OWN, tag.id))?.foldedName, 'elan');
  },

  'writes nothing if the change returns its argument': async () => {
    const { engine } = testCore();
    const tags = createRepository(engine.tags, tagSchema);
    await engine.tags.add({ ...tag, foldedName: 'of an earlier version' });
    assert.deepEqual(await tags.update(OWN, tag.id, (current) => current), tag);
    assert.equal((await engine.tags.get(OWN, tag.id))?.foldedName, 'of an earlier version');
  },
});

suite('a schema', {
  'declares a column for each unique field and for each field of an index': () => {
    for (const [name, { columns, indexes, unique }] of Object.entries(recordSchemas)) {
      for (const field of [...indexes.flat(), ...Object.keys(unique)]) assert.ok(field in columns, `${name}: ${field}`);
    }
  },

  'returns its defaults for the fields that a record lacks, also if a read selects only some fields': () => {
    const schema = defineSchema<Tag & { readonly note: string; readonly rank: number }>({
      defaults: { note: '', rank: 0 },
      columns: { rank: 'number' },
    });
    type Upgraded = Parameters<typeof schema.toEntity>[0];
    assert.deepEqual(schema.toEntity(tag as Upgraded), { ...tag, note: '', rank: 0 });
    assert.deepEqual(schema.toEntity({ ...tag, note: 'new', rank: 2 }), { ...tag, note: 'new', rank: 2 });
    assert.deepEqual(schema.withDefaults({ id: 'a', rank: 3 }), { id: 'a', note: '', rank: 3 });
  },

  'can be declared without columns': () => {
    const { columns, indexes, unique, toEntity, toRecord } = defineSchema<Tag>({});
    assert.deepEqual([columns, indexes, unique, toRecord(tag), toEntity(tag)], [{}, [], {}, tag, tag]);
  },
});
