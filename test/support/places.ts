import assert from 'node:assert/strict';
import { createCampaign } from '../../adapters/api/campaign.ts';
import type { Operation } from '../../adapters/api/operation.ts';
import { UNKNOWN_ID } from './expected-responses.ts';
import {
  createRecord,
  deletions,
  listOperations,
  newValidCall,
  operationsWithBody,
  operationsWithId,
  pathSegmentOf,
  toPath,
} from './operations.ts';
import type { Api } from './service.ts';
import type { Tenant } from './tenants.ts';

/** A part of a request that refers to a record of the workspace. */
export interface Place {
  /**
   * Returns the value that refers to a record of a tenant, such as its ID. `unknown` is a value that refers to no
   * record.
   */
  readonly getValue: (tenant: Tenant) => string;
  readonly unknown: string;
  /** Whether this part can refer to several records. */
  readonly takesMany?: boolean;
  /** The status of the response if this part refers to no record. */
  readonly status: 200 | 404 | 422;
  readonly createRequest: (
    values: readonly string[],
    own: Tenant,
  ) => readonly [method: string, path: string, body?: object];
  /**
   * Creates a record of the tenant and deletes, archives or renames it. Returns the value that referred to the record.
   */
  readonly createDeleted?: (api: Api, tenant: Tenant) => Promise<string>;
}

const byId = (kind: keyof Tenant['ids']) => ({ getValue: ({ ids }: Tenant) => ids[kind], unknown: UNKNOWN_ID });
const bySlug = { getValue: ({ names }: Tenant) => names.domain, unknown: 'never.example' };
const byTagName = { getValue: ({ names }: Tenant) => names.tag, unknown: 'never tag' };

const createPillar = async (api: Api, tenant: Tenant) => (await createRecord(api, tenant, '/content-pillars')).id;

/**
 * Returns the function `createDeleted` for a type of record, or no function if no operation deletes records of this
 * type.
 */
const createDeletedRecord = (kind: keyof Tenant['ids']) => {
  const isDeletable = deletions.some(([, { path }]) => path === `/${kind}/{id}`);
  if (!isDeletable) return {};
  const createDeleted = async (api: Api, tenant: Tenant) => {
    const { id } = await createRecord(api, tenant, `/${kind}`, kind === 'campaigns' ? { status: 'draft' } : {});
    assert.equal((await api.call('DELETE', `/${kind}/${id}`, { key: tenant.key })).status, 200);
    return id;
  };
  return { createDeleted };
};

const createArchivedPillar = async (api: Api, tenant: Tenant) => {
  const id = await createPillar(api, tenant);
  await api.app.contentPillars.update(tenant.workspaceId, id, { status: 'archived' });
  return id;
};

const createArchivedDomain = async ({ app }: Api, { workspaceId, name }: Tenant) => {
  const request = { slug: `gone.${name}.example`, archived: true };
  return (await app.domains.createOrArchive(workspaceId, request)).domain.slug;
};

const createRenamedTag = async ({ app }: Api, { workspaceId, name }: Tenant) => {
  const tag = await app.tags.create(workspaceId, { name: `${name} before` });
  await app.tags.update(workspaceId, tag.id, { name: `${name} after` });
  return `${name} before`;
};

/** The ID in the path of an operation. */
const pathPlaces = operationsWithId.map(([name, operation]): [string, Place] => {
  const kind = pathSegmentOf(operation);
  const createRequest: Place['createRequest'] = ([id = ''], own) => [
    operation.method,
    toPath(operation, id),
    newValidCall(operation, own).body,
  ];
  const own = name === 'deleteCampaign' ? { getValue: ({ draftId }: Tenant) => draftId } : {};
  return [`the path of ${name}`, { ...byId(kind), ...own, status: 404, createRequest, ...createDeletedRecord(kind) }];
});

type Reference = Pick<Place, 'getValue' | 'unknown' | 'takesMany' | 'createDeleted'>;

const MANY = { takesMany: true };
const pillars = byId('content-pillars');
const deletedPillars = createDeletedRecord('content-pillars');
const tags = { ...byId('tags'), ...MANY, ...createDeletedRecord('tags') };
const groups = { ...byId('groups'), ...MANY, ...createDeletedRecord('groups') };

/** The fields of bodies and queries that refer to records, by their names. */
export const references: Readonly<Record<string, Reference>> = {
  campaignIds: { ...byId('campaigns'), ...MANY, ...createDeletedRecord('campaigns') },
  contentPillarId: { ...pillars, ...deletedPillars },
  domain: { ...bySlug, createDeleted: createArchivedDomain },
  groupIds: groups,
  groups,
  ids: { ...pillars, ...MANY, ...deletedPillars },
  memberIds: { getValue: ({ sharer }) => sharer.id, unknown: UNKNOWN_ID, ...MANY, ...createDeletedRecord('members') },
  memberId: { getValue: ({ sharer }) => sharer.id, unknown: UNKNOWN_ID },
  tagIds: tags,
  tagNames: { ...byTagName, ...MANY, createDeleted: createRenamedTag },
  userId: { getValue: ({ admin }) => admin.id, unknown: UNKNOWN_ID },
};

/** Returns the references among the fields of an operation. */
const referencesIn = (fields: Operation['body']) =>
  Object.entries(references).filter(([name]) => name in (fields?.shape ?? {}));

const createBodyPlace = (operation: Operation, name: string, reference: Reference): Place => ({
  ...reference,
  status: 422,
  createRequest: (values, own) => {
    const { path, body } = newValidCall(operation, own);
    return [operation.method, path, { ...body, [name]: reference.takesMany ? values : values[0] }];
  },
});

const bodyPlaces = operationsWithBody.flatMap(([id, operation]) =>
  referencesIn(operation.body).map(([name, reference]): [string, Place] => [
    `${name} of ${id}`,
    createBodyPlace(operation, name, reference),
  ]),
);

const createFilterPlace = (operation: Operation, name: string, reference: Reference): Place => {
  // By default, analytics have a row for each day, even if nothing matches.
  const grouping = 'groupBy' in operation.query.shape ? 'groupBy=campaign&' : '';
  return {
    ...reference,
    status: 200,
    createRequest: (values, own) => ['GET', `${newValidCall(operation, own).path}?${grouping}${name}=${values}`],
  };
};

const filterPlaces = listOperations.flatMap(([id, operation]) => {
  const search = { getValue: ({ name }: Tenant) => name, unknown: 'never' };
  const filters = Object.entries({ ...Object.fromEntries(referencesIn(operation.query)), search });
  return filters
    .filter(([name]) => name in operation.query.shape)
    .map(([name, reference]): [string, Place] => [`${name} of ${id}`, createFilterPlace(operation, name, reference)]);
});

/** The parts of requests that refer to records. */
export const places: Readonly<Record<string, Place>> = {
  ...Object.fromEntries([...pathPlaces, ...bodyPlaces, ...filterPlaces]),
  'contentPillarId of createCampaign, for an archived pillar': createBodyPlace(createCampaign, 'contentPillarId', {
    ...pillars,
    createDeleted: createArchivedPillar,
  }),
};
