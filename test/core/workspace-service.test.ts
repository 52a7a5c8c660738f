import assert from 'node:assert/strict';
import { timestamp } from '../../core/shared/date.ts';
import { NOON, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a new workspace', {
  'is kept by its id, and may have the name of another': async () => {
    const { use, storage } = testCore();
    const first = await use.workspaces.create('Northwind');
    const second = await use.workspaces.create('Northwind');
    assert.deepEqual(first, { id: first.id, name: 'Northwind', createdAt: timestamp(NOON) });
    assert.notEqual(first.id, second.id);
    for (const made of [first, second]) assert.deepEqual(await storage.workspaces.get(made.id), made);
  },
});
