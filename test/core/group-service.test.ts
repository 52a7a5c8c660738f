import assert from 'node:assert/strict';
import { timestamp } from '../../core/shared/date.ts';
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
