import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Operation } from '../../adapters/api/operation.ts';
import { operations } from '../../adapters/api/operations.ts';
import { jsonOf } from './expected-responses.ts';
import { callRaw, type RawRequest } from './raw-requests.ts';
import type { Api, ApiResponse } from './service.ts';
import { createTenant, type Tenant, type TestWorkspace } from './tenants.ts';

/** Tables of operations, by operation ID. */
export const allOperations = operations.map((operation) => [operation.id, operation] as const);
export const operationsWithBody = allOperations.filter(([, { body }]) => body);
export const operationsWithoutBody = allOperations.filter(([, { body }]) => !body);
export const operationsWithId = allOperations.filter(([, { path }]) => path.includes('{id}'));
/** The operations after which the record does not exist. A deleted key is revoked, and still exists. */
export const deletions = allOperations.filter(([id, { method }]) => method === 'DELETE' && id !== 'deleteKey');
export const postOperations = allOperations.filter(([, { method }]) => method === 'POST');

export const listOperations = allOperations.filter(([, { query }]) => 'page' in query.shape);

/** The lists of the records of a workspace that a POST to the same path creates, by their paths. */
export const lists = listOperations
  .filter(([, { path }]) => !path.includes('{id}') && postOperations.some(([, post]) => post.path === path))
  .map(([, operation]) => [operation.path, operation] as const);

let nameCount = 0;
/** Returns new values of the fields that must be unique in a workspace. */
const newUniqueFields = () => ({
  name: `new-${++nameCount}`,
  slug: `new-${nameCount}.example`,
  email: `new-${nameCount}@x.example`,
});
/** The dates of a campaign that can be shared. */
const RUNNING = { startDate: '2026-01-01', endDate: '2099-12-31' };

/**
 * Returns a valid request of an operation: its documented example, for a record of the tenant, and with an unused name.
 */
export function newValidCall(operation: Operation, tenant: RecordIds): { path: string; body: object | undefined } {
  const isRequired = operation.query.shape.campaignIds?.safeParse(undefined).success === false;
  const query = isRequired ? `?campaignIds=${tenant.ids.campaigns}` : '';
  return { path: toPath(operation, recordIdOf(operation, tenant)) + query, body: newValidBody(operation) };
}

type RecordIds = Pick<Tenant, 'ids'> & Partial<Pick<Tenant, 'draftId'>>;

/** Returns the ID of the record of a tenant for which an operation succeeds: only a draft can be deleted. */
export function recordIdOf(operation: Operation, { ids, draftId }: RecordIds): string {
  return operation.id === 'deleteCampaign' && draftId ? draftId : ids[pathSegmentOf(operation)];
}

/** Adds parameters to the query of a path. */
export function addQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`;
}

function newValidBody({ example: { body } }: Operation): object | undefined {
  const unique = Object.entries({ ...newUniqueFields(), ...RUNNING }).filter(([field]) => body && field in body);
  return body && { ...body, ...Object.fromEntries(unique) };
}

/** Creates a record of a list with the given fields and those of the documented example. Resolves to the record. */
export async function createRecord(
  { call }: Api,
  { key }: TestWorkspace,
  path: string,
  fields: object = {},
): Promise<ApiResponse['json']> {
  const operation = operations.find((one) => one.method === 'POST' && one.path === path) as Operation;
  return jsonOf(await call('POST', path, { key, body: { ...newValidBody(operation), ...fields } }), 201);
}

/** Returns the path of an operation, with the ID if the path has one. */
export function toPath({ path }: Operation, id: string): string {
  return path.replace('{id}', id);
}

/** Returns the first segment of the path, which names the resource. */
export function pathSegmentOf({ path }: Operation): keyof Tenant['ids'] {
  return path.split('/')[1] as keyof Tenant['ids'];
}

/** Returns the status of a success. If the operation creates a record or finds an existing one, returns 201. */
export function successStatusOf({ statuses }: Operation): number {
  return Math.max(...statuses);
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The JSON Schema of a field, as far as tests need it, and whether a body must have the field. */
export interface FieldSchema {
  readonly type?: JsonType | 'integer' | readonly JsonType[];
  readonly anyOf?: readonly FieldSchema[];
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly isRequired?: boolean;
}

/** Returns the fields of a query or body with the schemas of their input. */
export function getInputFields(fields: z.ZodObject | undefined): [name: string, schema: FieldSchema][] {
  if (!fields) return [];
  const { $defs = {}, ...root } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  const resolve = (schema: z.core.JSONSchema._JSONSchema): z.core.JSONSchema.JSONSchema => {
    assert.ok(typeof schema === 'object', 'a schema of a field is an object');
    if (schema.$ref) return resolve($defs[schema.$ref.replace('#/$defs/', '')] ?? false);
    return schema.anyOf ? { ...schema, anyOf: schema.anyOf.map(resolve) } : schema;
  };
  const { properties = {}, required = [] } = resolve(root);
  assert.deepEqual(Object.keys(properties), Object.keys(fields.shape));
  return Object.entries(properties).map(([name, schema]) => {
    return [name, { ...(resolve(schema) as FieldSchema), isRequired: required.includes(name) }];
  });
}

/** Returns the types that a field accepts. In JSON, an integer is a number. */
export function getTypes({ type = [], anyOf = [] }: FieldSchema): JsonType[] {
  const types = [type].flat().map((name) => (name === 'integer' ? 'number' : name));
  return [...types, ...anyOf.flatMap(getTypes)] as JsonType[];
}

/** Sends a request that would succeed without the given changes. */
export type SendRequest = (changes?: Partial<RawRequest>) => Promise<ApiResponse>;

/**
 * Runs a test that sends only requests that must be rejected. Then asserts that nothing has changed, and that the valid
 * request without changes succeeds. This shows that no rejected request has reserved a name.
 */
export async function assertChangesNothing(
  api: Api,
  operation: Operation,
  test: (sendChanged: SendRequest, body: string, tenant: Tenant) => Promise<void>,
): Promise<void> {
  const tenant = await createTenant(api, 'tenant');
  const call = newValidCall(operation, tenant);
  const body = call.body && JSON.stringify(call.body);
  const headers = body === undefined ? [] : ([['Content-Type', 'application/json']] as const);
  const request = { method: operation.method, target: call.path, key: tenant.key, headers, body };
  const before = await readAllLists(api, tenant.key);
  await test((changes) => callRaw(api, { ...request, ...changes }), body ?? '', tenant);
  assert.deepEqual(await readAllLists(api, tenant.key), before);
  const { status, text } = await callRaw(api, request);
  assert.equal(status, successStatusOf(operation), text);
}

/**
 * Returns the texts of all lists, which a rejected request must not change, without the last use of keys. `excluded`
 * has the paths of lists that the test itself changes. Rejects if a list has several pages or cannot be read.
 */
export function readAllLists({ call }: Api, key: string, excluded: readonly string[] = []): Promise<string[]> {
  const compared = lists.filter(([path]) => !excluded.includes(path));
  return Promise.all(
    compared.map(async ([path, { query }]) => {
      const all = ['includeArchived', 'includeEnded'].filter((name) => name in query.shape);
      const list = `${path}?${all.map((name) => `${name}=true`)}`;
      const { status, headers, text } = await call('GET', list, { key });
      if (status !== 200 || headers.has('link')) throw new Error(`${list} has more than one page, or failed: ${text}`);
      return text.replaceAll(/"lastUsedAt":"[^"]*"/g, '"lastUsedAt":null');
    }),
  );
}
