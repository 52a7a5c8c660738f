import assert from 'node:assert/strict';
import { z } from 'zod';
import * as field from '../../adapters/api/fields.ts';
import type { Operation } from '../../adapters/api/operation.ts';
import { each } from '../support/each.ts';
import { assertInvalidFields, UNKNOWN_ID } from '../support/expected-responses.ts';
import {
  type FieldSchema,
  getInputFields,
  newValidCall,
  operationsWithBody,
  successStatusOf,
} from '../support/operations.ts';
import { references } from '../support/places.ts';
import { booleans, oneOf, type SampleValues, texts, urls, urlsOrBlank, webhookUrls } from '../support/samples.ts';
import { type Api, withSharedService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createTenant, type Tenant } from '../support/tenants.ts';

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
/** The samples of the shared types of fields. Their schemas in the OpenAPI document tell them apart. */
const samplesByType = new Map<string, SampleValues>(
  (
    [
      [field.amount, amount],
      [field.httpUrl, urls],
      [field.httpUrlOrEmpty, urlsOrBlank],
      [field.urlWithoutFragment, webhookUrls],
      [field.id, { valid: [], invalid: ['', 'no-id', UNKNOWN_ID.replaceAll('-', '')] }],
      [field.ids, ids],
      [field.slug, slug],
      [field.startDate, date],
      [field.wholeNumber, wholeNumber],
      [z.boolean(), booleans],
    ] as const
  ).map(([schema, samples]) => {
    const [[, type]] = getInputFields(z.strictObject({ type: schema })) as [[string, FieldSchema]];
    return [keyOf(type), samples];
  }),
);

/** Returns the keywords of a schema that restrict values, as text. */
function keyOf(schema: FieldSchema): string {
  const texts = ['id', 'description', 'examples', 'default', 'isRequired'];
  return JSON.stringify(schema, (name, value) => (texts.includes(name) ? undefined : value));
}

const email: SampleValues = {
  valid: ['a@b', ' Ada@Example.com\n', `${'𝒳'.repeat(126)}@${'b'.repeat(127)}`],
  invalid: ['', '@b', 'ab', 'a@', 'a@@b', 'a@b@c', 'a b@c', 'a@b\u00a0c', `${'𝒳'.repeat(253)}@b`, 'a@b\0', 'a@\ud800'],
};
const NEXT_DAY = new Date(Date.now() + 24 * 60 * 60_000);

/** Values of fields whose samples do not follow from their schemas, by operation and field. */
const otherValues: Readonly<Record<string, Partial<SampleValues>>> = {
  'createMember.email': email,
  'updateMember.email': email,
  'createMember.invitationExpiresAt': {
    valid: [NEXT_DAY.toISOString()],
    invalid: [...date.invalid, '2024-02-29', '9999-12-31'],
  },
  // The member, whom each test updates, has accepted the invitation.
  'updateMember.invitation': { valid: ['accepted'] },
  'updateMember.invitationExpiresAt': { valid: [], invalid: [...date.invalid, NEXT_DAY.toISOString()] },
  'createKey.expiresAt': { valid: ['2099-12-31T09:30:15.123Z'], invalid: [...date.invalid, '2024-02-29'] },
  // A key can be rotated once.
  'rotateKey.graceSeconds': { valid: [0], invalid: [-1, 1.5, 604_801, '60', ''] },
  'createCampaign.resources': { invalid: ['https://example.com', { 0: 'https://example.com', length: 1 }] },
  'createTag.name': { invalid: ['a,b', ','] },
  // A published campaign, which each test updates, cannot become a draft again.
  'updateCampaign.status': { valid: ['published', 'archived'] },
};

/** Returns values that a field accepts and rejects. Fields that refer to records accept only `null` or no records. */
function samplesOf(operation: Operation, name: string, schema: FieldSchema): SampleValues {
  const { anyOf = [], ...keywords } = schema;
  const [inner, ...others] = anyOf.filter(({ type }) => type !== 'null');
  const isNullable = anyOf.some(({ type }) => type === 'null');
  if (isNullable && inner) {
    const values = samplesOf(operation, name, others.length > 0 ? { ...keywords, anyOf: [inner, ...others] } : inner);
    return { ...values, valid: [...values.valid, null] };
  }
  const samples = samplesByType.get(keyOf(schema)) ?? samplesOfType(schema);
  assert.ok(samples, `no samples for ${operation.id}.${name}: ${JSON.stringify(schema)}`);
  const valid = name in references ? samples.valid.filter((value) => Array.isArray(value)) : samples.valid;
  return { ...samples, valid, ...otherValues[`${operation.id}.${name}`] };
}

function samplesOfType({ type, enum: values, minLength = 0, maxLength }: FieldSchema): SampleValues | undefined {
  if (values) return oneOf(...values.map(String));
  if (type === 'array') return { valid: [[]], invalid: ['', {}] };
  if (type === 'integer') return { valid: [], invalid: [''] };
  return type === 'string' && maxLength ? texts({ min: minLength, max: maxLength }) : undefined;
}

/** The dates of the longest possible campaign. A test can replace either of them by any valid date. */
const MAX_PERIOD = { startDate: '0001-01-01', endDate: '9999-12-31' };

/** Calls an operation with a valid body, to which `changes` are applied. */
function callWith(api: Api, operation: Operation, tenant: Tenant, changes: object) {
  const { path, body } = newValidCall(operation, tenant);
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
    each(getInputFields(operation.body), (schema, name) =>
      test(name, samplesOf(operation, name, schema), (tenant, value) =>
        callWith(api, operation, tenant, { [name]: value }),
      ),
    ),
  );
}

const toStored = (value: unknown) => (typeof value === 'string' ? value.trim() : value);

suite('a field of a body', {
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

  'is required if its schema says so, and otherwise optional': () =>
    withSharedService((api) =>
      each(operationsWithBody, async (operation) => {
        const tenant = await createTenant(api, 'tenant');
        const required = getInputFields(operation.body).flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
        const { path } = newValidCall(operation, tenant);
        const empty = await api.call(operation.method, path, { key: tenant.key, body: {} });
        if (required.length > 0) assertInvalidFields(empty, required);
        else assert.equal(empty.status, successStatusOf(operation), empty.text);
        for (const field of required) {
          assertInvalidFields(await callWith(api, operation, tenant, { [field]: undefined }), [field]);
        }
      }),
    ),
});
