import assert from 'node:assert/strict';
import type { Operation } from '../../adapters/api/operation.ts';
import { each } from '../support/each.ts';
import { assertInvalidFields, UNKNOWN_ID } from '../support/expected-responses.ts';
import { operationsWithBody, pathSegmentOf, validCallOf } from '../support/operations.ts';
import {
  booleans,
  campaignBody,
  oneOf,
  type SampleValues,
  texts,
  urls,
  urlsOrBlank,
  withSamples,
} from '../support/samples.ts';
import { type Api, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

const NULL_IS_VALID = { valid: [null] };

// test/core tests how amounts, whole numbers, dates, IDs and slugs are parsed. The values here show that a field uses
// the parser.
const amount: SampleValues = {
  valid: [0, 1.5, 1e3, '0', '0.0001', '999999999999.9999'],
  invalid: [-1, 0.12345, 1e12, '-1', '', ' 1', '1e3', '007', '1,5'],
};
const wholeNumber: SampleValues = {
  valid: [0, 50, '50', '9007199254740991'],
  invalid: [-1, 1.5, 2 ** 53, '', ' 5', '1.0', '007', '1e3', '9007199254740992'],
};
const date: SampleValues = {
  valid: ['2024-02-29', '0001-01-01', '9999-12-31', '2026-01-31T09:30', '2026-01-31T09:30:15.123456789-05:30'],
  invalid: ['', '2026-02-30', ' 2026-01-31', '2026-01-31Z', '2026-01-31T24:00Z', '2026-01-31t09:30Z', '0000-01-01'],
};
const ids: SampleValues = {
  valid: [[]],
  invalid: ['', UNKNOWN_ID],
  invalidItems: ['', 'no-id', ` ${UNKNOWN_ID}`, null, 1],
};
const slug: SampleValues = {
  valid: ['a.b', 'go.example.com', 'xn--bcher-kva.example'],
  invalid: ['', ' ', 'example', 'https://a.b', 'a.b/c', 'www.a.b', '127.0.0.1', 'a_b.c', 'a\0b.c', 'a\ud800.c'],
};
const ICONS = `
  bulb sparkles message message-circle pencil writing book bookmark star heart target rocket briefcase building
  building-skyscraper home users user users-group speakerphone send mail brand-linkedin link world search calendar
  clock chart-bar chart-line chart-dots chart-pie trending-up trophy award bolt flame sun moon cloud camera
  microphone video photo file-text clipboard check circle-check help question-mark`;

/**
 * The fields of all bodies, by the path segment of their resource. The valid values of a field contain `null` if it
 * accepts `null`.
 */
const fields: Readonly<Record<string, Readonly<Record<string, SampleValues>>>> = {
  campaigns: {
    name: texts({ min: 1, max: 190 }),
    description: texts({ max: 5000 }),
    shareContext: texts({ max: 5000 }),
    objective: texts({ max: 5000 }),
    status: oneOf('draft', 'published', 'archived'),
    destinationUrl: urlsOrBlank,
    startDate: date,
    endDate: date,
    shareRewardAmount: amount,
    clickRewardAmount: amount,
    maxRewardPerEmployee: amount,
    totalBudget: amount,
    domain: { ...NULL_IS_VALID, invalid: slug.invalid },
    image: withSamples(urls, NULL_IS_VALID),
    tagIds: ids,
    groupIds: ids,
    resources: { valid: [[]], invalid: ['https://example.com', { 0: 'https://example.com', length: 1 }] },
    targetShares: wholeNumber,
    contentPillarId: { ...NULL_IS_VALID, invalid: ['', 'no-id', UNKNOWN_ID.replaceAll('-', '')] },
  },
  'inspiration-questions': {
    question: texts({ min: 10, max: 170 }),
    description: texts({ max: 5000 }),
    icon: oneOf(...ICONS.trim().split(/\s+/)),
    userType: oneOf('thought_leader', 'advocate', 'all'),
    groups: ids,
    isActive: booleans,
    archived: booleans,
  },
  'content-pillars': {
    title: texts({ min: 1, max: 100 }),
    description: texts({ max: 1500 }),
    color: oneOf('red', 'yellow', 'green', 'blue', 'purple', 'brown'),
    status: oneOf('published', 'archived'),
  },
  domains: {
    slug,
    expiredUrl: urlsOrBlank,
    notFoundUrl: urlsOrBlank,
    archived: booleans,
    placeholder: urlsOrBlank,
  },
  groups: { name: texts({ min: 1, max: 190 }), description: texts({ max: 5000 }) },
  tags: { name: withSamples(texts({ min: 1, max: 190 }), { invalid: ['a,b', ','] }) },
};

/** Fields that accept other values in an operation, by the ID of the operation. */
const otherFields: Readonly<Record<string, Readonly<Record<string, SampleValues>>>> = {
  // A published campaign, which each test updates, cannot become a draft again.
  updateCampaign: {
    status: oneOf('published', 'archived'),
    destinationUrl: withSamples(urlsOrBlank, NULL_IS_VALID),
    targetShares: withSamples(wholeNumber, NULL_IS_VALID),
  },
};

/** The required fields of each operation that has any. */
const requiredFields: Readonly<Record<string, readonly string[]>> = {
  createCampaign: Object.keys(campaignBody),
  createInspirationQuestion: ['question'],
  createContentPillar: ['title', 'color'],
  createDomain: ['slug'],
  createGroup: ['name'],
  createTag: ['name'],
  updateTag: ['name'],
};

/** The dates of the longest possible campaign. A test can replace either of them by any valid date. */
const MAX_PERIOD = { startDate: '0001-01-01', endDate: '9999-12-31' };

/** Calls an operation with a valid body, to which `changes` are applied. */
function callWith(api: Api, operation: Operation, tenant: Tenant, changes: object) {
  const { path, body } = validCallOf(operation, tenant);
  const dates = operation.body && 'startDate' in operation.body.shape ? MAX_PERIOD : {};
  return api.call(operation.method, path, { key: tenant.key, body: { ...body, ...dates, ...changes } });
}

/** Runs a test for each field of each body. */
function eachField(
  test: (
    field: string,
    values: SampleValues,
    call: (tenant: Tenant, value: unknown) => ReturnType<typeof callWith>,
  ) => Promise<void>,
  api: Api,
) {
  return each(operationsWithBody, (operation) =>
    each(
      Object.entries({ ...fields[pathSegmentOf(operation)], ...otherFields[operation.id] }).filter(
        ([field]) => field in (operation.body?.shape ?? {}),
      ),
      (values, field) => test(field, values, (tenant, value) => callWith(api, operation, tenant, { [field]: value })),
    ),
  );
}

const toStored = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

suite('a field of a body', {
  'has an entry in `fields`': () =>
    each(operationsWithBody, (operation) => {
      const unknown = Object.keys(operation.body?.shape ?? {}).filter(
        (field) => !(field in (fields[pathSegmentOf(operation)] ?? {})),
      );
      assert.deepEqual(unknown, []);
    }),

  'accepts each valid value, and returns texts trimmed': () =>
    withSharedService((api) =>
      eachField(async (field, { valid }, call) => {
        const tenant = await createTenant(api, 'tenant');
        for (const value of valid) {
          const { status, text, json } = await call(tenant, value);
          assert.ok(status === 200 || status === 201, `${JSON.stringify(value)} got ${text}`);
          if (field === 'destinationUrl') assert.equal(json[field], toStored(value) || null);
          else if (field in json && typeof value !== typeof json[field]) assert.equal(json[field], Number(value));
          else if (field in json) assert.deepEqual(json[field], toStored(value));
        }
      }, api),
    ),

  'rejects each invalid value, and null unless the field accepts it': () =>
    withSharedService(async (api) => {
      const tenant = await createTenant(api, 'tenant');
      await eachField(async (field, { valid, invalid, invalidItems = [] }, call) => {
        for (const value of valid.includes(null) ? invalid : [...invalid, null]) {
          assertInvalidFields(await call(tenant, value), [field], JSON.stringify(value));
        }
        for (const item of invalidItems) {
          assertInvalidFields(await call(tenant, [item]), [`${field}.0`], JSON.stringify(item));
        }
      }, api);
    }),

  'is required if `requiredFields` lists it, and otherwise optional': () =>
    withSharedService((api) =>
      each(operationsWithBody, async (operation, id) => {
        const tenant = await createTenant(api, 'tenant');
        const required = requiredFields[id] ?? [];
        const { path } = validCallOf(operation, tenant);
        const empty = await api.call(operation.method, path, { key: tenant.key, body: {} });
        if (required.length > 0) assertInvalidFields(empty, required.slice(0, 10));
        else assert.equal(empty.status, 200, empty.text);
        for (const field of required) {
          assertInvalidFields(await callWith(api, operation, tenant, { [field]: undefined }), [field]);
        }
      }),
    ),
});
