import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { withClock } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

/** For each list, successive changes of a record, which also archive it. `groups` are the IDs of two groups. */
const changes: Readonly<Record<string, (groups: readonly string[]) => readonly object[]>> = {
  '/content-pillars': () => [
    { title: 'Outdoors' },
    { title: 'OUTDOORS', description: 'What we do when we are not at work' },
    { description: '', color: 'brown', status: 'archived' },
    { color: 'red', status: 'published' },
  ],
  '/domains': () => [
    { expiredUrl: 'https://example.com/ended' },
    { notFoundUrl: 'https://example.com/unknown', placeholder: '' },
    { archived: true },
    { notFoundUrl: '' },
    { archived: false, expiredUrl: '' },
  ],
  '/inspiration-questions': (groups) => [
    { question: 'What did you learn yesterday?', description: 'Anything counts' },
    { description: '', icon: 'question-mark', userType: 'advocate' },
    { groups, isActive: false },
    { groups: groups.toReversed(), archived: true },
    { groups: [], isActive: true, archived: false },
  ],
};

suite('PATCH of a record', {
  'changes the fields that are sent and no others, and a GET returns the record even if it is archived': () =>
    each(changes, (createChanges, path) =>
      withClock(async ({ call, create }, clock) => {
        const groups = [(await create('/groups')).id, (await create('/groups')).id];
        let current = await create(path);
        for (const change of createChanges(groups)) {
          clock.now += 1000;
          const changed = { ...current, ...change, updatedAt: new Date(clock.now).toISOString() };
          const expected = 'primary' in changed ? { ...changed, primary: !changed.archived } : changed;
          current = jsonOf(await call('PATCH', `${path}/${current.id}`, change));
          assert.deepEqual(current, expected);
          assert.deepEqual(jsonOf(await call('GET', `${path}/${current.id}`)), expected);
        }
      }),
    ),
});
