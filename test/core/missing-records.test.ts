import assert from 'node:assert/strict';
import { recordSchemas, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { Member } from '../../core/access/member.ts';
import type { Application } from '../../core/application.ts';
import { collectAll } from '../support/collect-all.ts';
import { OTHER, OWN, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';
import type { UseCaseName } from '../support/use-cases.ts';

/** Creates a record of each type. Returns their IDs, by the names that error messages use for the types. */
async function createRecords({ apiKeys, campaigns, ...app }: Application, workspaceId: string) {
  const { id: authorId } = await app.members.create(workspaceId, { name: 'Ada', email: 'ada@example.com' });
  return {
    member: authorId,
    'API key': (await apiKeys.create(workspaceId, {})).apiKey.id,
    campaign: (await campaigns.create({ workspaceId }, { ...createCampaignFields(), status: 'published' })).id,
    'content pillar': (await app.contentPillars.create(workspaceId, { authorId, title: 'Work', color: 'red' })).id,
    domain: (await app.domains.createOrArchive(workspaceId, { slug: 'a.example' })).domain.id,
    group: (await app.groups.create(workspaceId, { name: 'Sales' })).id,
    'inspiration question': (await app.inspirationQuestions.create(workspaceId, { question: 'What did you do?' })).id,
    tag: (await app.tags.create(workspaceId, 'Launch')).id,
  };
}

type Ids = Awaited<ReturnType<typeof createRecords>>;

/** The use cases that take no ID of a record, except in fields and filters such as `tagIds`, where no unknown ID causes `not_found`. */
type UseCaseWithoutId =
  | 'runOnce'
  | `${string}.iterate`
  | `${'campaigns' | 'contentPillars' | 'domains' | 'groups' | 'inspirationQuestions' | 'tags'}.list`
  | `${'campaigns' | 'groups' | 'inspirationQuestions' | 'tags'}.create`
  | `apiKeys.${'authenticate' | 'isFirstLookup' | 'flush'}`
  | 'domains.createOrArchive'
  | `links.${string}`
  | 'members.create'
  | `workspaces.${'create' | 'get'}`;

type UseCaseWithId = Exclude<UseCaseName, UseCaseWithoutId>;

/** Calls of a use case with the ID of a record, by the type of the record. */
type Calls = { readonly [T in keyof Ids]?: (app: Application, id: string, own: Ids) => Promise<unknown> };

const SHARES = { page: 1, pageSize: 9, sortBy: 'createdAt', sortOrder: 'asc' } as const;

/**
 * Calls of each use case that takes the ID of a record, and variants of such calls. The compiler asks for each new use case here or in
 * `UseCaseWithoutId`.
 */
const useCases: Readonly<Record<UseCaseWithId | `${UseCaseWithId}, ${string}`, Calls>> = {
  'apiKeys.create': { member: ({ apiKeys }, memberId) => apiKeys.create(OWN, { memberId }) },
  'apiKeys.get': { 'API key': ({ apiKeys }, id) => apiKeys.get(OWN, id) },
  'apiKeys.revoke': { 'API key': ({ apiKeys }, id) => apiKeys.revoke(OWN, id) },
  'campaigns.get': { campaign: ({ campaigns }, id) => campaigns.get({ workspaceId: OWN }, id) },
  'campaigns.getBrief': { campaign: ({ campaigns }, id) => campaigns.getBrief(OWN, id) },
  'campaigns.recordClicks': { campaign: ({ campaigns }, id) => campaigns.recordClicks(OWN, id, 1) },
  'campaigns.update': {
    campaign: ({ campaigns }, id) => campaigns.update({ workspaceId: OWN }, id, { name: 'New' }),
  },
  'campaigns.update, with an unknown tag': {
    campaign: ({ campaigns }, id) => campaigns.update({ workspaceId: OWN }, id, { tagIds: [UNKNOWN_ID] }),
  },
  'contentPillars.create': {
    member: ({ contentPillars }, authorId) => contentPillars.create(OWN, { authorId, title: 'Life', color: 'red' }),
  },
  'contentPillars.get': { 'content pillar': ({ contentPillars }, id) => contentPillars.get(OWN, id) },
  'contentPillars.remove': { 'content pillar': ({ contentPillars }, id) => contentPillars.remove(OWN, id) },
  'contentPillars.update': {
    'content pillar': ({ contentPillars }, id) => contentPillars.update(OWN, id, { title: 'Life' }),
  },
  'domains.get': { domain: ({ domains }, id) => domains.get(OWN, id) },
  'domains.update': { domain: ({ domains }, id) => domains.update(OWN, id, { archived: true }) },
  'domains.verify': { domain: ({ domains }, id) => domains.verify(OWN, id) },
  'groups.get': { group: ({ groups }, id) => groups.get(OWN, id) },
  'groups.update': { group: ({ groups }, id) => groups.update(OWN, id, { name: 'Team' }) },
  'inspirationQuestions.get': {
    'inspiration question': ({ inspirationQuestions }, id) => inspirationQuestions.get(OWN, id),
  },
  'inspirationQuestions.remove': {
    'inspiration question': ({ inspirationQuestions }, id) => inspirationQuestions.remove(OWN, id),
  },
  'inspirationQuestions.update': {
    'inspiration question': ({ inspirationQuestions }, id) => inspirationQuestions.update(OWN, id, { isActive: false }),
  },
  'inspirationQuestions.update, with an unknown group': {
    'inspiration question': ({ inspirationQuestions }, id) =>
      inspirationQuestions.update(OWN, id, { groups: [UNKNOWN_ID] }),
  },
  'members.update': { member: ({ members }, id) => members.update(OWN, id, { name: 'Eve' }) },
  'members.update, with an unknown group': {
    member: ({ members }, id) => members.update(OWN, id, { groupIds: [UNKNOWN_ID] }),
  },
  'shares.create': {
    campaign: async ({ shares, members }, id) =>
      shares.create({ workspaceId: OWN, member: (await collectAll(members.iterate(OWN)))[0] as Member }, id),
  },
  'shares.createForMember': {
    campaign: ({ shares }, id, { member }) => shares.createForMember(OWN, id, member),
    member: ({ shares }, id, { campaign }) => shares.createForMember(OWN, campaign, id),
  },
  'shares.list': { campaign: ({ shares }, id) => shares.list(OWN, id, SHARES) },
  'tags.get': { tag: ({ tags }, id) => tags.get(OWN, id) },
  'tags.remove': { tag: ({ tags }, id) => tags.remove(OWN, id) },
  'tags.rename': { tag: ({ tags }, id) => tags.rename(OWN, id, 'Start') },
};

function listAllRecords(engine: StorageEngine): Promise<unknown> {
  const names = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];
  return Promise.all(names.flatMap((name) => [OWN, OTHER].map((id) => engine[name].listById(id, '', 99))));
}

suite('a use case that refers to a record', {
  'rejects with not_found, and changes nothing, if the record is unknown or belongs to another workspace': () =>
    each(useCases, (calls: Calls) =>
      each(calls, async (call, type) => {
        const { app, engine } = testCore();
        const own = await createRecords(app, OWN);
        const foreign = await createRecords(app, OTHER);
        const before = await listAllRecords(engine);
        const message = `No ${type} of this workspace has this ID. Check the ID.`;
        for (const id of [foreign[type as keyof Ids], UNKNOWN_ID]) {
          await assert.rejects(call(app, id, own), { kind: 'not_found', message });
        }
        assert.deepEqual(await listAllRecords(engine), before);
      }),
    ),
});
