import type { Storage } from '../../core/application.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { requireFound } from '../../core/shared/core-error.ts';
import { jsonOf } from './expected-responses.ts';
import { createRecord } from './operations.ts';
import { type Api, type ApiResponse, type ServiceOptions, withSharedService } from './service.ts';
import { createWorkspace, type TestWorkspace } from './tenants.ts';

/** A workspace without records in a running service. Requests have the admin's key. */
export interface Fixture extends TestWorkspace {
  call(method: string, path: string, body?: unknown): Promise<ApiResponse>;
  /** Creates a record of a list, such as `/tags`, with the given fields and those of the documented example. */
  create(path: string, fields?: object): Promise<ApiResponse['json']>;
  /** Returns the records of a list, or one field of each. */
  list(path: string, field?: string): Promise<ApiResponse['json']>;
}

/**
 * Passes a new workspace to a test, in the service that tests share or, if options are given, in a service of its own.
 */
export function withFixture(
  test: (fixture: Fixture, api: Api) => Promise<void>,
  options?: ServiceOptions,
): Promise<void> {
  return withSharedService(async (api) => test(await createFixture(api), api), options);
}

/** Creates a workspace without records in a running service. */
export async function createFixture(api: Api): Promise<Fixture> {
  const workspace = await createWorkspace(api.app);
  const call: Fixture['call'] = (method, path, body) => api.call(method, path, { key: workspace.key, body });
  return {
    ...workspace,
    call,
    create: (path, fields) => createRecord(api, workspace, path, fields),
    list: async (path, field) => {
      const records = jsonOf(await call('GET', path));
      return field === undefined ? records : records.map((record: Record<string, unknown>) => record[field]);
    },
  };
}

/** Runs a test with a clock that the test sets. */
export function withClock(
  test: (fixture: Fixture, clock: { now: number }, api: Api) => Promise<void>,
  start = Date.parse('2026-01-31T09:00:00Z'),
): Promise<void> {
  const clock = { now: start };
  return withFixture((fixture, api) => test(fixture, clock, api), { now: () => clock.now });
}

/** Returns the campaign with this ID as the storage has it, with fields that the API does not return. */
export async function storedCampaign({ app }: Api, { workspaceId }: TestWorkspace, id: string): Promise<Campaign> {
  const { storage } = app as unknown as { readonly storage: Storage };
  return requireFound(await storage.campaigns.findById(workspaceId, id), 'campaign');
}
