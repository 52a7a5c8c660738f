import assert from 'node:assert/strict';
import { each, textCases } from '../support/each.ts';
import { comparablePartOf, UNKNOWN_ID } from '../support/expected-responses.ts';
import { type Api, type ApiResponse, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createTenant, readAllLists, type Tenant } from '../support/tenants.ts';

/** A part of a request that refers to a record of the workspace. */
interface Place {
  /** Returns the value that refers to a record of a tenant, such as its id. `unknown` is a value that refers to no record. */
  readonly of: (tenant: Tenant) => string;
  readonly unknown: string;
  /** Whether this part can refer to several records. */
  readonly takesMany?: boolean;
  /** The status of the response if this part refers to no record. */
  readonly status: 200 | 404 | 422;
  readonly createRequest: (
    values: readonly string[],
    own: Tenant,
  ) => readonly [method: string, path: string, body?: object];
  /** Creates a record of the tenant and deletes, archives or renames it. Returns the value that referred to the record. */
  readonly createDeleted?: (api: Api, tenant: Tenant) => Promise<string>;
}

const byId = (kind: keyof Tenant['ids']) => ({ of: ({ ids }: Tenant) => ids[kind], unknown: UNKNOWN_ID });
const bySlug = { of: ({ names }: Tenant) => names.domain, unknown: 'never.example' };
const byText = { of: ({ name }: Tenant) => name, unknown: 'never' };

const createDeletedRecord = (kind: 'inspiration-questions' | 'content-pillars') => async (api: Api, tenant: Tenant) => {
  const id = await recordFactories[kind](api, tenant);
  const { status } = await api.call('DELETE', `/${kind}/${id}`, { key: tenant.key });
  assert.equal(status, 200);
  return id;
};

const recordFactories = {
  'inspiration-questions': async ({ app }: Api, { workspaceId }: Tenant) =>
    (await app.inspirationQuestions.create(workspaceId, { question: 'Which question is deleted?' })).id,
  'content-pillars': async ({ app }: Api, { workspaceId, adminId }: Tenant) =>
    (await app.contentPillars.create(workspaceId, { authorId: adminId, title: 'Gone', color: 'red' })).id,
};

const createArchivedPillar = async (api: Api, tenant: Tenant) => {
  const id = await recordFactories['content-pillars'](api, tenant);
  await api.app.contentPillars.update(tenant.workspaceId, id, { status: 'archived' });
  return id;
};

const createArchivedDomain = async ({ app }: Api, { workspaceId, name }: Tenant) => {
  const request = { slug: `gone.${name}.example`, archived: true };
  return (await app.domains.createOrArchive(workspaceId, request)).domain.slug;
};

const createRenamedTag = async ({ app }: Api, { workspaceId, name }: Tenant) => {
  const tag = await app.tags.create(workspaceId, `${name} before`);
  await app.tags.rename(workspaceId, tag.id, `${name} after`);
  return `${name} before`;
};

const campaignWith = (fields: object) => ['POST', '/campaigns', { ...createCampaignBody(), ...fields }] as const;
const questionWith = (fields: object) =>
  ['POST', '/inspiration-questions', { question: 'What did you learn?', ...fields }] as const;

const places: Readonly<Record<string, Place>> = {
  'the path of GET /campaigns/{id}': {
    ...byId('campaigns'),
    status: 404,
    createRequest: ([id]) => ['GET', `/campaigns/${id}`],
  },
  'the path of PATCH /inspiration-questions/{id}': {
    ...byId('inspiration-questions'),
    status: 404,
    createRequest: ([id]) => ['PATCH', `/inspiration-questions/${id}`, { isActive: false }],
    createDeleted: createDeletedRecord('inspiration-questions'),
  },
  'the path of DELETE /inspiration-questions/{id}': {
    ...byId('inspiration-questions'),
    status: 404,
    createRequest: ([id]) => ['DELETE', `/inspiration-questions/${id}`],
    createDeleted: createDeletedRecord('inspiration-questions'),
  },
  'the path of PATCH /content-pillars/{id}': {
    ...byId('content-pillars'),
    status: 404,
    createRequest: ([id]) => ['PATCH', `/content-pillars/${id}`, { color: 'blue' }],
    createDeleted: createDeletedRecord('content-pillars'),
  },
  'the path of DELETE /content-pillars/{id}': {
    ...byId('content-pillars'),
    status: 404,
    createRequest: ([id]) => ['DELETE', `/content-pillars/${id}`],
    createDeleted: createDeletedRecord('content-pillars'),
  },
  'the path of PATCH /tags/{id}': {
    ...byId('tags'),
    status: 404,
    createRequest: ([id]) => ['PATCH', `/tags/${id}`, { name: 'mine' }],
  },

  'tagIds of a campaign': {
    ...byId('tags'),
    takesMany: true,
    status: 422,
    createRequest: (tagIds) => campaignWith({ tagIds }),
  },
  'groupIds of a campaign': {
    ...byId('groups'),
    takesMany: true,
    status: 422,
    createRequest: (groupIds) => campaignWith({ groupIds }),
  },
  'contentPillarId of a campaign': {
    ...byId('content-pillars'),
    status: 422,
    createRequest: ([contentPillarId]) => campaignWith({ contentPillarId }),
    createDeleted: createDeletedRecord('content-pillars'),
  },
  'contentPillarId of a campaign, for an archived pillar': {
    ...byId('content-pillars'),
    status: 422,
    createRequest: ([contentPillarId]) => campaignWith({ contentPillarId }),
    createDeleted: createArchivedPillar,
  },
  'domain of a campaign': {
    ...bySlug,
    status: 422,
    createRequest: ([domain]) => campaignWith({ domain }),
    createDeleted: createArchivedDomain,
  },
  'groups of a new question': {
    ...byId('groups'),
    takesMany: true,
    status: 422,
    createRequest: (groups) => questionWith({ groups }),
  },
  'groups of an existing question': {
    ...byId('groups'),
    takesMany: true,
    status: 422,
    createRequest: (groups, own) => ['PATCH', `/inspiration-questions/${own.ids['inspiration-questions']}`, { groups }],
  },

  'the filter domain': { ...bySlug, status: 200, createRequest: ([domain]) => ['GET', `/campaigns?domain=${domain}`] },
  'the filter tagIds': {
    ...byId('tags'),
    takesMany: true,
    status: 200,
    createRequest: (tagIds) => ['GET', `/campaigns?tagIds=${tagIds}`],
  },
  'the filter tagNames': {
    of: ({ names }) => names.tag,
    unknown: 'never tag',
    takesMany: true,
    status: 200,
    createRequest: (tagNames) => ['GET', `/campaigns?tagNames=${tagNames}`],
    createDeleted: createRenamedTag,
  },
  'the filter userId': {
    of: ({ adminId }) => adminId,
    unknown: UNKNOWN_ID,
    status: 200,
    createRequest: ([userId]) => ['GET', `/campaigns?userId=${userId}`],
  },
  'the filter groupIds': {
    ...byId('groups'),
    takesMany: true,
    status: 200,
    createRequest: (groupIds) => ['GET', `/inspiration-questions?groupIds=${groupIds}`],
  },
  'the filter ids': {
    ...byId('content-pillars'),
    takesMany: true,
    status: 200,
    createRequest: (ids) => ['GET', `/content-pillars?ids=${ids}`],
    createDeleted: createDeletedRecord('content-pillars'),
  },

  'the search of campaigns': {
    ...byText,
    status: 200,
    createRequest: ([term]) => ['GET', `/campaigns?search=${term}`],
  },
  'the search of questions': {
    ...byText,
    status: 200,
    createRequest: ([term]) => ['GET', `/inspiration-questions?search=${term}`],
  },
  'the search of pillars': {
    ...byText,
    status: 200,
    createRequest: ([term]) => ['GET', `/content-pillars?search=${term}`],
  },
  'the search of domains': { ...byText, status: 200, createRequest: ([term]) => ['GET', `/domains?search=${term}`] },
};

const allPlaces = Object.entries(places);

/** Runs a test with two separate workspaces. */
function withTwoTenants(test: (api: Api, own: Tenant, other: Tenant) => Promise<void>): Promise<void> {
  return withService(async (api) => test(api, await createTenant(api, 'own'), await createTenant(api, 'other')));
}

function send(api: Api, by: Tenant, place: Place, ...values: readonly string[]): Promise<ApiResponse> {
  const [method, path, body] = place.createRequest(values, by);
  return api.call(method, path, { key: by.key, body });
}

/** The lists, each with a search term that finds a record of every tenant. */
const lists = {
  '/campaigns': 'campaign',
  '/inspiration-questions': 'learn',
  '/content-pillars': 'pillar',
  '/domains': 'example',
};

suite('a workspace', {
  'can refer to its own records in every part of a request': () =>
    each(allPlaces, (place) =>
      withTwoTenants(async (api, own) => {
        const { status, text } = await send(api, own, place, place.of(own));
        assert.ok(status === 200 || status === 201, text);
        assert.notEqual(text, '[]');
      }),
    ),

  'gets the same response for a record of another workspace and for an unknown record': () =>
    withTwoTenants(async (api, own, other) => {
      const before = [await readAllLists(api, own.key), await readAllLists(api, other.key)];
      await each(allPlaces, async (place) => {
        const expected = await send(api, own, place, place.unknown);
        assert.equal(expected.status, place.status, expected.text);
        if (place.status === 200) assert.equal(expected.text, '[]');
        await each(textCases(place.of(other), place.of(other).toUpperCase()), async (value) => {
          assert.deepEqual(comparablePartOf(await send(api, own, place, value)), comparablePartOf(expected));
        });
      });
      assert.deepEqual([await readAllLists(api, own.key), await readAllLists(api, other.key)], before);
      const { status } = await api.call('POST', '/tags', { key: other.key, body: { name: other.names.tag } });
      assert.equal(status, 409, 'the other tag still has its name');
    }),

  'gets the same response for foreign and unknown records that are combined with a record of its own': () =>
    withTwoTenants(async (api, own, other) => {
      const before = await readAllLists(api, own.key);
      await each(
        allPlaces.filter(([, { takesMany }]) => takesMany),
        async (place) => {
          const [mine, foreign] = [place.of(own), place.of(other)];
          for (const mix of [
            (value: string) => [mine, value],
            (value: string) => [value, mine],
            (value: string) => [mine, value, mine, value],
          ]) {
            const expected = await send(api, own, place, ...mix(place.unknown));
            assert.equal(expected.status, place.status, expected.text);
            if (place.status === 200) assert.equal(expected.json.length, 1);
            assert.deepEqual(
              comparablePartOf(await send(api, own, place, ...mix(foreign))),
              comparablePartOf(expected),
            );
          }
        },
      );
      assert.deepEqual(await readAllLists(api, own.key), before);
    }),

  'gets the same response for a deleted, archived or renamed record of any workspace as for an unknown record': () =>
    withTwoTenants(async (api, own, other) => {
      await each(allPlaces, async (place) => {
        if (!place.createDeleted) return;
        const expected = await send(api, own, place, place.unknown);
        for (const tenant of [own, other]) {
          const value = await place.createDeleted(api, tenant);
          assert.deepEqual(comparablePartOf(await send(api, own, place, value)), comparablePartOf(expected));
        }
      });
    }),

  'lists and searches as if no other workspace existed': () =>
    withService(async (api) => {
      const own = await createTenant(api, 'own');
      const paths = Object.entries(lists).flatMap(([path, term]) => [path, `${path}?search=${term}`]);
      const listAll = () => Promise.all(paths.map((path) => api.call('GET', path, { key: own.key })));
      const before = await listAll();
      for (const { json } of before) assert.equal(json.length, 1);
      await createTenant(api, 'other');
      assert.deepEqual((await listAll()).map(comparablePartOf), before.map(comparablePartOf));
    }),

  'can create a domain whose slug another workspace uses but has not verified': () =>
    withService(
      async (api) => {
        const [own, other] = [await createTenant(api, 'own'), await createTenant(api, 'other')];
        const createDomain = async (by: Tenant, slug: string, archived?: boolean) => {
          const response = await api.call('POST', '/domains', { key: by.key, body: { slug, archived } });
          assert.equal(response.status, 201, response.text);
          return JSON.stringify(comparablePartOf(response)).replaceAll(slug, 'SLUG').replaceAll(response.json.id, 'ID');
        };
        await createDomain(other, 'live.example');
        await createDomain(other, 'gone.example', true);
        const expected = await createDomain(own, 'free.example');
        assert.equal(await createDomain(own, 'live.example'), expected);
        assert.equal(await createDomain(own, 'gone.example'), expected);
      },
      { now: () => Date.parse('2026-03-01T12:00:00Z') },
    ),
});
