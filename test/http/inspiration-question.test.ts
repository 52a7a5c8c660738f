import assert from 'node:assert/strict';
import { jsonOf, UUID_V7 } from '../support/expected-responses.ts';
import { type Fixture, withClock, withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

const PATH = '/inspiration-questions';

const createGroups = async ({ create }: Fixture, count: number): Promise<string[]> =>
  (await Promise.all(Array.from({ length: count }, () => create('/groups')))).map(({ id }) => id);

suite('POST /inspiration-questions', {
  'creates a question and returns its eleven fields, with their defaults': () =>
    withClock(async (fixture) => {
      const question = 'What did you learn today?';
      const created = jsonOf(await fixture.call('POST', PATH, { question }), 201);
      const at = '2026-01-31T09:00:00.000Z';
      const generated = { id: created.id, workspaceId: fixture.workspaceId, createdAt: at, updatedAt: at };
      const defaults = { description: '', icon: 'bulb', userType: 'all', groups: [], isActive: true, archived: false };
      assert.deepEqual(created, { ...generated, question, ...defaults });
      assert.match(created.id, UUID_V7);
      const all = {
        question: 'Which tool do you miss?',
        description: 'Any tool',
        icon: 'rocket',
        userType: 'advocate',
        groups: await createGroups(fixture, 1),
        isActive: false,
        archived: true,
      };
      const other = jsonOf(await fixture.call('POST', PATH, all), 201);
      assert.deepEqual(other, { ...generated, id: other.id, ...all });
      assert.deepEqual(await fixture.list(`${PATH}?includeArchived=true`), [other, created]);
    }),
});

suite('GET /inspiration-questions', {
  'filters by each parameter, and by several at the same time': () =>
    withFixture(async (fixture, api) => {
      const [a, b, c] = (await createGroups(fixture, 3)) as [string, string, string];
      const created = {
        'for all types, no groups': {},
        'for advocates of A': { userType: 'advocate', groups: [a] },
        'for leaders of A, B': { userType: 'thought_leader', groups: [a, b], isActive: false },
        'for all types, group B': { groups: [b], archived: true },
        'for advocates, no groups': { userType: 'advocate', isActive: false, archived: true },
      };
      for (const [question, fields] of Object.entries(created)) await fixture.create(PATH, { question, ...fields });
      const all = Object.keys(created).reverse();
      const live = ['for leaders of A, B', 'for advocates of A', 'for all types, no groups'];
      const cases: Record<string, string[]> = {
        '': live,
        'includeArchived=false': live,
        'includeArchived=true': all,
        'userType=all': ['for all types, no groups'],
        'userType=advocate': ['for advocates of A'],
        'userType=thought_leader': ['for leaders of A, B'],
        'userType=advocate&includeArchived=true': ['for advocates, no groups', 'for advocates of A'],
        'isActive=true': ['for advocates of A', 'for all types, no groups'],
        'isActive=false': ['for leaders of A, B'],
        'isActive=false&includeArchived=true': ['for advocates, no groups', 'for leaders of A, B'],
        [`groupIds=${a}`]: ['for leaders of A, B', 'for advocates of A'],
        [`groupIds=${a},${b}&includeArchived=true`]: [
          'for all types, group B',
          'for leaders of A, B',
          'for advocates of A',
        ],
        [`groupIds=${c}`]: [],
        [`groupIds=${c}&groupIds=${a.toUpperCase()}&userType=advocate`]: ['for advocates of A'],
        [`groupIds=${a}&isActive=true&search=OF%20a`]: ['for advocates of A'],
        [`groupIds=${a}&isActive=true&search=OF%20b`]: [],
        'availableToMe=false&includeArchived=true': all,
      };
      for (const [query, expected] of Object.entries(cases)) {
        assert.deepEqual(await fixture.list(`${PATH}?${query}`, 'question'), expected, query);
      }
      const key = await createKey(api, fixture.workspaceId, { member: { seatType: 'advocate', groups: [a] } });
      for (const [holder, available] of [
        [key, ['for advocates of A', 'for all types, no groups']],
        [await createKey(api, fixture.workspaceId), ['for all types, no groups']],
      ] as const) {
        const path = `${PATH}?availableToMe=true&includeArchived=true`;
        const questions = jsonOf(await api.call('GET', path, { key: holder }));
        assert.deepEqual(
          questions.map(({ question }: { question: string }) => question),
          available,
        );
      }
    }),
});
