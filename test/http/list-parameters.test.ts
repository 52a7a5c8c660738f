import assert from 'node:assert/strict';
import { assertInvalidFields, fieldValuesOf, jsonOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { withFixture } from '../support/fixture.ts';
import { suite } from '../support/suite.ts';

const LISTS = ['/campaigns', '/inspiration-questions', '/content-pillars', '/domains'];

/** Paths that end with a boolean parameter, to which the tests append a value. */
const BOOLEANS = [
  '/campaigns?includeArchived=',
  '/inspiration-questions?includeArchived=',
  '/inspiration-questions?isActive=',
  '/inspiration-questions?availableToMe=',
  '/domains?includeArchived=',
];

/** The values of each parameter that is an enumeration. */
const ENUMERATIONS: Readonly<Record<string, readonly string[]>> = {
  '/campaigns?filter=': ['upcoming', 'active', 'non-upcoming'],
  '/campaigns?sortBy=': ['createdAt', 'updatedAt', 'startDate'],
  '/inspiration-questions?userType=': ['thought_leader', 'advocate', 'all'],
  '/content-pillars?sortBy=': ['title', 'createdAt'],
  '/content-pillars?sortOrder=': ['asc', 'desc'],
};

/** Paths that end with a parameter for several ids. */
const ID_ARRAYS = ['/campaigns?tagIds=', '/inspiration-questions?groupIds=', '/content-pillars?ids='];

/** Returns the name of the parameter at the end of a path. */
const nameOf = (path: string): string => path.slice(path.indexOf('?') + 1, -1);
/** Returns ids that no record has. */
const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => UNKNOWN_ID.slice(0, -3) + String(i).padStart(3, '0'));

suite('the parameters of lists', {
  'accept only true and false as booleans': () =>
    withFixture(async ({ call }) => {
      for (const path of BOOLEANS) {
        for (const value of ['true', 'false']) jsonOf(await call('GET', path + value));
        for (const value of ['', 'TRUE', 'False', '1', '0', 'yes', 'on', '%20true', 'true+', 'true,false', 'null']) {
          assertInvalidFields(await call('GET', path + value), [nameOf(path)], path + value);
        }
      }
    }),

  'accept only the exact values of an enumeration': () =>
    withFixture(async ({ call }) => {
      for (const [path, values] of Object.entries(ENUMERATIONS)) {
        for (const value of values) {
          jsonOf(await call('GET', path + value));
          const others = [value.toUpperCase(), `+${value}`, `${value}%20`, `${value},${value}`];
          for (const other of others)
            assertInvalidFields(await call('GET', path + other), [nameOf(path)], path + other);
        }
        for (const value of ['', 'unknown']) assertInvalidFields(await call('GET', path + value), [nameOf(path)], path);
      }
    }),

  'reject a parameter with a single value if it is sent twice': () =>
    withFixture(async ({ call }) => {
      const paged = LISTS.flatMap((path) => [`${path}?page=`, `${path}?pageSize=`, `${path}?search=`]);
      const single = [...BOOLEANS, ...Object.keys(ENUMERATIONS), ...paged, '/campaigns?limit='];
      const [first] = ids(1);
      for (const path of [...single, '/campaigns?userId=', '/campaigns?domain=']) {
        const name = nameOf(path);
        const value = { userId: first, domain: 'a.b', search: '' }[name] ?? ENUMERATIONS[path]?.[0] ?? '1';
        const given = BOOLEANS.includes(path) ? 'true' : value;
        jsonOf(await call('GET', path + given));
        assertInvalidFields(await call('GET', `${path}${given}&${name}=${given}`), [name], path);
      }
    }),

  'accept up to 100 different ids, repeated or comma-separated, in upper or lower case': () =>
    withFixture(async ({ call }) => {
      const hundred = ids(100);
      for (const path of ID_ARRAYS) {
        const name = nameOf(path);
        const validValues = [
          UNKNOWN_ID,
          '00000000-0000-0000-0000-000000000000,FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
          hundred.join(),
          hundred.join(`&${name}=`),
          [...hundred, ...hundred.map((id) => id.toUpperCase())].join(),
        ];
        for (const value of validValues) assert.deepEqual(jsonOf(await call('GET', path + value)), []);
        const invalidValues: Readonly<Record<string, string>> = {
          [ids(101).join()]: name,
          [ids(101).join(`&${name}=`)]: name,
          '': `${name}.0`,
          'no-id': `${name}.0`,
          [`${UNKNOWN_ID},`]: `${name}.1`,
          [`${UNKNOWN_ID},%20${hundred[0]}`]: `${name}.1`,
          [`${UNKNOWN_ID}&${name}=x`]: `${name}.1`,
          '0190a000-0000-0000-8000-000000000000': `${name}.0`,
          '0190a000-0000-7000-7000-000000000000': `${name}.0`,
        };
        for (const [value, invalidField] of Object.entries(invalidValues)) {
          assertInvalidFields(await call('GET', path + value), [invalidField], path + value);
        }
      }
    }),

  'accept a search of up to 200 code points after trimming, and ignore a blank search': () =>
    withFixture(async (fixture, api) => {
      const { call, workspaceId, admin } = fixture;
      await api.app.contentPillars.create(workspaceId, { authorId: admin.id, title: 'Life', color: 'red' });
      const astral = encodeURIComponent('𝒳');
      for (const path of LISTS) {
        for (const length of [1, 200]) {
          assert.deepEqual(jsonOf(await call('GET', `${path}?search=+%0A${astral.repeat(length)}%20`)), []);
        }
        for (const value of [astral.repeat(201), '%00', 'a%00b']) {
          assertInvalidFields(await call('GET', `${path}?search=${value}`), ['search'], path + value);
        }
        const count = path === '/content-pillars' ? 1 : 0;
        for (const blank of ['search', 'search=', `search=${'+'.repeat(300)}`, 'search=%E3%80%80']) {
          assert.equal(jsonOf(await call('GET', `${path}?${blank}`)).length, count, path + blank);
        }
      }
      assert.deepEqual(fieldValuesOf(await call('GET', '/content-pillars?search=+LIFE+'), 'title'), ['Life']);
    }),

  'name every invalid parameter, unknown ones first': () =>
    withFixture(async ({ call }) => {
      const cases: Readonly<Record<string, string[]>> = {
        '/campaigns?page=0&foo=1&limit=x&filter=x&Page=1': ['foo', 'Page', 'filter', 'limit', 'page'],
        '/campaigns?tagIds[]=x&tagIds=x&tagNames=': ['tagIds[]', 'tagIds.0', 'tagNames.0'],
        '/campaigns?sortOrder=asc': ['sortOrder'],
        '/campaigns?=x': [''],
        '/inspiration-questions?sortBy=createdAt&isActive=x': ['sortBy', 'isActive'],
        '/inspiration-questions?limit=1': ['limit'],
        '/content-pillars?includeArchived=true': ['includeArchived'],
        '/domains?page_size=1&archived=true': ['page_size', 'archived'],
        [`/campaigns/${UNKNOWN_ID}?x=1`]: ['x'],
      };
      for (const [path, invalidFields] of Object.entries(cases))
        assertInvalidFields(await call('GET', path), invalidFields, path);
      assertInvalidFields(await call('POST', '/tags?name=a&x', {}), ['name', 'x', 'name']);
      assertInvalidFields(await call('DELETE', `/content-pillars/${UNKNOWN_ID}?force=true`), ['force']);
      const many = Array.from({ length: 12 }, (_, i) => `x${i}`);
      assertInvalidFields(await call('GET', `/domains?${many.join('&')}&page=0`), many.slice(0, 10));
    }),

  'name the allowed parameters if a parameter is unknown': () =>
    withFixture(async ({ call }) => {
      const allowed = {
        '/campaigns':
          'domain, tagIds, tagNames, userId, includeArchived, filter, search, sortBy, limit, page, pageSize',
        '/inspiration-questions':
          'search, userType, groupIds, includeArchived, isActive, availableToMe, page, pageSize',
        '/content-pillars': 'sortBy, sortOrder, search, ids, page, pageSize',
        '/domains': 'includeArchived, search, page, pageSize',
      };
      for (const [path, names] of Object.entries(allowed)) {
        const { error } = (await call('GET', `${path}?foo=1`)).json;
        assert.ok(error.message.endsWith(names), error.message);
      }
    }),
});
