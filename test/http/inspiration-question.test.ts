import assert from 'node:assert/strict';
import { assertFaults, assertNotFound, jsonOf, UNKNOWN_ID, UUID_V7, valuesOf } from '../support/expected-responses.ts';
import { inWorld, newWorld, type World } from '../support/fixture.ts';
import { textsAround } from '../support/samples.ts';
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

const create = async ({ call }: World, fields: object = {}) =>
  jsonOf(await call('POST', '/inspiration-questions', { question: QUESTION, ...fields }), 201);

const createGroup = async ({ call }: World, name: string): Promise<string> =>
  jsonOf(await call('POST', '/groups', { name }), 201).id;

const createGroups = (world: World, names: readonly string[]) =>
  Promise.all(names.map((name) => createGroup(world, name)));

const questions = async ({ call }: World, query = '') =>
  valuesOf(await call('GET', `/inspiration-questions${query}`), 'question');

/** What each field takes and refuses, on POST and on PATCH. */
const question = textsAround({ min: 10, max: 170 });
const description = textsAround({ max: 5000 });
const fields: Record<string, { taken: readonly unknown[]; refused: readonly unknown[] }> = {
  question: { taken: question.taken, refused: [...question.refused, null, 12345678901, ['What is it?']] },
  description: { taken: description.taken, refused: [...description.refused, null, 1, {}] },
  icon: { taken: ICONS, refused: ['Bulb', ' bulb', '', 'unknown', null, 1, ['bulb']] },
  userType: { taken: ['thought_leader', 'advocate', 'all'], refused: ['All', '', 'admin', null, 1, ['all']] },
  isActive: { taken: [true, false], refused: ['true', 1, 0, null, [], ''] },
  archived: { taken: [true, false], refused: ['false', 1, 0, null, {}, ''] },
  groups: { taken: [[]], refused: [null, '', UNKNOWN_ID, {}, 1] },
};

const trimmed = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

suite('POST /inspiration-questions', {
  'makes a question and returns its eleven fields, with their defaults': () =>
    inWorld(
      async (world) => {
        const created = await create(world, { question: ` ${QUESTION} ` });
        const at = '2026-01-31T09:00:00.000Z';
        assert.deepEqual(created, {
          id: created.id,
          workspaceId: world.workspaceId,
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
          groups: [await createGroup(world, 'Sales')],
          isActive: false,
          archived: true,
        };
        const { id, workspaceId, createdAt, updatedAt, ...rest } = await create(world, all);
        assert.deepEqual([workspaceId, createdAt, updatedAt], [world.workspaceId, at, at]);
        assert.deepEqual(rest, all);
        assert.deepEqual(jsonOf(await world.call('GET', '/inspiration-questions?includeArchived=true')), [
          { id, workspaceId, createdAt, updatedAt, ...rest },
          created,
        ]);
      },
      { now: () => NINE },
    ),

  'keeps the two flags independent of each other': () =>
    inWorld(async (world) => {
      for (const isActive of [true, false]) {
        for (const archived of [true, false]) {
          const made = await create(world, { isActive, archived });
          assert.deepEqual([made.isActive, made.archived], [isActive, archived]);
        }
      }
    }),

  'takes each field within its bounds and refuses it beyond them': () =>
    inWorld(async (world) => {
      let count = 0;
      for (const [field, { taken, refused }] of Object.entries(fields)) {
        for (const value of taken) {
          assert.deepEqual((await create(world, { [field]: value }))[field], trimmed(value));
          count++;
        }
        for (const value of refused) {
          const body = { question: QUESTION, [field]: value };
          assertFaults(await world.call('POST', '/inspiration-questions', body), [field], JSON.stringify(value));
        }
      }
      const pages = ['?includeArchived=true&pageSize=100', '?includeArchived=true&pageSize=100&page=2'];
      const stored = await Promise.all(pages.map((page) => questions(world, page)));
      assert.equal(stored.flat().length, count);
    }),

  'names every field that is missing, wrong or unknown': () =>
    inWorld(async ({ call }) => {
      const cases: readonly [body: object, faults: string[]][] = [
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
      for (const [body, faults] of cases) assertFaults(await call('POST', '/inspiration-questions', body), faults);
    }),

  'keeps groups in the order sent, in lower case and without duplicates, 100 at most': () =>
    inWorld(async (world, api) => {
      const ids = await createGroups(
        world,
        Array.from({ length: 101 }, (_, i) => `Group ${i}`),
      );
      const [a, b, c] = ids as [string, string, string];
      const groups = [c, a.toUpperCase(), b, a, c.toUpperCase()];
      assert.deepEqual((await create(world, { groups })).groups, [c, a, b]);

      const hundred = ids.slice(0, 100);
      const twice = [...hundred, ...hundred.map((id) => id.toUpperCase())];
      assert.deepEqual((await create(world, { groups: twice })).groups, hundred);
      const { call } = world;
      assertFaults(await call('POST', '/inspiration-questions', { question: QUESTION, groups: ids }), ['groups']);

      const foreign = await createGroup(await newWorld(api), 'Foreign');
      const cases: readonly [groups: unknown[], faults: string[]][] = [
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
      for (const [groups, faults] of cases) {
        assertFaults(await call('POST', '/inspiration-questions', { question: QUESTION, groups }), faults);
      }
    }),
});

suite('GET /inspiration-questions', {
  'lists the questions of the workspace that are not archived, newest first': () =>
    inWorld(async (world, api) => {
      await create(await newWorld(api));
      for (const name of ['first', 'third', 'second']) await create(world, { question: `This is the ${name}` });
      await create(world, { question: 'This is archived', archived: true });
      await create(world, { question: 'This is not active', isActive: false });
      const live = ['This is not active', 'This is the second', 'This is the third', 'This is the first'];
      assert.deepEqual(await questions(world), live);
      assert.deepEqual(await questions(world, '?includeArchived=false'), live);
      assert.deepEqual(await questions(world, '?includeArchived=true'), [
        live[0],
        'This is archived',
        ...live.slice(1),
      ]);
    }),

  'filters by each parameter, and by all of them together': () =>
    inWorld(async (world) => {
      const [a, b, c] = (await createGroups(world, ['A', 'B', 'C'])) as [string, string, string];
      const made = {
        'for all and everyone': {},
        'for advocates of A': { userType: 'advocate', groups: [a] },
        'for leaders of A, B': { userType: 'thought_leader', groups: [a, b], isActive: false },
        'for all of B': { groups: [b], archived: true },
        'for advocates, all': { userType: 'advocate', isActive: false, archived: true },
      };
      for (const [name, more] of Object.entries(made)) await create(world, { question: `It is ${name}`, ...more });
      const all = Object.keys(made).reverse();
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
          await questions(world, `?${query}`),
          expected.map((name) => `It is ${name}`),
          query,
        );
      }
    }),

  'searches question and description': () =>
    inWorld(async (world) => {
      const coffee = 'Where is the best café?';
      const tea = 'What about some tea (or two)?';
      await create(world, { question: coffee, description: 'Tell_us 50% of it \\ all' });
      await create(world, { question: tea, description: 'No CAFÉ there, ΟΔΟΣ' });
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
        assert.deepEqual(await questions(world, `?search=${encodeURIComponent(search)}`), expected, search);
      }
    }),

  'lists with availableToMe what is meant for the caller': () => inWorld(checkAvailability),
});

/** Asks as every kind of caller for every kind of question. */
async function checkAvailability(world: World, api: Api): Promise<void> {
  const [a, b] = (await createGroups(world, ['A', 'B'])) as [string, string];
  const made = {
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
  for (const [name, more] of Object.entries(made)) await create(world, { question: `It is for: ${name}`, ...more });

  const ofA = ['group A', 'both groups'];
  const ofB = ['group B', 'both groups'];
  const keyOf = async (seatType: 'thought_leader' | 'advocate', groupIds: string[]) =>
    world.addKey((await world.addMember({ seatType, groupIds })).id);
  const cases: readonly [key: string, available: string[]][] = [
    [await world.addKey(), ['open']],
    [await keyOf('thought_leader', []), ['open', 'leaders only']],
    [await keyOf('advocate', []), ['open', 'advocates only']],
    [await keyOf('thought_leader', [a]), ['open', 'leaders only', ...ofA, 'leaders of A']],
    [await keyOf('advocate', [a]), ['open', 'advocates only', ...ofA]],
    [await keyOf('thought_leader', [b]), ['open', 'leaders only', ...ofB]],
    [await keyOf('advocate', [b, a]), ['open', 'advocates only', ...ofA, 'group B', 'advocates of B']],
  ];
  for (const [at, [key, available]] of cases.entries()) {
    for (const also of ['', '&includeArchived=true', '&isActive=true']) {
      const path = `/inspiration-questions?availableToMe=true${also}`;
      const seen = valuesOf(await api.call('GET', path, { key }), 'question');
      assert.deepEqual(seen.sort(), available.map((name) => `It is for: ${name}`).sort(), `caller ${at} ${also}`);
    }
    for (const [query, count] of Object.entries({ '&isActive=false': 0, '&userType=all&search=open': 1 })) {
      const path = `/inspiration-questions?availableToMe=true${query}`;
      assert.equal(jsonOf(await api.call('GET', path, { key })).length, count, query);
    }
  }
}

suite('PATCH /inspiration-questions/{id}', {
  'changes what is sent and leaves what is not': async () => {
    let now = NINE;
    await inWorld(
      async (world) => {
        const [a, b] = (await createGroups(world, ['A', 'B'])) as [string, string];
        let current = await create(world);
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
          current = jsonOf(await world.call('PATCH', path, change));
          assert.deepEqual(current, expected, JSON.stringify(change));
          assert.deepEqual(jsonOf(await world.call('GET', '/inspiration-questions?includeArchived=true')), [expected]);
        }
      },
      { now: () => now },
    );
  },

  'changes nothing, updatedAt included, when nothing is sent or all of it is so already': async () => {
    let now = NINE;
    await inWorld(
      async (world) => {
        const groups = (await createGroups(world, ['A', 'B'])) as [string, string];
        const made = await create(world, { groups, description: 'Any' });
        now += 1000;
        const { id, workspaceId, createdAt, updatedAt, ...same } = made;
        const bodies = [
          {},
          { question: ` ${QUESTION} ` },
          { groups: [groups[0].toUpperCase(), groups[1], groups[0]] },
          { isActive: true, archived: false },
          same,
        ];
        for (const body of bodies) {
          assert.deepEqual(jsonOf(await world.call('PATCH', `/inspiration-questions/${id}`, body)), made);
        }
        assert.deepEqual(jsonOf(await world.call('GET', '/inspiration-questions')), [made]);
      },
      { now: () => now },
    );
  },

  'takes each field within its bounds and refuses it beyond them': () =>
    inWorld(async (world) => {
      const path = `/inspiration-questions/${(await create(world)).id}`;
      for (const [field, { taken, refused }] of Object.entries(fields)) {
        for (const value of taken) {
          assert.deepEqual(jsonOf(await world.call('PATCH', path, { [field]: value }))[field], trimmed(value));
        }
        for (const value of refused) {
          assertFaults(await world.call('PATCH', path, { [field]: value }), [field], JSON.stringify(value));
        }
      }
    }),

  'names every wrong, unknown and foreign value, and changes nothing then': () =>
    inWorld(async (world, api) => {
      const made = await create(world);
      const own = await createGroup(world, 'Own');
      const foreign = await createGroup(await newWorld(api), 'Foreign');
      const many = Array.from({ length: 101 }, (_, i) => UNKNOWN_ID.slice(0, -3) + String(i).padStart(3, '0'));
      const cases: readonly [body: object, faults: string[]][] = [
        [{ question: 'x', icon: 'x', id: made.id, createdAt: '' }, ['id', 'createdAt', 'question', 'icon']],
        [{ question: 'What is it all about?', groups: [own, foreign, UNKNOWN_ID] }, ['groups.1', 'groups.2']],
        [{ icon: 'star', groups: [own, 'no-id'] }, ['groups.1']],
        [{ icon: 'star', groups: many }, ['groups']],
      ];
      for (const [body, faults] of cases) {
        assertFaults(await world.call('PATCH', `/inspiration-questions/${made.id}`, body), faults);
      }
      assert.deepEqual(jsonOf(await world.call('GET', '/inspiration-questions')), [made]);
    }),

  'is found by what it is now': () =>
    inWorld(async (world) => {
      const group = await createGroup(world, 'Sales');
      const { id } = await create(world, { description: 'About coffee' });
      const change = { description: 'About tea', groups: [group], userType: 'advocate', isActive: false };
      jsonOf(await world.call('PATCH', `/inspiration-questions/${id}`, change));
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
        assert.equal((await questions(world, `?${query}`)).length, count, query);
      }
      const available = async (groups: readonly string[]) => {
        const body = { groups, userType: 'all', isActive: true };
        jsonOf(await world.call('PATCH', `/inspiration-questions/${id}`, body));
        return (await questions(world, '?availableToMe=true')).length;
      };
      assert.equal(await available([]), 1);
      assert.equal(await available([group]), 0);
      assert.equal(await available([]), 1);
    }),

  'answers 404 for what is no question here, after the shape and before the groups': () =>
    inWorld(async (world, api) => {
      const foreign = await create(await newWorld(api));
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', world.admin.id]) {
        const path = `/inspiration-questions/${id}`;
        for (const body of [{}, { icon: 'star' }, { groups: [UNKNOWN_ID] }]) {
          assertNotFound(await world.call('PATCH', path, body), id);
        }
        assertFaults(await world.call('PATCH', path, { question: 'x' }), ['question']);
      }
    }),
});

suite('DELETE /inspiration-questions/{id}', {
  'deletes a question, once': () =>
    inWorld(async (world) => {
      const { id } = await create(world);
      await create(world, { question: 'Does this one stay?' });
      assert.deepEqual(jsonOf(await world.call('DELETE', `/inspiration-questions/${id.toUpperCase()}`)), { id });
      assertNotFound(await world.call('DELETE', `/inspiration-questions/${id}`));
      assertNotFound(await world.call('PATCH', `/inspiration-questions/${id}`, { icon: 'star' }));
      assert.deepEqual(await questions(world, '?includeArchived=true'), ['Does this one stay?']);
    }),

  'answers 404 for what is no question here': () =>
    inWorld(async (world, api) => {
      const other = await newWorld(api);
      const foreign = await create(other);
      for (const id of [UNKNOWN_ID, foreign.id, 'no-id', world.admin.id]) {
        assertNotFound(await world.call('DELETE', `/inspiration-questions/${id}`), id);
      }
      assert.deepEqual(await questions(other), [QUESTION]);
    }),
});
