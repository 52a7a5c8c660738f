import assert from 'node:assert/strict';
import {
  assertInvalidFields,
  assertNotFound,
  fieldValuesOf,
  jsonOf,
  UNKNOWN_ID,
  UUID_V7,
} from '../support/expected-responses.ts';
import { createFixture, type Fixture, withFixture } from '../support/fixture.ts';
import { textsAroundLimits } from '../support/samples.ts';
import type { Api } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const NINE = Date.parse('2026-01-31T09:00:00Z');
const ICONS = `
  bulb sparkles message message-circle pencil writing book bookmark star heart target rocket briefcase building
  building-skyscraper home users user users-group speakerphone send mail brand-linkedin link world search calendar
  clock chart-bar chart-line chart-dots chart-pie trending-up trophy award bolt flame sun moon cloud camera
  microphone video photo file-text clipboard check circle-check help question-mark
`
  .trim()
  .split(/\s+/);

const QUESTION = 'What did you learn today?';

const create = async ({ call }: Fixture, fields: object = {}) =>
  jsonOf(await call('POST', '/inspiration-questions', { question: QUESTION, ...fields }), 201);

const createGroup = async ({ call }: Fixture, name: string): Promise<string> =>
  jsonOf(await call('POST', '/groups', { name }), 201).id;

const createGroups = (fixture: Fixture, names: readonly string[]) =>
  Promise.all(names.map((name) => createGroup(fixture, name)));

const listQuestions = async ({ call }: Fixture, query = '') =>
  fieldValuesOf(await call('GET', `/inspiration-questions${query}`), 'question');

const questionTexts = textsAroundLimits({ min: 10, max: 170 });
const descriptionTexts = textsAroundLimits({ max: 5000 });
/** The valid and invalid values of each field, for POST and PATCH. */
const fields: Record<string, { valid: readonly unknown[]; invalid: readonly unknown[] }> = {
  question: { valid: questionTexts.valid, invalid: [...questionTexts.invalid, null, 12345678901, ['What is it?']] },
  description: { valid: descriptionTexts.valid, invalid: [...descriptionTexts.invalid, null, 1, {}] },
  icon: { valid: ICONS, invalid: ['Bulb', ' bulb', '', 'unknown', null, 1, ['bulb']] },
  userType: { valid: ['thought_leader', 'advocate', 'all'], invalid: ['All', '', 'admin', null, 1, ['all']] },
  isActive: { valid: [true, false], invalid: ['true', 1, 0, null, [], ''] },
  archived: { valid: [true, false], invalid: ['false', 1, 0, null, {}, ''] },
  groups: { valid: [[]], invalid: [null, '', UNKNOWN_ID, {}, 1] },
};

const trimIfString = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

suite('POST /inspiration-questions', {
  'creates a question and returns its eleven fields, with their defaults': () =>
    withFixture(
      async (fixture) => {
        const created = await create(fixture, { question: ` ${QUESTION} ` });
        const at = '2026-01-31T09:00:00.000Z';
        assert.deepEqual(created, {
          id: created.id,
          workspaceId: fixture.workspaceId,
          question: QUESTION,
          description: '',
          icon: 'bulb',
          userType: 'all',
          groups: [],
          isActive: true,
          archived: false,
          createdAt: at,
          updatedAt: at,
        });
        assert.match(created.id, UUID_V7);
        const all = {
          question: 'Which tool do you miss?',
          description: 'Any tool',
          icon: 'rocket',
          userType: 'advocate',
          groups: [await createGroup(fixture, 'Sales')],
          isActive: false,
          archived: true,
        };
        const { id, workspaceId, createdAt, updatedAt, ...rest } = await create(fixture, all);
        assert.deepEqual([workspaceId, createdAt, updatedAt], [fixture.workspaceId, at, at]);
        assert.deepEqual(rest, all);
        assert.deepEqual(jsonOf(await fixture.call('GET', '/inspiration-questions?includeArchived=true')), [
          { id, workspaceId, createdAt, updatedAt, ...rest },
          created,
        ]);
      },
      { now: () => NINE },
    ),

  'stores isActive and archived independently of each other': () =>
    withFixture(async (fixture) => {
      for (const isActive of [true, false]) {
        for (const archived of [true, false]) {
          const created = await create(fixture, { isActive, archived });
          assert.deepEqual([created.isActive, created.archived], [isActive, archived]);
        }
      }
    }),

  'accepts each valid value of a field, and rejects each invalid value': () =>
    withFixture(async (fixture) => {
      let count = 0;
      for (const [field, { valid, invalid }] of Object.entries(fields)) {
        for (const value of valid) {
          assert.deepEqual((await create(fixture, { [field]: value }))[field], trimIfString(value));
          count++;
        }
        for (const value of invalid) {
          const body = { question: QUESTION, [field]: value };
          assertInvalidFields(
            await fixture.call('POST', '/inspiration-questions', body),
            [field],
            JSON.stringify(value),
          );
        }
      }
      const pages = ['?includeArchived=true&pageSize=100', '?includeArchived=true&pageSize=100&page=2'];
      const stored = await Promise.all(pages.map((page) => listQuestions(fixture, page)));
      assert.equal(stored.flat().length, count);
    }),

  'names every field that is missing, invalid or unknown': () =>
    withFixture(async ({ call }) => {
      const cases: readonly [body: object, invalidFields: string[]][] = [
        [{}, ['question']],
        [{ description: 1, icon: 'x', userType: 'x' }, ['question', 'description', 'icon', 'userType']],
        [
          { question: 'Too short', groups: ['x'], isActive: 1, archived: 1 },
          ['question', 'groups.0', 'isActive', 'archived'],
        ],
        [
          { question: QUESTION, id: UNKNOWN_ID, workspaceId: UNKNOWN_ID, groupIds: [] },
          ['id', 'workspaceId', 'groupIds'],
        ],
      ];
      for (const [body, invalidFields] of cases)
        assertInvalidFields(await call('POST', '/inspiration-questions', body), invalidFields);
    }),

  'stores up to 100 groups in the order sent, in lower case and without duplicates': () =>
    withFixture(async (fixture, api) => {
      const ids = await createGroups(
        fixture,
        Array.from({ length: 101 }, (_, i) => `Group ${i}`),
      );
      const [a, b, c] = ids as [string, string, string];
      const groups = [c, a.toUpperCase(), b, a, c.toUpperCase()];
      assert.deepEqual((await create(fixture, { groups })).groups, [c, a, b]);

      const hundred = ids.slice(0, 100);
      const twice = [...hundred, ...hundred.map((id) => id.toUpperCase())];
      assert.deepEqual((await create(fixture, { groups: twice })).groups, hundred);
      const { call } = fixture;
      assertInvalidFields(await call('POST', '/inspiration-questions', { question: QUESTION, groups: ids }), [
        'groups',
      ]);

      const foreign = await createGroup(await createFixture(api), 'Foreign');
      const cases: readonly [groups: unknown[], invalidFields: string[]][] = [
        [[a, foreign], ['groups.1']],
        [
          [UNKNOWN_ID, a, foreign],
          ['groups.0', 'groups.2'],
        ],
        [
          ['00000000-0000-0000-0000-000000000000', 'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF'],
          ['groups.0', 'groups.1'],
        ],
        [
          [a, 'no-id', 1, null, ` ${b}`],
          ['groups.1', 'groups.2', 'groups.3', 'groups.4'],
        ],
      ];
      for (const [groups, invalidFields] of cases) {
        assertInvalidFields(
          await call('POST', '/inspiration-questions', { question: QUESTION, groups }),
          invalidFields,
        );
      }
    }),
});

suite('GET /inspiration-questions', {
  'lists the unarchived questions of the workspace, newest first': () =>
    withFixture(async (fixture, api) => {
      await create(await createFixture(api));
      for (const name of ['first', 'third', 'second']) await create(fixture, { question: `This is the ${name}` });
      await create(fixture, { question: 'This is archived', archived: true });
      await create(fixture, { question: 'This is not active', isActive: false });
      const live = ['This is not active', 'This is the second', 'This is the third', 'This is the first'];
      assert.deepEqual(await listQuestions(fixture), live);
      assert.deepEqual(await listQuestions(fixture, '?includeArchived=false'), live);
      assert.deepEqual(await listQuestions(fixture, '?includeArchived=true'), [
        live[0],
        'This is archived',
        ...live.slice(1),
      ]);
    }),

  'filters by each parameter, and combines all filters': () =>
    withFixture(async (fixture) => {
      const [a, b, c] = (await createGroups(fixture, ['A', 'B', 'C'])) as [string, string, string];
      const created = {
        'for all and everyone': {},
        'for advocates of A': { userType: 'advocate', groups: [a] },
        'for leaders of A, B': { userType: 'thought_leader', groups: [a, b], isActive: false },
        'for all of B': { groups: [b], archived: true },
        'for advocates, all': { userType: 'advocate', isActive: false, archived: true },
      };
      for (const [name, more] of Object.entries(created)) await create(fixture, { question: `It is ${name}`, ...more });
      const all = Object.keys(created).reverse();
      const cases: Record<string, string[]> = {
        'userType=all': ['for all and everyone'],
        'userType=advocate': ['for advocates of A'],
        'userType=thought_leader': ['for leaders of A, B'],
        'userType=advocate&includeArchived=true': ['for advocates, all', 'for advocates of A'],
        'isActive=true': ['for advocates of A', 'for all and everyone'],
        'isActive=false': ['for leaders of A, B'],
        'isActive=false&includeArchived=true': ['for advocates, all', 'for leaders of A, B'],
        'includeArchived=true': all,
        [`groupIds=${a}`]: ['for leaders of A, B', 'for advocates of A'],
        [`groupIds=${b}`]: ['for leaders of A, B'],
        [`groupIds=${b}&includeArchived=true`]: ['for all of B', 'for leaders of A, B'],
        [`groupIds=${a},${b}&includeArchived=true`]: ['for all of B', 'for leaders of A, B', 'for advocates of A'],
        [`groupIds=${c}`]: [],
        [`groupIds=${c}&groupIds=${a.toUpperCase()}&userType=advocate`]: ['for advocates of A'],
        [`groupIds=${a}&isActive=true&search=OF%20a`]: ['for advocates of A'],
        [`groupIds=${a}&isActive=true&search=OF%20b`]: [],
        'availableToMe=false&includeArchived=true': all,
      };
      for (const [query, expected] of Object.entries(cases)) {
        assert.deepEqual(
          await listQuestions(fixture, `?${query}`),
          expected.map((name) => `It is ${name}`),
          query,
        );
      }
    }),

  'searches question and description, ignoring case': () =>
    withFixture(async (fixture) => {
      const coffee = 'Where is the best café?';
      const tea = 'What about some tea (or two)?';
      await create(fixture, { question: coffee, description: 'Tell_us 50% of it \\ all' });
      await create(fixture, { question: tea, description: 'No CAFÉ there, ΟΔΟΣ' });
      const cases: readonly [search: string, questions: string[]][] = [
        ['café', [tea, coffee]],
        ['CAFE\u0301', [tea, coffee]],
        ['cafe', []],
        ['BEST C', [coffee]],
        [' best c\t', [coffee]],
        ['οδος', [tea]],
        ['οδοσ', [tea]],
        ['tell_us 50%', [coffee]],
        ['tellxus', []],
        ['it \\ ALL', [coffee]],
        ['(or two)?', [tea]],
        ['.', []],
        ['café?Tell', []],
        ['café? Tell', []],
        ['café?\nTell', []],
      ];
      for (const [search, expected] of cases) {
        assert.deepEqual(await listQuestions(fixture, `?search=${encodeURIComponent(search)}`), expected, search);
      }
    }),

  'lists with availableToMe=true only the questions available to the caller': () => withFixture(checkAvailability),
});

/** Asserts which questions each type of caller gets with availableToMe. */
async function checkAvailability(fixture: Fixture, api: Api): Promise<void> {
  const [a, b] = (await createGroups(fixture, ['A', 'B'])) as [string, string];
  const created = {
    open: {},
    'leaders only': { userType: 'thought_leader' },
    'advocates only': { userType: 'advocate' },
    'group A': { groups: [a] },
    'group B': { groups: [b] },
    'both groups': { groups: [a, b] },
    'leaders of A': { userType: 'thought_leader', groups: [a] },
    'advocates of B': { userType: 'advocate', groups: [b] },
    inactive: { isActive: false },
    archived: { archived: true },
    'archived, inactive': { archived: true, isActive: false },
  };
  for (const [name, more] of Object.entries(created))
    await create(fixture, { question: `It is for: ${name}`, ...more });

  const ofA = ['group A', 'both groups'];
  const ofB = ['group B', 'both groups'];
  const keyOf = async (seatType: 'thought_leader' | 'advocate', groupIds: string[]) =>
    fixture.addKey((await fixture.addMember({ seatType, groupIds })).id);
  const cases: readonly [key: string, available: string[]][] = [
    [await fixture.addKey(), ['open']],
    [await keyOf('thought_leader', []), ['open', 'leaders only']],
    [await keyOf('advocate', []), ['open', 'advocates only']],
    [await keyOf('thought_leader', [a]), ['open', 'leaders only', ...ofA, 'leaders of A']],
    [await keyOf('advocate', [a]), ['open', 'advocates only', ...ofA]],
    [await keyOf('thought_leader', [b]), ['open', 'leaders only', ...ofB]],
    [await keyOf('advocate', [b, a]), ['open', 'advocates only', ...ofA, 'group B', 'advocates of B']],
  ];
  for (const [at, [key, available]] of cases.entries()) {
    for (const filter of ['', '&includeArchived=true', '&isActive=true']) {
      const path = `/inspiration-questions?availableToMe=true${filter}`;
      const listed = fieldValuesOf(await api.call('GET', path, { key }), 'question');
      assert.deepEqual(listed.sort(), available.map((name) => `It is for: ${name}`).sort(), `caller ${at} ${filter}`);
    }
    for (const [query, count] of Object.entries({ '&isActive=false': 0, '&userType=all&search=open': 1 })) {
      const path = `/inspiration-questions?availableToMe=true${query}`;
      assert.equal(jsonOf(await api.call('GET', path, { key })).length, count, query);
    }
  }
}

suite('PATCH /inspiration-questions/{id}', {
  'changes the fields that are sent, and no others': async () => {
    let now = NINE;
    await withFixture(
      async (fixture) => {
        const [a, b] = (await createGroups(fixture, ['A', 'B'])) as [string, string];
        let current = await create(fixture);
        const changes = [
          { question: 'What did you learn yesterday?' },
          { description: 'Anything counts' },
          { description: '' },
          { icon: 'question-mark' },
          { userType: 'advocate' },
          { groups: [a, b] },
          { groups: [b, a] },
          { groups: [] },
          { isActive: false },
          { archived: true },
          { isActive: true },
          { question: QUESTION, description: 'x', icon: 'star', userType: 'all', groups: [a], archived: false },
          { icon: 'star', isActive: false },
        ];
        for (const change of changes) {
          now += 1000;
          const expected = { ...current, ...change, updatedAt: new Date(now).toISOString() };
          const path = `/inspiration-questions/${current.id.toUpperCase()}`;
          current = jsonOf(await fixture.call('PATCH', path, change));
          assert.deepEqual(current, expected, JSON.stringify(change));
          assert.deepEqual(jsonOf(await fixture.call('GET', '/inspiration-questions?includeArchived=true')), [
            expected,
          ]);
        }
      },
      { now: () => now },
    );
  },

  'changes nothing, not even updatedAt, if no value differs': async () => {
    let now = NINE;
    await withFixture(
      async (fixture) => {
        const groups = (await createGroups(fixture, ['A', 'B'])) as [string, string];
        const created = await create(fixture, { groups, description: 'Any' });
        now += 1000;
        const { id, workspaceId, createdAt, updatedAt, ...same } = created;
        const bodies = [
          {},
          { question: ` ${QUESTION} ` },
          { groups: [groups[0].toUpperCase(), groups[1], groups[0]] },
          { isActive: true, archived: false },
          same,
        ];
        for (const body of bodies) {
          assert.deepEqual(jsonOf(await fixture.call('PATCH', `/inspiration-questions/${id}`, body)), created);
        }
        assert.deepEqual(jsonOf(await fixture.call('GET', '/inspiration-questions')), [created]);
      },
      { now: () => now },
    );
  },

  'accepts each valid change of a field, and rejects each invalid change': () =>
    withFixture(async (fixture) => {
      const path = `/inspiration-questions/${(await create(fixture)).id}`;
      for (const [field, { valid, invalid }] of Object.entries(fields)) {
        for (const value of valid) {
          assert.deepEqual(jsonOf(await fixture.call('PATCH', path, { [field]: value }))[field], trimIfString(value));
        }
        for (const value of invalid) {
          assertInvalidFields(await fixture.call('PATCH', path, { [field]: value }), [field], JSON.stringify(value));
        }
      }
    }),

  'names every unknown field, invalid value and unknown group, and changes nothing': () =>
    withFixture(async (fixture, api) => {
      const created = await create(fixture);
      const own = await createGroup(fixture, 'Own');
      const foreign = await createGroup(await createFixture(api), 'Foreign');
      const many = Array.from({ length: 101 }, (_, i) => UNKNOWN_ID.slice(0, -3) + String(i).padStart(3, '0'));
      const cases: readonly [body: object, invalidFields: string[]][] = [
        [{ question: 'x', icon: 'x', id: created.id, createdAt: '' }, ['id', 'createdAt', 'question', 'icon']],
        [{ question: 'Which topic comes next?', groups: [own, foreign, UNKNOWN_ID] }, ['groups.1', 'groups.2']],
        [{ icon: 'star', groups: [own, 'no-id'] }, ['groups.1']],
        [{ icon: 'star', groups: many }, ['groups']],
      ];
      for (const [body, invalidFields] of cases) {
        assertInvalidFields(await fixture.call('PATCH', `/inspiration-questions/${created.id}`, body), invalidFields);
      }
      assert.deepEqual(jsonOf(await fixture.call('GET', '/inspiration-questions')), [created]);
    }),

  'changes which lists contain the question': () =>
    withFixture(async (fixture) => {
      const group = await createGroup(fixture, 'Sales');
      const { id } = await create(fixture, { description: 'About coffee' });
      const change = { description: 'About tea', groups: [group], userType: 'advocate', isActive: false };
      jsonOf(await fixture.call('PATCH', `/inspiration-questions/${id}`, change));
      const cases = {
        'search=coffee': 0,
        'search=tea': 1,
        'userType=all': 0,
        'userType=advocate': 1,
        'isActive=true': 0,
        'isActive=false': 1,
        [`groupIds=${group}`]: 1,
      };
      for (const [query, count] of Object.entries(cases)) {
        assert.equal((await listQuestions(fixture, `?${query}`)).length, count, query);
      }
      const countAvailable = async (groups: readonly string[]) => {
        const body = { groups, userType: 'all', isActive: true };
        jsonOf(await fixture.call('PATCH', `/inspiration-questions/${id}`, body));
        return (await listQuestions(fixture, '?availableToMe=true')).length;
      };
      assert.equal(await countAvailable([]), 1);
      assert.equal(await countAvailable([group]), 0);
      assert.equal(await countAvailable([]), 1);
    }),

  'returns 404 for an unknown id after it validates the body and before it looks up the groups': () =>
    withFixture(async (fixture, api) => {
      const foreign = await create(await createFixture(api));
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', fixture.admin.id]) {
        const path = `/inspiration-questions/${id}`;
        for (const body of [{}, { icon: 'star' }, { groups: [UNKNOWN_ID] }]) {
          assertNotFound(await fixture.call('PATCH', path, body), id);
        }
        assertInvalidFields(await fixture.call('PATCH', path, { question: 'x' }), ['question']);
      }
    }),
});

suite('DELETE /inspiration-questions/{id}', {
  'deletes a question, and returns 404 for it afterwards': () =>
    withFixture(async (fixture) => {
      const { id } = await create(fixture);
      await create(fixture, { question: 'Does this one stay?' });
      assert.deepEqual(jsonOf(await fixture.call('DELETE', `/inspiration-questions/${id.toUpperCase()}`)), { id });
      assertNotFound(await fixture.call('DELETE', `/inspiration-questions/${id}`));
      assertNotFound(await fixture.call('PATCH', `/inspiration-questions/${id}`, { icon: 'star' }));
      assert.deepEqual(await listQuestions(fixture, '?includeArchived=true'), ['Does this one stay?']);
    }),

  'returns 404 for an unknown id': () =>
    withFixture(async (fixture, api) => {
      const other = await createFixture(api);
      const foreign = await create(other);
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', fixture.admin.id]) {
        assertNotFound(await fixture.call('DELETE', `/inspiration-questions/${id}`), id);
      }
      assert.deepEqual(await listQuestions(other), [QUESTION]);
    }),
});
