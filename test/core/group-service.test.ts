import assert from 'node:assert/strict';
import { timestamp } from '../../core/shared/date.ts';
import { collected } from '../support/collected.ts';
import { NOON, OTHER, OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a new group', {
  'has no members, and an empty description where none was given': async () => {
    const { use } = testCore();
    const { id, ...made } = await use.groups.create(OWN, { name: 'Sales' });
    const createdAt = timestamp(NOON);
    const expected = { workspaceId: OWN, name: 'Sales', foldedName: 'sales', description: '', createdAt, count: 0 };
    assert.deepEqual(made, expected);
    assert.equal((await use.groups.create(OWN, { name: 'Team', description: 'All' })).description, 'All');
    assert.ok(id);
  },

  'has a name that no other of its workspace has, whatever the case': async () => {
    const { use } = testCore();
    await use.groups.create(OWN, { name: 'Élan' });
    await assert.rejects(use.groups.create(OWN, { name: 'E\u0301LAN' }), { kind: 'conflict' });
    await use.groups.create(OWN, { name: 'Elan' });
    await use.groups.create(OTHER, { name: 'Élan' });
  },
});

suite('the groups of a workspace', {
  'are counted with the same number of reads for any number of groups': async () => {
    const { use, storage } = testCore();
    const ids = [];
    for (let i = 0; i < 20; i++) ids.push((await use.groups.create(OWN, { name: `Group ${i}` })).id);
    const [first = '', second = ''] = ids;
    const person = { name: 'Kim', email: 'kim@example.com' };
    await use.members.create(OWN, { ...person, groupIds: [first, second] });
    await use.members.create(OWN, { ...person, groupIds: [second, second] });
    await use.groups.create(OTHER, { name: 'Foreign' });
    let reads = 0;
    const { members } = storage;
    for (const name of ['count', 'list', 'listById', 'getMany'] as const) {
      const read = members[name].bind(members) as (...given: never[]) => never;
      Object.assign(members, { [name]: (...given: never[]) => ++reads && read(...given) });
    }
    const counts = (await collected(use.groups.all(OWN))).map(({ count }) => count);
    assert.deepEqual(counts, [1, 2, ...Array.from({ length: 18 }, () => 0)]);
    assert.equal(reads, 1);
  },
});
