import assert from 'node:assert/strict';
import { collectAll } from '../support/collect-all.ts';
import { OTHER, OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

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
