import assert from 'node:assert/strict';
import { formatTimestamp } from '../../core/shared/date.ts';
import { collectAll } from '../support/collect-all.ts';
import { NOON, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a new workspace', {
  'is stored by its id, and can have the name of another workspace': async () => {
    const { app, storage } = testCore();
    const first = await app.workspaces.create('Northwind');
    const second = await app.workspaces.create('Northwind');
    assert.deepEqual(first, { id: first.id, name: 'Northwind', createdAt: formatTimestamp(NOON) });
    assert.notEqual(first.id, second.id);
    for (const created of [first, second]) {
      assert.deepEqual(await storage.workspaces.findById(created.id), created);
      assert.deepEqual(await app.workspaces.get(created.id), created);
    }
  },
});

suite('the workspaces', {
  'are iterated in creation order': async () => {
    const { app } = testCore();
    const created = [];
    for (const name of ['Northwind', 'Contoso', 'Fabrikam']) created.push(await app.workspaces.create(name));
    assert.deepEqual(await collectAll(app.workspaces.iterate()), created);
  },

  'reject an unknown id with not_found': async () => {
    const { app } = testCore();
    await assert.rejects(app.workspaces.get(UNKNOWN_ID), {
      kind: 'not_found',
      message: 'No workspace has this id. Check the id.',
    });
  },
});
