import assert from 'node:assert/strict';
import { z } from 'zod';
import type { Operation } from '../../adapters/api/operation.ts';
import { operations } from '../../adapters/api/operations.ts';
import { callRaw, type RawRequest } from './raw-requests.ts';
import type { Api, ApiResponse } from './service.ts';
import { createCampaignBody, createTenant, readAllLists, type Tenant } from './tenants.ts';

/** Tables of operations, by operation id. */
export const allOperations = operations.map((operation) => [operation.id, operation] as const);
export const operationsWithBody = allOperations.filter(([, { body }]) => body);
export const operationsWithoutBody = allOperations.filter(([, { body }]) => !body);
export const operationsWithId = allOperations.filter(([, { path }]) => path.includes('{id}'));
export const operationsWithQuery = allOperations.filter(([, { query }]) => Object.keys(query.shape).length > 0);
export const postOperations = allOperations.filter(([, { method }]) => method === 'POST');

let nameCount = 0;
const newName = () => `new-${++nameCount}`;

const bodies: Readonly<Record<string, () => object>> = {
  createCampaign: () => createCampaignBody(),
  createInspirationQuestion: () => ({ question: 'What did you learn this week?' }),
  updateInspirationQuestion: () => ({ question: 'What will you learn next week?' }),
  updateContentPillar: () => ({ title: newName() }),
  createDomain: () => ({ slug: `${newName()}.example` }),
  createGroup: () => ({ name: newName() }),
  createTag: () => ({ name: newName() }),
  updateTag: () => ({ name: newName() }),
};

/** Returns a valid request of an operation: for a record of the tenant, and with an unused name. */
export function validCallOf(
  operation: Operation,
  { ids }: Pick<Tenant, 'ids'>,
): { path: string; body: object | undefined } {
  return { path: pathOf(operation, ids[pathSegmentOf(operation)]), body: bodies[operation.id]?.() };
}

/** Returns the path of an operation, with the id if the path has one. */
export function pathOf({ path }: Operation, id: string): string {
  return path.replace('{id}', id);
}

/** Returns the first segment of the path, which names the resource. */
export function pathSegmentOf({ path }: Operation): keyof Tenant['ids'] {
  return path.split('/')[1] as keyof Tenant['ids'];
}

/** Returns the status of a success. For `createDomain`, it is that of a new domain. */
export function successStatusOf({ method }: Operation): number {
  return method === 'POST' ? 201 : 200;
}

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** The JSON Schema of a field, as far as tests need it. */
export interface FieldSchema {
  readonly type?: JsonType | readonly JsonType[];
  readonly anyOf?: readonly FieldSchema[];
  readonly enum?: readonly unknown[];
}

/** Returns the fields of a query or body with the schemas of their input. */
export function fieldsOf(fields: z.ZodObject | undefined): [name: string, schema: FieldSchema][] {
  if (!fields) return [];
  const { $defs = {}, ...root } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  const resolve = (schema: z.core.JSONSchema._JSONSchema) =>
    typeof schema === 'object' && schema.$ref ? ($defs[schema.$ref.replace('#/$defs/', '')] as typeof root) : schema;
  const { properties = {} } = resolve(root) as typeof root;
  assert.deepEqual(Object.keys(properties), Object.keys(fields.shape));
  return Object.entries(properties).map(([name, schema]) => [name, resolve(schema) as FieldSchema]);
}

/** Returns the types that a field accepts. */
export function typesOf({ type = [], anyOf = [] }: FieldSchema): JsonType[] {
  return [...[type].flat(), ...anyOf.flatMap(typesOf)] as JsonType[];
}

/** Sends a request that would succeed without the given changes. */
export type SendRequest = (changes?: Partial<RawRequest>) => Promise<ApiResponse>;

/**
 * Runs a test that sends only requests that must be rejected. Then asserts that nothing has changed, and that the original
 * request succeeds, so that no rejected request has reserved a name.
 */
export async function assertChangesNothing(
  api: Api,
  operation: Operation,
  test: (sendChanged: SendRequest, body: string, tenant: Tenant) => Promise<void>,
): Promise<void> {
  const tenant = await createTenant(api, 'tenant');
  const call = validCallOf(operation, tenant);
  const body = call.body && JSON.stringify(call.body);
  const headers = body === undefined ? [] : ([['Content-Type', 'application/json']] as const);
  const request = { method: operation.method, target: call.path, key: tenant.key, headers, body };
  const before = await readAllLists(api, tenant.key);
  await test((changes) => callRaw(api, { ...request, ...changes }), body ?? '', tenant);
  assert.deepEqual(await readAllLists(api, tenant.key), before);
  const { status, text } = await callRaw(api, request);
  assert.equal(status, successStatusOf(operation), text);
}
