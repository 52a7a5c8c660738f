import assert from 'node:assert/strict';
import { UNKNOWN_ID } from './expected-responses.ts';
import { createRecord, lists, operationsWithId, pathOf, pathSegmentOf, validCallOf } from './operations.ts';
import { campaignBody } from './samples.ts';
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
const byMember = { getValue: ({ admin }: Tenant) => admin.id, unknown: UNKNOWN_ID };

const createPillar = async (api: Api, tenant: Tenant) => (await createRecord(api, tenant, '/content-pillars')).id;

/**
 * Returns the function `createDeleted` for a type of record, or no function if no operation deletes records of this
 * type.
 */
const createDeletedRecord = (kind: keyof Tenant['ids']) => {
  const isDeletable = operationsWithId.some(([, { method, path }]) => method === 'DELETE' && path === `/${kind}/{id}`);
  if (!isDeletable) return {};
  const createDeleted = async (api: Api, tenant: Tenant) => {
    const { id } = await createRecord(api, tenant, `/${kind}`);
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
    pathOf(operation, id),
    validCallOf(operation, own).body,
  ];
  return [`the path of ${name}`, { ...byId(kind), status: 404, createRequest, ...createDeletedRecord(kind) }];
});

type Reference = Pick<Place, 'getValue' | 'unknown' | 'takesMany' | 'createDeleted'>;

/**
 * Returns the place for a field in the body of a new campaign or question. The field is an array if `takesMany` is set.
 */
const field = (path: string, name: string, reference: Reference): Place => ({
  ...reference,
  status: 422,
  createRequest: (values) => {
    const body = path === '/campaigns' ? campaignBody : { question: 'What did you learn?' };
    return ['POST', path, { ...body, [name]: reference.takesMany ? values : values[0] }];
  },
});

/** Returns the place for a filter of a list. */
const filter = (path: string, name: string, reference: Reference): Place => ({
  ...reference,
  status: 200,
  createRequest: (values) => ['GET', `${path}?${name}=${values}`],
});

const searchPlaces = lists.map(([path]): [string, Place] => [
  `the search of ${path}`,
  filter(path, 'search', { getValue: ({ name }) => name, unknown: 'never' }),
]);

const MANY = { takesMany: true };
const pillars = byId('content-pillars');
const tags = { ...byId('tags'), ...createDeletedRecord('tags') };

/** The parts of requests that refer to records. */
export const places: Readonly<Record<string, Place>> = {
  ...Object.fromEntries([...pathPlaces, ...searchPlaces]),
  'tagIds of a campaign': field('/campaigns', 'tagIds', { ...tags, ...MANY }),
  'groupIds of a campaign': field('/campaigns', 'groupIds', { ...byId('groups'), ...MANY }),
  'contentPillarId of a campaign': field('/campaigns', 'contentPillarId', {
    ...pillars,
    ...createDeletedRecord('content-pillars'),
  }),
  'contentPillarId of a campaign, for an archived pillar': field('/campaigns', 'contentPillarId', {
    ...pillars,
    createDeleted: createArchivedPillar,
  }),
  'domain of a campaign': field('/campaigns', 'domain', { ...bySlug, createDeleted: createArchivedDomain }),
  'groups of a new question': field('/inspiration-questions', 'groups', { ...byId('groups'), ...MANY }),
  'groups of an existing question': {
    ...byId('groups'),
    ...MANY,
    status: 422,
    createRequest: (groups, own) => ['PATCH', `/inspiration-questions/${own.ids['inspiration-questions']}`, { groups }],
  },
  'tagIds of an existing campaign': {
    ...tags,
    ...MANY,
    status: 422,
    createRequest: (tagIds, own) => ['PATCH', `/campaigns/${own.ids.campaigns}`, { tagIds }],
  },
  'domain of an existing campaign': {
    ...bySlug,
    status: 422,
    createRequest: ([domain], own) => ['PATCH', `/campaigns/${own.ids.campaigns}`, { domain }],
    createDeleted: createArchivedDomain,
  },
  'the filter domain': filter('/campaigns', 'domain', bySlug),
  'the filter tagIds': filter('/campaigns', 'tagIds', { ...tags, ...MANY }),
  'the filter tagNames': filter('/campaigns', 'tagNames', { ...byTagName, ...MANY, createDeleted: createRenamedTag }),
  'the filter userId': filter('/campaigns', 'userId', byMember),
  'the filter groupIds': filter('/inspiration-questions', 'groupIds', { ...byId('groups'), ...MANY }),
  'the filter memberId': {
    getValue: ({ sharer }) => sharer.id,
    unknown: UNKNOWN_ID,
    status: 200,
    createRequest: ([memberId], own) => ['GET', `/campaigns/${own.ids.campaigns}/shares?memberId=${memberId}`],
  },
  'the filter ids': filter('/content-pillars', 'ids', {
    ...pillars,
    ...MANY,
    ...createDeletedRecord('content-pillars'),
  }),
};
