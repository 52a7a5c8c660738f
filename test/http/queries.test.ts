import assert from 'node:assert/strict';
import { each, textCases } from '../support/each.ts';
import { assertError, assertInvalidFields, UNKNOWN_ID } from '../support/expected-responses.ts';
import { allOperations, fieldsOf } from '../support/operations.ts';
import { type Api, type ApiResponse, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createTenant, type Tenant } from '../support/tenants.ts';

const listOperations = allOperations.filter(([, { query }]) => 'page' in query.shape);

/** The maximum page size of each list, by operation id. */
const maxPageSizes: Readonly<Record<string, number>> = {
  listCampaigns: 25,
  listInspirationQuestions: 100,
  listContentPillars: 100,
  listDomains: 50,
};

const INVALID_INTEGERS = [
  ...['0', '-1', '1e1', '1E1', '0x1', '0b1', '%2B1', '+1', '05', '00', '1.0', '1.5', '1.', '.5', '1,2', '1_000', '1n'],
  ...[
    '%201',
    '1%20',
    '',
    '%20',
    'one',
    'NaN',
    'Infinity',
    'null',
    'true',
    '%D9%A1',
    '9007199254740992',
    '9'.repeat(400),
  ],
];

const INVALID_BOOLEANS = [
  '',
  'TRUE',
  'True',
  'FALSE',
  '1',
  '0',
  'yes',
  'no',
  'on',
  'off',
  't',
  'null',
  '%20true',
  'true,false',
];

function withTenant(test: (get: (path: string) => ReturnType<Api['call']>, own: Tenant, api: Api) => Promise<void>) {
  return withService(async (api) => {
    const own = await createTenant(api, 'own');
    await test((path) => api.call('GET', path, { key: own.key }), own, api);
  });
}

suite('an integer in a query', {
  'has only digits and is at most 2^53 - 1': () =>
    withTenant((get) =>
      each(listOperations, ({ id, path }) =>
        each(textCases('page', 'pageSize', ...(id === 'listCampaigns' ? ['limit'] : [])), (name) =>
          each(textCases(...INVALID_INTEGERS), async (value) =>
            assertInvalidFields(await get(`${path}?${name}=${value}`), [name]),
          ),
        ),
      ),
    ),

  'is limited to the maximum page size of the list if it is the pageSize': () =>
    withTenant((get) =>
      each(listOperations, async ({ id, path }) => {
        const maxPageSize = maxPageSizes[id] as number;
        assert.equal((await get(`${path}?pageSize=${maxPageSize}`)).status, 200);
        assertInvalidFields(await get(`${path}?pageSize=${maxPageSize + 1}`), ['pageSize']);
        const last = await get(`${path}?page=9007199254740991&pageSize=${maxPageSize}`);
        assert.equal(last.text, '[]');
        assert.equal(last.headers.get('link'), `<${path}?pageSize=${maxPageSize}&page=9007199254740990>; rel="prev"`);
      }),
    ),
});

suite('a boolean in a query', {
  'is true or false': () =>
    withTenant((get) =>
      each(
        {
          '/campaigns': ['includeArchived'],
          '/inspiration-questions': ['includeArchived', 'isActive', 'availableToMe'],
          '/domains': ['includeArchived'],
        },
        (names, path) =>
          each(textCases(...names), async (name) => {
            for (const value of ['true', 'false']) assert.equal((await get(`${path}?${name}=${value}`)).status, 200);
            await each(textCases(...INVALID_BOOLEANS), async (value) => {
              assertInvalidFields(await get(`${path}?${name}=${value}`), [name]);
            });
          }),
      ),
    ),
});

suite('a single value in a query', {
  'must be sent once and must not be empty, except for a search': () =>
    withTenant((get) =>
      each(listOperations, ({ path, query }) =>
        each(
          fieldsOf(query).filter(([, { type }]) => type !== 'array'),
          async (_, name) => {
            for (const twice of [
              `${name}=1&${name}=1`,
              `${name}=&${name}=`,
              `${name}&${name}`,
              `${name}=1&${name}=2`,
            ]) {
              const response = await get(`${path}?${twice}`);
              assertInvalidFields(response, [name]);
              assertError(response, 422, /must not be repeated$/);
            }
            for (const empty of [name, `${name}=`, `${name}=%20`, `${name}=+`]) {
              const response = await get(`${path}?${empty}`);
              if (name !== 'search') assertInvalidFields(response, [name]);
              else assert.equal(response.text, (await get(path)).text);
            }
          },
        ),
      ),
    ),

  'is trimmed only if it is a text': () =>
    withTenant(async (get, own) => {
      const all = await get('/campaigns');
      assert.equal(all.json.length, 1);
      for (const query of ['search=%20own%20', 'search=+own+', `domain=%20${own.names.domain}%09`]) {
        assert.equal((await get(`/campaigns?${query}`)).text, all.text, query);
      }
      for (const [name, value] of [
        ['userId', own.adminId],
        ['filter', 'active'],
        ['sortBy', 'createdAt'],
        ['includeArchived', 'true'],
        ['page', '1'],
      ]) {
        assert.equal((await get(`/campaigns?${name}=${value}`)).status, 200, name);
        assertInvalidFields(await get(`/campaigns?${name}=%20${value}`), [name as string]);
        assertInvalidFields(await get(`/campaigns?${name}=${value}%20`), [name as string]);
      }
    }),
});

/** The array parameters, each with a value that finds the record of the tenant and values that find nothing. */
const arrayParameters: Readonly<Record<string, (own: Tenant) => ArrayParameter>> = {
  'tagIds of campaigns': ({ ids }) => ({ path: '/campaigns?tagIds=', value: ids.tags, other: idAt }),
  'tagNames of campaigns': ({ names }) => ({ path: '/campaigns?tagNames=', value: names.tag, other: nameAt }),
  'groupIds of questions': ({ ids }) => ({
    path: '/inspiration-questions?groupIds=',
    value: ids.groups,
    other: idAt,
  }),
  'ids of pillars': ({ ids }) => ({ path: '/content-pillars?ids=', value: ids['content-pillars'], other: idAt }),
};

interface ArrayParameter {
  readonly path: string;
  readonly value: string;
  readonly other: (at: number) => string;
}

const idAt = (at: number) => `${UNKNOWN_ID.slice(0, -3)}${at.toString(16).padStart(3, '0')}`;
const nameAt = (at: number) => `étagère ς ${at}`;
const repeat = (count: number, valueAt: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => valueAt(at));

/** Requests a list with a repeated array parameter. The values are percent-encoded already. */
type SendValues = (...values: readonly string[]) => Promise<ApiResponse>;

function eachArray(test: (send: SendValues, parameter: ArrayParameter & { readonly name: string }) => Promise<void>) {
  return withTenant((get, own) =>
    each(arrayParameters, async (create) => {
      const parameter = create(own);
      const name = /\?(.*)=/.exec(parameter.path)?.[1] as string;
      const send: SendValues = (...values) => get(parameter.path + values.join(`&${name}=`));
      await test(send, { ...parameter, name });
    }),
  );
}

suite('an array in a query', {
  'is a repeated parameter, comma-separated values, or both': () =>
    eachArray(async (send, { value, other }) => {
      const [one, two, three] = [value, other(1), other(2)].map(encodeURIComponent) as [string, string, string];
      const found = await send(one);
      assert.equal(found.json.length, 1);
      for (const values of [
        [one, two, three],
        [`${one},${two},${three}`],
        [`${three},${two}`, one],
        [`${one}%2C${two}`, three],
        [one, one, `${one},${one}`],
      ]) {
        assert.equal((await send(...values)).text, found.text, values.join());
      }
      assert.equal((await send(two, three)).text, '[]');
    }),

  'has at most 100 different values': () =>
    eachArray(async (send, { value, other, name }) => {
      const encoded = [value, ...repeat(99, other)].map(encodeURIComponent);
      const more = encodeURIComponent(other(100));
      assert.equal((await send(...encoded)).json.length, 1);
      assert.equal((await send(encoded.join())).json.length, 1);
      assert.equal((await send(...encoded, ...encoded.map((text) => text.replace('own', 'OWN')))).json.length, 1);
      for (const tooMany of [[...encoded, more], [encoded.join(), more], [[...encoded, more].join()]]) {
        const response = await send(...tooMany);
        assertInvalidFields(response, [name]);
        assertError(response, 422, /must have at most 100 items$/);
      }
    }),

  'has no blank value': () =>
    eachArray(async (send, { value, name }) => {
      const one = encodeURIComponent(value);
      for (const [values, ...indexes] of [
        [[''], 0],
        [['%20'], 0],
        [[`${one},`], 1],
        [[`,${one}`], 0],
        [[`${one},,${one}`], 1],
        [[one, ''], 1],
        // Names are trimmed first, so the second blank name is a duplicate of the first one and is dropped.
        [[one, one, '', one, '%20'], 2, ...(name === 'tagNames' ? [] : [4])],
        [[one, '%20%09'], 1],
      ] as const) {
        assertInvalidFields(
          await send(...values),
          indexes.map((index) => `${name}.${index}`),
        );
      }
    }),

  'accepts ids in upper or lower case, but no id with spaces or braces around it': () =>
    eachArray(async (send, { value, other, name }) => {
      if (name === 'tagNames') return;
      const upper = value.toUpperCase();
      assert.equal((await send(upper)).json.length, 1);
      const both = repeat(100, other).flatMap((id) => [id, id.toUpperCase()]);
      assert.equal((await send(both.join())).status, 200);
      for (const bad of [`%20${value}`, `${value}%20`, `{${value}}`, value.slice(1)]) {
        assertInvalidFields(await send(bad), [`${name}.0`]);
        assertInvalidFields(await send(value, bad), [`${name}.1`]);
      }
    }),

  'accepts names in upper or lower case, also with spaces around them': () =>
    withTenant(async (get, own, { app }) => {
      const tag = await app.tags.create(own.workspaceId, nameAt(1));
      const campaign = { ...createCampaignBody(), tagIds: [tag.id] };
      await app.campaigns.create({ workspaceId: own.workspaceId }, campaign);
      const spellings = (name: string) => [
        name,
        name.toUpperCase(),
        name.normalize('NFD'),
        name.replace('ς', 'σ'),
        ` ${name} `,
      ];
      for (const spelling of spellings(nameAt(1))) {
        const { json } = await get(`/campaigns?tagNames=${encodeURIComponent(spelling)}`);
        assert.equal(json.length, 1, spelling);
      }
      const all = repeat(100, nameAt).flatMap(spellings).map(encodeURIComponent);
      assert.equal((await get(`/campaigns?tagNames=${all.slice(0, 300).join()}`)).json.length, 1);
    }),
});
