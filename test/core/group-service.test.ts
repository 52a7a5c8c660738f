import assert from 'node:assert/strict';
import { changeGroup, newGroup } from '../../core/group/group.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { collectAll } from '../support/collect-all.ts';
import { NOON, OTHER, OWN, testCore } from '../support/core.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { suite } from '../support/suite.ts';

suite('a new group', {
  'has no members, and an empty description by default': async () => {
    const { app } = testCore();
    const { id, ...created } = await app.groups.create(OWN, { name: 'Sales' });
    const createdAt = formatTimestamp(NOON);
    const expected = { workspaceId: OWN, name: 'Sales', description: '', createdAt, count: 0 };
    assert.deepEqual(created, expected);
    assert.equal((await app.groups.create(OWN, { name: 'Team', description: 'All' })).description, 'All');
    assert.ok(id);
  },
});

suite('the groups of a workspace', {
  'get all their member counts with one read of the members': async () => {
    const { app, engine } = testCore();
    const ids = [];
    for (let i = 0; i < 20; i++) ids.push((await app.groups.create(OWN, { name: `Group ${i}` })).id);
    const [first = '', second = ''] = ids;
    const person = { name: 'Kim', email: 'kim@example.com' };
    await app.members.create(OWN, { ...person, groupIds: [first, second] });
    await app.members.create(OWN, { ...person, groupIds: [second, second] });
    await app.groups.create(OTHER, { name: 'Foreign' });
    let readCount = 0;
    const { members } = engine;
    for (const name of ['count', 'list', 'listById', 'getMany'] as const) {
      const read = members[name] as unknown as (...args: never[]) => never;
      Object.assign(members, { [name]: (...args: never[]) => ++readCount && read(...args) });
    }
    const counts = (await collectAll(app.groups.iterate(OWN))).map(({ count }) => count);
    assert.deepEqual(counts, [1, 2, ...Array.from({ length: 18 }, () => 0)]);
    assert.equal(readCount, 1);
  },
});

suite('an update of a group', {
  'changes the given fields and keeps the others': async () => {
    const { app } = testCore();
    const group = await app.groups.create(OWN, { name: 'Sales', description: 'All' });
    await app.members.create(OWN, { name: 'Kim', email: 'kim@example.com', groupIds: [group.id] });
    const renamed = { ...group, name: 'Team', count: 1 };
    assert.deepEqual(await app.groups.update(OWN, group.id, { name: 'Team' }), renamed);
    assert.deepEqual(await app.groups.update(OWN, group.id, { description: '' }), { ...renamed, description: '' });
    assert.deepEqual(await app.groups.get(OWN, group.id), { ...renamed, description: '' });
  },

  'returns the same record if the values are equal to the stored ones': () => {
    const group = newGroup(OWN, UNKNOWN_ID, { name: 'Sales', description: 'All' }, NOON);
    for (const change of [{}, { name: 'Sales' }, { name: 'Sales', description: 'All' }]) {
      assert.equal(changeGroup(group, change), group);
    }
  },
});
