import assert from 'node:assert/strict';
import { each, texts } from '../support/each.ts';
import { essence } from '../support/expected-responses.ts';
import { type Answer, type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createTenant, everythingOf, NEVER, type Tenant } from '../support/tenants.ts';

/** A place of a request where a record of the workspace is named. */
interface Place {
  /** What names a tenant's own record, and what names none at all. */
  readonly of: (tenant: Tenant) => string;
  readonly never: string;
  /** Whether several records can be named. */
  readonly takesMany?: boolean;
  /** What is answered where no record is named. */
  readonly status: 200 | 404 | 422;
  readonly ask: (values: readonly string[], own: Tenant) => readonly [method: string, path: string, body?: object];
  /** Names a record of the tenant that was there once. */
  readonly gone?: (api: Api, tenant: Tenant) => Promise<string>;
}

const byId = (kind: keyof Tenant['ids']) => ({ of: ({ ids }: Tenant) => ids[kind], never: NEVER });
const bySlug = { of: ({ names }: Tenant) => names.domain, never: 'never.example' };
const byText = { of: ({ name }: Tenant) => name, never: 'never' };

const deleted = (kind: 'inspiration-questions' | 'content-pillars') => async (api: Api, tenant: Tenant) => {
  const id = await made[kind](api, tenant);
  const { status } = await api.call('DELETE', `/${kind}/${id}`, { key: tenant.key });
  assert.equal(status, 200);
  return id;
};

const made = {
  'inspiration-questions': async ({ app }: Api, { workspaceId }: Tenant) =>
    (await app.inspirationQuestions.create(workspaceId, { question: 'What will be forgotten?' })).id,
  'content-pillars': async ({ app }: Api, { workspaceId, adminId }: Tenant) =>
    (await app.contentPillars.create(workspaceId, { authorId: adminId, title: 'Gone', color: 'red' })).id,
};

const archivedPillar = async (api: Api, tenant: Tenant) => {
  const id = await made['content-pillars'](api, tenant);
  await api.app.contentPillars.update(tenant.workspaceId, id, { status: 'archived' });
  return id;
};

const archivedDomain = async ({ app }: Api, { workspaceId, name }: Tenant) => {
  const request = { slug: `gone.${name}.example`, archived: true };
  return (await app.domains.createOrArchive(workspaceId, request)).domain.slug;
};

const renamedTag = async ({ app }: Api, { workspaceId, name }: Tenant) => {
  const tag = await app.tags.create(workspaceId, `${name} before`);
  await app.tags.rename(workspaceId, tag.id, `${name} after`);
  return `${name} before`;
};

const campaignWith = (fields: object) => ['POST', '/campaigns', { ...campaignBody(), ...fields }] as const;
const questionWith = (fields: object) =>
  ['POST', '/inspiration-questions', { question: 'What did you learn?', ...fields }] as const;

const places: Readonly<Record<string, Place>> = {
  'the path of GET /campaigns/{id}': {
    ...byId('campaigns'),
    status: 404,
    ask: ([id]) => ['GET', `/campaigns/${id}`],
  },
  'the path of PATCH /inspiration-questions/{id}': {
    ...byId('inspiration-questions'),
    status: 404,
    ask: ([id]) => ['PATCH', `/inspiration-questions/${id}`, { isActive: false }],
    gone: deleted('inspiration-questions'),
  },
  'the path of DELETE /inspiration-questions/{id}': {
    ...byId('inspiration-questions'),
    status: 404,
    ask: ([id]) => ['DELETE', `/inspiration-questions/${id}`],
    gone: deleted('inspiration-questions'),
  },
  'the path of PATCH /content-pillars/{id}': {
    ...byId('content-pillars'),
    status: 404,
    ask: ([id]) => ['PATCH', `/content-pillars/${id}`, { color: 'blue' }],
    gone: deleted('content-pillars'),
  },
  'the path of DELETE /content-pillars/{id}': {
    ...byId('content-pillars'),
    status: 404,
    ask: ([id]) => ['DELETE', `/content-pillars/${id}`],
    gone: deleted('content-pillars'),
  },
  'the path of PATCH /tags/{id}': {
    ...byId('tags'),
    status: 404,
    ask: ([id]) => ['PATCH', `/tags/${id}`, { name: 'mine' }],
  },

  'tagIds of a campaign': {
    ...byId('tags'),
    takesMany: true,
    status: 422,
    ask: (tagIds) => campaignWith({ tagIds }),
  },
  'groupIds of a campaign': {
    ...byId('groups'),
    takesMany: true,
    status: 422,
    ask: (groupIds) => campaignWith({ groupIds }),
  },
  'contentPillarId of a campaign': {
    ...byId('content-pillars'),
    status: 422,
    ask: ([contentPillarId]) => campaignWith({ contentPillarId }),
    gone: deleted('content-pillars'),
  },
  'contentPillarId of a campaign, archived': {
    ...byId('content-pillars'),
    status: 422,
    ask: ([contentPillarId]) => campaignWith({ contentPillarId }),
    gone: archivedPillar,
  },
  'domain of a campaign': {
    ...bySlug,
    status: 422,
    ask: ([domain]) => campaignWith({ domain }),
    gone: archivedDomain,
  },
  'groups of a new question': {
    ...byId('groups'),
    takesMany: true,
    status: 422,
    ask: (groups) => questionWith({ groups }),
  },
  'groups of a question': {
    ...byId('groups'),
    takesMany: true,
    status: 422,
    ask: (groups, own) => ['PATCH', `/inspiration-questions/${own.ids['inspiration-questions']}`, { groups }],
  },

  'the filter domain': { ...bySlug, status: 200, ask: ([domain]) => ['GET', `/campaigns?domain=${domain}`] },
  'the filter tagIds': {
    ...byId('tags'),
    takesMany: true,
    status: 200,
    ask: (tagIds) => ['GET', `/campaigns?tagIds=${tagIds}`],
  },
  'the filter tagNames': {
    of: ({ names }) => names.tag,
    never: 'never tag',
    takesMany: true,
    status: 200,
    ask: (tagNames) => ['GET', `/campaigns?tagNames=${tagNames}`],
    gone: renamedTag,
  },
  'the filter userId': {
    of: ({ adminId }) => adminId,
    never: NEVER,
    status: 200,
    ask: ([userId]) => ['GET', `/campaigns?userId=${userId}`],
  },
  'the filter groupIds': {
    ...byId('groups'),
    takesMany: true,
    status: 200,
    ask: (groupIds) => ['GET', `/inspiration-questions?groupIds=${groupIds}`],
  },
  'the filter ids': {
    ...byId('content-pillars'),
    takesMany: true,
    status: 200,
    ask: (ids) => ['GET', `/content-pillars?ids=${ids}`],
    gone: deleted('content-pillars'),
  },

  'the search of campaigns': { ...byText, status: 200, ask: ([term]) => ['GET', `/campaigns?search=${term}`] },
  'the search of questions': {
    ...byText,
    status: 200,
    ask: ([term]) => ['GET', `/inspiration-questions?search=${term}`],
  },
  'the search of pillars': { ...byText, status: 200, ask: ([term]) => ['GET', `/content-pillars?search=${term}`] },
  'the search of domains': { ...byText, status: 200, ask: ([term]) => ['GET', `/domains?search=${term}`] },
};

const everyPlace = Object.entries(places);

/** Two workspaces that know nothing of each other. */
function servingTwo(test: (api: Api, own: Tenant, other: Tenant) => Promise<void>): Promise<void> {
  return withService(async (api) => test(api, await createTenant(api, 'own'), await createTenant(api, 'other')));
}

function ask(api: Api, by: Tenant, place: Place, ...values: readonly string[]): Promise<Answer> {
  const [method, path, body] = place.ask(values, by);
  return api.call(method, path, { key: by.key, body });
}

/** Lists of records, each with a term that finds a record of every tenant. */
const lists = {
  '/campaigns': 'campaign',
  '/inspiration-questions': 'learn',
  '/content-pillars': 'pillar',
  '/domains': 'example',
};

suite('a workspace', {
  'finds its own records in every place': () =>
    each(everyPlace, (place) =>
      servingTwo(async (api, own) => {
        const { status, text } = await ask(api, own, place, place.of(own));
        assert.ok(status === 200 || status === 201, text);
        assert.notEqual(text, '[]');
      }),
    ),

  'gets for a record of another workspace what it gets for one that never was': () =>
    servingTwo(async (api, own, other) => {
      const before = [await everythingOf(api, own.key), await everythingOf(api, other.key)];
      await each(everyPlace, async (place) => {
        const expected = await ask(api, own, place, place.never);
        assert.equal(expected.status, place.status, expected.text);
        if (place.status === 200) assert.equal(expected.text, '[]');
        await each(texts(place.of(other), place.of(other).toUpperCase()), async (value) => {
          assert.deepEqual(essence(await ask(api, own, place, value)), essence(expected));
        });
      });
      assert.deepEqual([await everythingOf(api, own.key), await everythingOf(api, other.key)], before);
      const { status } = await api.call('POST', '/tags', { key: other.key, body: { name: other.names.tag } });
      assert.equal(status, 409, 'the other tag has its name still');
    }),

  'gets the same for one beside a record of its own': () =>
    servingTwo(async (api, own, other) => {
      const before = await everythingOf(api, own.key);
      await each(
        everyPlace.filter(([, { takesMany }]) => takesMany),
        async (place) => {
          const [mine, foreign] = [place.of(own), place.of(other)];
          for (const mix of [
            (value: string) => [mine, value],
            (value: string) => [value, mine],
            (value: string) => [mine, value, mine, value],
          ]) {
            const expected = await ask(api, own, place, ...mix(place.never));
            assert.equal(expected.status, place.status, expected.text);
            if (place.status === 200) assert.equal(expected.json.length, 1);
            assert.deepEqual(essence(await ask(api, own, place, ...mix(foreign))), essence(expected));
          }
        },
      );
      assert.deepEqual(await everythingOf(api, own.key), before);
    }),

  'gets the same for one that is gone, its own or another’s': () =>
    servingTwo(async (api, own, other) => {
      await each(everyPlace, async (place) => {
        if (!place.gone) return;
        const expected = await ask(api, own, place, place.never);
        for (const tenant of [own, other]) {
          const gone = await place.gone(api, tenant);
          assert.deepEqual(essence(await ask(api, own, place, gone)), essence(expected));
        }
      });
    }),

  'lists and searches as if no other were there': () =>
    withService(async (api) => {
      const own = await createTenant(api, 'own');
      const paths = Object.entries(lists).flatMap(([path, term]) => [path, `${path}?search=${term}`]);
      const answers = () => Promise.all(paths.map((path) => api.call('GET', path, { key: own.key })));
      const before = await answers();
      for (const { json } of before) assert.equal(json.length, 1);
      await createTenant(api, 'other');
      assert.deepEqual((await answers()).map(essence), before.map(essence));
    }),

  'takes a slug that another has claimed and not verified, as it takes any': () =>
    withService(
      async (api) => {
        const [own, other] = [await createTenant(api, 'own'), await createTenant(api, 'other')];
        const claim = async (by: Tenant, slug: string, archived?: boolean) => {
          const answer = await api.call('POST', '/domains', { key: by.key, body: { slug, archived } });
          assert.equal(answer.status, 201, answer.text);
          return JSON.stringify(essence(answer)).replaceAll(slug, 'SLUG').replaceAll(answer.json.id, 'ID');
        };
        await claim(other, 'live.example');
        await claim(other, 'gone.example', true);
        const expected = await claim(own, 'free.example');
        assert.equal(await claim(own, 'live.example'), expected);
        assert.equal(await claim(own, 'gone.example'), expected);
      },
      { now: () => Date.parse('2026-03-01T12:00:00Z') },
    ),
});
