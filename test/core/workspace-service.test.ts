import assert from 'node:assert/strict';
import { timestamp } from '../../core/shared/date.ts';
import { collected } from '../support/collected.ts';
import { NOON, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

suite('a new workspace', {
  'is kept by its id, and may have the name of another': async () => {
    const { use, storage } = testCore();
    const first = await use.workspaces.create('Northwind');
    const second = await use.workspaces.create('Northwind');
    assert.deepEqual(first, { id: first.id, name: 'Northwind', createdAt: timestamp(NOON) });
    assert.notEqual(first.id, second.id);
    for (const made of [first, second]) {
      assert.deepEqual(await storage.workspaces.get(made.id), made);
      assert.deepEqual(await use.workspaces.get(made.id), made);
    }
  },
});

suite('the workspaces', {
  'are told in the order of their making': async () => {
    const { use } = testCore();
    const made = [];
    for (const name of ['Northwind', 'Contoso', 'Fabrikam']) made.push(await use.workspaces.create(name));
    assert.deepEqual(await collected(use.workspaces.all()), made);
  },

  'do not have one of an unknown id': async () => {
    const { use } = testCore();
    await assert.rejects(use.workspaces.get(UNKNOWN_ID), {
      kind: 'not_found',
      message: 'There is no workspace with this id.',
    });
  },
});
