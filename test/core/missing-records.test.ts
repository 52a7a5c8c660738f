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

/** Creates a record of each type. Returns their ids, by the names that error messages use for the types. */
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
type UseCase = (app: Application, id: string, own: Ids) => Promise<unknown>;

const SHARES = { page: 1, pageSize: 9, sortBy: 'createdAt', sortOrder: 'asc' } as const;

/** The use cases that refer to a record by its id, by the type of the record. */
const useCases: Readonly<Record<keyof Ids, Readonly<Record<string, UseCase>>>> = {
  member: {
    'members.update': ({ members }, id) => members.update(OWN, id, { name: 'Eve' }),
    'members.update, with an unknown group': ({ members }, id) => members.update(OWN, id, { groupIds: [UNKNOWN_ID] }),
    'apiKeys.create': ({ apiKeys }, memberId) => apiKeys.create(OWN, { memberId }),
    'contentPillars.create': ({ contentPillars }, authorId) =>
      contentPillars.create(OWN, { authorId, title: 'Life', color: 'red' }),
    'shares.createForMember': ({ shares }, id, { campaign }) => shares.createForMember(OWN, campaign, id),
  },
  'API key': {
    'apiKeys.get': ({ apiKeys }, id) => apiKeys.get(OWN, id),
    'apiKeys.revoke': ({ apiKeys }, id) => apiKeys.revoke(OWN, id),
  },
  campaign: {
    'campaigns.get': ({ campaigns }, id) => campaigns.get({ workspaceId: OWN }, id),
    'campaigns.getBrief': ({ campaigns }, id) => campaigns.getBrief(OWN, id),
    'campaigns.update': ({ campaigns }, id) => campaigns.update({ workspaceId: OWN }, id, { name: 'New' }),
    'campaigns.update, with an unknown tag': ({ campaigns }, id) =>
      campaigns.update({ workspaceId: OWN }, id, { tagIds: [UNKNOWN_ID] }),
    'shares.createForMember': ({ shares }, id, { member }) => shares.createForMember(OWN, id, member),
    'shares.create': async ({ shares, members }, id) =>
      shares.create({ workspaceId: OWN, member: (await collectAll(members.iterate(OWN)))[0] as Member }, id),
    'shares.list': ({ shares }, id) => shares.list(OWN, id, SHARES),
    'campaigns.recordClicks': ({ campaigns }, id) => campaigns.recordClicks(OWN, id, 1),
  },
  'content pillar': {
    'contentPillars.get': ({ contentPillars }, id) => contentPillars.get(OWN, id),
    'contentPillars.update': ({ contentPillars }, id) => contentPillars.update(OWN, id, { title: 'Life' }),
    'contentPillars.remove': ({ contentPillars }, id) => contentPillars.remove(OWN, id),
  },
  domain: {
    'domains.get': ({ domains }, id) => domains.get(OWN, id),
    'domains.update': ({ domains }, id) => domains.update(OWN, id, { archived: true }),
    'domains.verify': ({ domains }, id) => domains.verify(OWN, id),
  },
  group: {
    'groups.get': ({ groups }, id) => groups.get(OWN, id),
    'groups.update': ({ groups }, id) => groups.update(OWN, id, { name: 'Team' }),
  },
  'inspiration question': {
    'inspirationQuestions.get': ({ inspirationQuestions }, id) => inspirationQuestions.get(OWN, id),
    'inspirationQuestions.update': ({ inspirationQuestions }, id) =>
      inspirationQuestions.update(OWN, id, { isActive: false }),
    'inspirationQuestions.update, with an unknown group': ({ inspirationQuestions }, id) =>
      inspirationQuestions.update(OWN, id, { groups: [UNKNOWN_ID] }),
    'inspirationQuestions.remove': ({ inspirationQuestions }, id) => inspirationQuestions.remove(OWN, id),
  },
  tag: {
    'tags.get': ({ tags }, id) => tags.get(OWN, id),
    'tags.rename': ({ tags }, id) => tags.rename(OWN, id, 'Start'),
    'tags.remove': ({ tags }, id) => tags.remove(OWN, id),
  },
};

function listAllRecords(engine: StorageEngine): Promise<unknown> {
  const names = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];
  return Promise.all(names.flatMap((name) => [OWN, OTHER].map((id) => engine[name].listById(id, '', 99))));
}

suite('a use case that refers to a record', {
  'rejects with not_found, and changes nothing, if the record is unknown or belongs to another workspace': () =>
    each(
      Object.keys(useCases).map((type) => [type, type as keyof Ids] as const),
      (type) =>
        each(useCases[type], async (useCase) => {
          const { app, engine } = testCore();
          const own = await createRecords(app, OWN);
          const foreign = await createRecords(app, OTHER);
          const before = await listAllRecords(engine);
          const message = `No ${type} of this workspace has this id. Check the id.`;
          for (const id of [foreign[type], UNKNOWN_ID]) {
            await assert.rejects(useCase(app, id, own), { kind: 'not_found', message });
          }
          assert.deepEqual(await listAllRecords(engine), before);
        }),
    ),
});
