import assert from 'node:assert/strict';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const ADMIN = { role: 'admin', invitation: 'accepted' } as const;

suite('the last admin with an accepted invitation', {
  'stays, while admins with an open invitation do not count': async () => {
    const { app } = testCore();
    const { id } = await app.members.create(OWN, { name: 'Ada', email: 'ada@x.example', ...ADMIN });
    const other = await app.members.create(OWN, { name: 'Ben', email: 'ben@x.example', role: 'admin' });
    const lastAdmin = { kind: 'conflict', causeName: 'last_admin' };
    await assert.rejects(app.members.update(OWN, id, { role: 'member' }), lastAdmin);
    await assert.rejects(app.members.remove(OWN, id), lastAdmin);
    await app.members.update(OWN, other.id, { role: 'member' });
    await app.members.update(OWN, other.id, ADMIN);
    await app.members.update(OWN, id, { role: 'member' });
    await assert.rejects(app.members.remove(OWN, other.id), lastAdmin);
    assert.equal((await app.members.get(OWN, other.id)).updatedAt, formatTimestamp(NOON));
  },

  'is not needed in a workspace that has none': async () => {
    const { app } = testCore();
    const { id } = await app.members.create(OWN, { name: 'Ada', email: 'ada@x.example', role: 'admin' });
    await app.members.update(OWN, id, { role: 'member' });
    await app.members.remove(OWN, id);
  },

  'is one of two that demote each other, or delete each other, at the same time': async () => {
    for (const change of ['update', 'remove'] as const) {
      const { app } = testCore();
      const create = (name: string) => app.members.create(OWN, { name, email: `${name}@x.example`, ...ADMIN });
      const admins = [await create('Ada'), await create('Ben')];
      const results = await Promise.allSettled(
        admins.map(
          ({ id }): Promise<unknown> =>
            change === 'update' ? app.members.update(OWN, id, { role: 'member' }) : app.members.remove(OWN, id),
        ),
      );
      assert.deepEqual(results.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
    }
  },
});

suite('the groups of a member', {
  'omit deleted groups, so that sending back the others changes nothing': async () => {
    const { app, engine, clock } = testCore();
    const [a, b] = [await app.groups.create(OWN, { name: 'A' }), await app.groups.create(OWN, { name: 'B' })];
    const fields = { name: 'Ada', email: 'ada@x.example', groups: [a.id, b.id] };
    const created = await app.members.create(OWN, fields);
    await engine.groups.remove(OWN, a.id);
    clock.now++;
    assert.deepEqual(await app.members.get(OWN, created.id), { ...created, groups: [b.id] });
    const { updatedAt } = await app.members.update(OWN, created.id, { groups: [b.id] });
    assert.equal(updatedAt, created.updatedAt);
    await assert.rejects(app.members.update(OWN, created.id, { groups: [a.id, b.id] }), {
      message: 'groups.0: must be the ID of a group of this workspace',
    });
    const query = { page: 1, pageSize: 1, sortBy: 'name', sortOrder: 'asc' } as const;
    assert.deepEqual((await app.members.list(OWN, { ...query, groupIds: [a.id] })).items, []);
    const { items } = await app.members.list(OWN, { ...query, groupIds: [a.id, b.id] });
    assert.deepEqual(items, [{ ...created, groups: [b.id] }]);
  },
});
