import assert from 'node:assert/strict';
import { timestamp } from '../../core/shared/date.ts';
import { collectAll } from '../support/collect-all.ts';
import { NOON, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a new workspace', {
  'is kept by its id, and may have the name of another': async () => {
    const { app, storage } = testCore();
    const first = await app.workspaces.create('Northwind');
    const second = await app.workspaces.create('Northwind');
    assert.deepEqual(first, { id: first.id, name: 'Northwind', createdAt: timestamp(NOON) });
    assert.notEqual(first.id, second.id);
    for (const made of [first, second]) {
      assert.deepEqual(await storage.workspaces.get(made.id), made);
      assert.deepEqual(await app.workspaces.get(made.id), made);
    }
  },
});

suite('the workspaces', {
  'are told in the order of their making': async () => {
    const { app } = testCore();
    const made = [];
    for (const name of ['Northwind', 'Contoso', 'Fabrikam']) made.push(await app.workspaces.create(name));
    assert.deepEqual(await collectAll(app.workspaces.iterate()), made);
  },

  'do not have one of an unknown id': async () => {
    const { app } = testCore();
    await assert.rejects(app.workspaces.get(UNKNOWN_ID), {
      kind: 'not_found',
      message: 'There is no workspace with this id.',
    });
  },
});
