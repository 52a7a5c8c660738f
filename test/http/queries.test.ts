import assert from 'node:assert/strict';
import { formatDay } from '../../core/shared/date.ts';
import { each, textCases } from '../support/each.ts';
import { assertError, assertInvalidFields, UNKNOWN_ID } from '../support/expected-responses.ts';
import {
  type FieldSchema,
  getInputFields,
  listOperations,
  lists,
  pathSegmentOf,
  toPath,
} from '../support/operations.ts';
import { references } from '../support/places.ts';
import { type Api, type ApiResponse, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

type Get = (path: string) => ReturnType<Api['call']>;

function withTenant(test: (get: Get, own: Tenant, api: Api) => Promise<void>) {
  return withSharedService(async (api) => {
    const own = await createTenant(api, 'own');
    await test((path) => api.call('GET', path, { key: own.key }), own, api);
  });
}

/** Values of a parameter in percent-encoding. */
interface Values {
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

const LETTER = encodeURIComponent('𝒳');

const booleans: Values = {
  valid: ['true', 'false'],
  invalid: ['TRUE', 'True', 'FALSE', '1', '0', 'yes', 'on', 't', 'null', '%20true', 'true+', 'true,false'],
};
const INVALID_INTEGERS = [
  ...['0', '-1', '-0', '1e1', '0x1', '0b1', '%2B1', '+1', '1+', '05', '00', '1.0', '1.5', '1.', '.5', '1,2', '1_0'],
  ...['1n', '%201', '1%20', 'one', 'NaN', 'Infinity', 'null', 'true', '%D9%A1', '9007199254740992', '9'.repeat(400)],
];
const ids: Values = {
  valid: [UNKNOWN_ID, UNKNOWN_ID.toUpperCase()],
  invalid: ['x', 'null', `${UNKNOWN_ID},${UNKNOWN_ID}`, `%20${UNKNOWN_ID}`, `${UNKNOWN_ID}%20`, '1;2'],
};
const searches: Values = {
  valid: ['', '+', '%09', '%E3%80%80', '+'.repeat(300), LETTER, `+%0A${LETTER.repeat(200)}%20`],
  invalid: [LETTER.repeat(201), '%00', 'a%00b', '%F0%9F%8F%94%00'],
};
const days: Values = {
  valid: [formatDay(Date.now())],
  invalid: ['2026-02-29', '2026-1-1', '2026-01-01T00:00:00Z', '+2026-01-01', '0000-01-01', '20260101', 'today'],
};
const texts: Values = { valid: ['a.b', '+a.b%09'], invalid: ['%00', 'a%00b', '%F0%9F%8F%94%00'] };

/** Returns values of a parameter that is not an array. */
function valuesOf(name: string, { type, enum: values, format, maximum }: FieldSchema): Values {
  if (type === 'boolean') return booleans;
  if (type === 'integer') {
    return { valid: ['1', `${maximum}`], invalid: [...INVALID_INTEGERS, `${(maximum as number) + 1}`] };
  }
  if (values) {
    const others = values.flatMap((value) => [
      `${value}`.toUpperCase(),
      `+${value}`,
      `${value}%20`,
      `${value},${value}`,
    ]);
    return { valid: values.map(String), invalid: [...others, 'unknown'] };
  }
  if (format === 'uuid') return ids;
  if (format === 'date') return days;
  return name === 'search' ? searches : texts;
}

suite('a query parameter with a single value', {
  'accepts only the values of its type, and a blank value only if it is `search`': () =>
    withTenant((get, { ids }) =>
      each(listOperations, (operation) =>
        each(singlesOf(operation.query), async (schema, name) => {
          const path = toPath(operation, ids[pathSegmentOf(operation)]);
          const { valid, invalid } = valuesOf(name, schema);
          for (const value of valid) assert.equal((await get(`${path}?${name}=${value}`)).status, 200, value);
          await each(textCases(...invalid), async (value) =>
            assertInvalidFields(await get(`${path}?${name}=${value}`), [name]),
          );
          for (const blank of [name, `${name}=`, `${name}=%20`, `${name}=+`]) {
            const response = await get(`${path}?${blank}`);
            if (name !== 'search') assertInvalidFields(response, [name]);
            else assert.equal(response.text, (await get(path)).text);
          }
        }),
      ),
    ),

  'must not be repeated': () =>
    withTenant((get, { ids }) =>
      each(listOperations, (operation) =>
        each(singlesOf(operation.query), async (schema, name) => {
          const path = toPath(operation, ids[pathSegmentOf(operation)]);
          const [value, other = value] = valuesOf(name, schema).valid;
          for (const twice of [
            `${name}=${value}&${name}=${value}`,
            `${name}=${value}&${name}=${other}`,
            `${name}&${name}`,
          ]) {
            const response = await get(`${path}?${twice}`);
            assertInvalidFields(response, [name]);
            assertError(response, 422, /must not be repeated$/);
          }
        }),
      ),
    ),
});

function singlesOf(query: Parameters<typeof getInputFields>[0]) {
  return getInputFields(query).filter(([, { type }]) => type !== 'array');
}

/** An array parameter, with a value that finds the record of the tenant and values that find nothing. */
interface ArrayParameter {
  readonly name: string;
  readonly value: string;
  readonly other: (at: number) => string;
}

const idAt = (at: number) => `${UNKNOWN_ID.slice(0, -3)}${at.toString(16).padStart(3, '0')}`;
const nameAt = (at: number) => `étagère ς ${at}`;
const repeat = (count: number, valueAt: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => valueAt(at));

/** Requests a list with a repeated array parameter. The values are percent-encoded already. */
type SendValues = (...values: readonly string[]) => Promise<ApiResponse>;

/** The paths of the lists that have arrays of references or names, by the names of the parameters. */
const arrayParameters = lists.flatMap(([path, { query }]) =>
  getInputFields(query).flatMap(([name, { type }]) =>
    type === 'array' && name !== 'status' ? [[name, path] as const] : [],
  ),
);

/** Runs a test for each array parameter of the lists. */
function eachArray(test: (send: SendValues, parameter: ArrayParameter) => Promise<void>) {
  return withTenant((get, own) =>
    each(arrayParameters, async (path, name) => {
      const value = references[name]?.getValue(own);
      assert.ok(value, `${name} is in \`references\``);
      const parameter = { name, value, other: name === 'tagNames' ? nameAt : idAt };
      await test((...values) => get(`${path}?${name}=${values.join(`&${name}=`)}`), parameter);
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
      // The tag "own tag" in upper case is a duplicate, so there are still 100 different values.
      assert.equal((await send(...encoded, ...encoded.map((text) => text.replace('own', 'OWN')))).json.length, 1);
      for (const tooMany of [[...encoded, more], [encoded.join(), more], [[...encoded, more].join()]]) {
        const response = await send(...tooMany);
        assertInvalidFields(response, [name]);
        assertError(response, 422, /must have at most 100 items$/);
      }
    }),

  'has no blank value and no NUL character': () =>
    eachArray(async (send, { value, name }) => {
      const one = encodeURIComponent(value);
      for (const [values, ...indexes] of [
        [[''], 0],
        [['%20'], 0],
        [[`${one},`], 1],
        [[`,${one}`], 0],
        [[`${one},,${one}`], 1],
        [[one, ''], 1],
        // Names are trimmed, so '%20' is the same name as '', and is not named again. IDs are not trimmed.
        [[one, one, '', one, '%20'], 2, ...(name === 'tagNames' ? [] : [4])],
        [[one, '%20%09'], 1],
        [[one, '%00'], 1],
      ] as const) {
        assertInvalidFields(
          await send(...values),
          indexes.map((index) => `${name}.${index}`),
        );
      }
    }),

  'accepts IDs in upper or lower case, but no ID with spaces or braces around it': () =>
    eachArray(async (send, { value, other, name }) => {
      if (name === 'tagNames') return;
      assert.equal((await send(value.toUpperCase())).json.length, 1);
      const both = repeat(100, other).flatMap((id) => [id, id.toUpperCase()]);
      assert.equal((await send(both.join())).status, 200);
      for (const bad of ['x', `%20${value}`, `${value}%20`, `{${value}}`, value.slice(1)]) {
        assertInvalidFields(await send(bad), [`${name}.0`]);
        assertInvalidFields(await send(value, bad), [`${name}.1`]);
      }
    }),

  'accepts names in upper or lower case, also with spaces around them': () =>
    withTenant(async (get, { workspaceId, ids }, { app }) => {
      await app.tags.update(workspaceId, ids.tags, { name: nameAt(1) });
      const spellings = (name: string) => [
        name,
        name.toUpperCase(),
        name.normalize('NFD'),
        name.replace('ς', 'σ'),
        ` ${name} `,
      ];
      for (const spelling of spellings(nameAt(1))) {
        assert.equal((await get(`/campaigns?tagNames=${encodeURIComponent(spelling)}`)).json.length, 1, spelling);
      }
      // 300 values are more than the maximum of 100, but they are spellings of only 60 names.
      const values = repeat(60, nameAt).flatMap(spellings).map(encodeURIComponent);
      assert.equal((await get(`/campaigns?tagNames=${values.join()}`)).json.length, 1);
    }),
});

suite('the parameters of a query', {
  'are named if they are invalid: up to ten, unknown ones first': () =>
    withTenant(async (get, own, api) => {
      const cases: Readonly<Record<string, string[]>> = {
        '/campaigns?page=0&foo=1&limit=x&filter=x&Page=1': ['foo', 'Page', 'filter', 'limit', 'page'],
        '/campaigns?tagIds[]=x&tagIds=x&tagNames=': ['tagIds[]', 'tagIds.0', 'tagNames.0'],
        '/campaigns?=x&%20=x': ['"" (blank name)', '" " (blank name)'],
        '/domains?page_size=1&archived=true': ['page_size', 'archived'],
      };
      for (const [path, names] of Object.entries(cases)) assertInvalidFields(await get(path), names, path);
      const response = await api.call('POST', '/tags?name=a&x', { key: own.key, body: {} });
      assertInvalidFields(response, ['name', 'x', 'name']);
      const many = Array.from({ length: 12 }, (_, i) => `x${i}`);
      assertInvalidFields(await get(`/domains?${many.slice(0, 10).join('&')}&page=0`), [...many.slice(0, 10), 'page']);
      assertInvalidFields(await get(`/domains?${many.join('&')}&page=0`), [...many, 'page']);
    }),
});
