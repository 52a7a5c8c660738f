import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type Document, MongoClient } from 'mongodb';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { createNodeSystem } from '../../bootstrap/system.ts';
import type { Caller } from '../../core/access/caller.ts';
import type { Member } from '../../core/access/member.ts';
import { Application } from '../../core/application.ts';
import { CAMPAIGN_SORTS, CAMPAIGN_WINDOWS, type Campaign } from '../../core/campaign/campaign.ts';
import type { CampaignQuery } from '../../core/campaign/campaign-service.ts';
import type { ContentPillarQuery } from '../../core/content-pillar/content-pillar-service.ts';
import { USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import type { InspirationQuestionQuery } from '../../core/inspiration-question/inspiration-question-service.ts';
import { COLORS, type Color } from '../../core/shared/color.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { globalStoreNames, recordSchemas, type Storage } from '../../core/storage.ts';
import { assertConflict } from '../contract/assert-conflict.ts';
import { createCampaign, createDomain, createPillar, createQuestion, createTag, newId } from '../contract/samples.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { mongod } from '../support/mongod.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

const PAGE = { page: 1, pageSize: 25 };
const RECORDS = 400;
/** What a page may look at: itself, the record behind it, and as many archived ones as there are between live ones. */
const LOOKS = 3 * PAGE.pageSize;

/** A workspace with many records, among others; ids and names of some of them. */
interface Fixture {
  readonly app: Application;
  readonly storage: Storage;
  readonly caller: Caller;
  readonly secret: string;
  readonly keyId: string;
  readonly memberId: string;
  readonly campaignId: string;
  readonly domainId: string;
  readonly groupId: string;
  readonly pillarId: string;
  readonly questionId: string;
  readonly tagId: string;
  readonly tagName: string;
}

type Ask = (world: Fixture) => Promise<unknown>;

/** What is done by a use case, so that its commands are seen: of every one, or this does not compile. */
type Services = {
  [S in keyof Application as Application[S] extends (...args: never[]) => unknown ? never : S]: {
    [M in keyof Application[S]]: Ask;
  };
};

const CAMPAIGNS: CampaignQuery = { ...PAGE, includeArchived: false, sortBy: 'createdAt' };
const QUESTIONS: InspirationQuestionQuery = { ...PAGE, includeArchived: false, availableToMe: false };
const PILLARS: ContentPillarQuery = { ...PAGE, sortBy: 'createdAt', sortOrder: 'desc' };
const DOMAINS = { ...PAGE, includeArchived: false };

const campaigns =
  (query: (world: Fixture) => Partial<CampaignQuery>): Ask =>
  (world) =>
    world.app.campaigns.list(world.caller, { ...CAMPAIGNS, ...query(world) });
const questions =
  (query: (world: Fixture) => Partial<InspirationQuestionQuery>): Ask =>
  (world) =>
    world.app.inspirationQuestions.list(world.caller, { ...QUESTIONS, ...query(world) });
const pillars =
  (query: (world: Fixture) => Partial<ContentPillarQuery>): Ask =>
  ({ app, caller, ...world }) =>
    app.contentPillars.list(caller.workspaceId, { ...PILLARS, ...query({ app, caller, ...world }) });
const domains =
  (query: object): Ask =>
  ({ app, caller }) =>
    app.domains.list(caller.workspaceId, { ...DOMAINS, ...query });

const archivedOrNot = [false, true];
const orders = ['asc', 'desc'] as const;

/** What a storage must find in order, without looking at much more than it returns. */
const plain: Readonly<Record<string, Ask>> = Object.fromEntries([
  ...archivedOrNot.flatMap((includeArchived): [string, Ask][] => [
    ...CAMPAIGN_SORTS.map((sortBy): [string, Ask] => [
      `campaigns by ${sortBy}, includeArchived=${includeArchived}`,
      campaigns(() => ({ sortBy, includeArchived })),
    ]),
    ...Object.entries({
      domain: () => ({ domain: 'go.example.com' }),
      tagIds: ({ tagId }: Fixture) => ({ tagIds: [tagId] }),
      tagNames: ({ tagName }: Fixture) => ({ tagNames: [tagName] }),
      userId: ({ memberId }: Fixture) => ({ userId: memberId }),
    }).map(([name, filter]): [string, Ask] => [
      `campaigns of one ${name}, includeArchived=${includeArchived}`,
      campaigns((world) => ({ ...filter(world), includeArchived })),
    ]),
    ...Object.entries({
      all: () => ({}),
      active: () => ({ isActive: true }),
      inactive: () => ({ isActive: false }),
      groupIds: ({ groupId }: Fixture) => ({ groupIds: [groupId] }),
      ...Object.fromEntries(USER_TYPES.map((userType) => [`userType ${userType}`, () => ({ userType })])),
    }).map(([name, filter]): [string, Ask] => [
      `questions: ${name}, includeArchived=${includeArchived}`,
      questions((world) => ({ ...filter(world), includeArchived })),
    ]),
    [`domains, includeArchived=${includeArchived}`, domains({ includeArchived })],
  ]),
  ...orders.flatMap((sortOrder) =>
    (['title', 'createdAt'] as const).map((sortBy): [string, Ask] => [
      `pillars by ${sortBy} ${sortOrder}`,
      pillars(() => ({ sortBy, sortOrder })),
    ]),
  ),
  ['one pillar by its id', pillars(({ pillarId }) => ({ ids: [pillarId], sortBy: 'title' }))],
  ['a campaign', ({ app, caller, campaignId }) => app.campaigns.get(caller, campaignId)],
  [
    'how many tags have a colour',
    ({ storage, caller }) => storage.tags.count(caller.workspaceId, [{ field: 'color', is: 'brown' }]),
  ],
  [
    'how many members a group has',
    ({ storage, caller, groupId }) => storage.members.count(caller.workspaceId, [{ field: 'groupIds', in: [groupId] }]),
  ],
  ['a key', ({ app, secret }) => app.apiKeys.authenticate(secret)],
]);

/** What may cost more. */
const other: Readonly<Record<string, Ask>> = {
  'names that are taken': async ({ app, caller: { workspaceId }, tagName }) => {
    await assertConflict(app.tags.create(workspaceId, tagName));
    await assertConflict(app.groups.create(workspaceId, { name: 'Group 0' }));
  },
  'a batch of names some of which are taken': async ({ storage, caller: { workspaceId } }) => {
    const refusals = await storage.tags.addMany(['a', 'A', 'tag 1'].map((name) => createTag(workspaceId, name)));
    assert.equal(refusals.size, 2);
  },
  'campaigns of no domain': campaigns(() => ({ domain: null })),
  'a search of campaigns': campaigns(() => ({ search: 'tents', includeArchived: true })),
  'a search of questions': questions(() => ({ search: 'proud', includeArchived: true })),
  'a search of pillars': pillars(() => ({ search: 'outdoors' })),
  'a search of domains': domains({ search: 'example', includeArchived: true }),
  'questions for me': questions(() => ({ availableToMe: true })),
  'questions for all': ({ app, caller: { workspaceId } }) =>
    app.inspirationQuestions.list({ workspaceId }, { ...QUESTIONS, availableToMe: true }),
  'some pillars': pillars(({ pillarId }) => ({ ids: [pillarId, randomUUID()] })),
  'many filters': campaigns(({ tagId, tagName, memberId }) => ({
    tagIds: [tagId, randomUUID()],
    tagNames: [tagName, 'none'],
    userId: memberId,
    domain: 'go.example.com',
    search: 'x',
    page: 2,
    limit: 60,
  })),
  ...Object.fromEntries(
    CAMPAIGN_WINDOWS.flatMap((filter) =>
      CAMPAIGN_SORTS.map((sortBy) => [`${filter} campaigns by ${sortBy}`, campaigns(() => ({ filter, sortBy }))]),
    ),
  ),
};

const newName = () => `new ${randomUUID()}`;
const newSlug = () => `${randomUUID()}.example`;
const newCampaign = ({ tagId, groupId, pillarId }: Fixture) => ({
  ...campaignBody(newName()),
  domain: 'go.example.com',
  tagIds: [tagId],
  groupIds: [groupId],
  contentPillarId: pillarId,
});
const newQuestion = ({ groupId }: Fixture) => ({ question: newName(), groups: [groupId] });

const services: Services = {
  apiKeys: {
    create: ({ app, caller, memberId }) => app.apiKeys.create(caller.workspaceId, { memberId }),
    revoke: async ({ app, caller }) => {
      const { apiKey } = await app.apiKeys.create(caller.workspaceId, {});
      await app.apiKeys.revoke(caller.workspaceId, apiKey.id);
    },
    iterate: ({ app, caller }) => collectAll(app.apiKeys.iterate(caller.workspaceId)),
    authenticate: ({ app, secret }) => app.apiKeys.authenticate(secret),
    flush: async ({ app, secret }) => {
      await app.apiKeys.authenticate(secret);
      await app.apiKeys.flush();
    },
    needsLookup: async ({ app, secret }) => app.apiKeys.needsLookup(secret),
  },
  campaigns: {
    create: (world) => world.app.campaigns.create(world.caller, newCampaign(world)),
    checkMany: (world) => world.app.campaigns.checkMany(world.caller, [newCampaign(world)]),
    createMany: (world) => world.app.campaigns.createMany(world.caller, [newCampaign(world), newCampaign(world)]),
    get: ({ app, caller, campaignId }) => app.campaigns.get(caller, campaignId),
    list: ({ app, caller }) => app.campaigns.list(caller, CAMPAIGNS),
    iterate: ({ app, caller }) => collectAll(app.campaigns.iterate(caller.workspaceId)),
    setStatus: async (world) => {
      const { id } = await world.app.campaigns.create(world.caller, newCampaign(world));
      await world.app.campaigns.setStatus(world.caller.workspaceId, id, 'archived');
    },
    recordShare: ({ app, caller, campaignId, memberId }) =>
      app.campaigns.recordShare(caller.workspaceId, campaignId, memberId),
    recordClicks: ({ app, caller, campaignId }) => app.campaigns.recordClicks(caller.workspaceId, campaignId, 3),
  },
  contentPillars: {
    create: ({ app, caller, memberId }) =>
      app.contentPillars.create(caller.workspaceId, { authorId: memberId, title: newName(), color: 'red' }),
    list: ({ app, caller }) => app.contentPillars.list(caller.workspaceId, PILLARS),
    iterate: ({ app, caller }) => collectAll(app.contentPillars.iterate(caller.workspaceId)),
    update: ({ app, caller, pillarId }) =>
      app.contentPillars.update(caller.workspaceId, pillarId, { description: newName() }),
    remove: async ({ app, caller, memberId }) => {
      const fields = { authorId: memberId, title: newName(), color: 'red' } as const;
      await app.contentPillars.remove(
        caller.workspaceId,
        (await app.contentPillars.create(caller.workspaceId, fields)).id,
      );
    },
  },
  domains: {
    createOrArchive: async ({ app, caller }) => {
      const slug = newSlug();
      for (const archived of [undefined, true, false]) {
        await app.domains.createOrArchive(caller.workspaceId, { slug, archived });
      }
    },
    list: ({ app, caller }) => app.domains.list(caller.workspaceId, DOMAINS),
    iterate: ({ app, caller }) => collectAll(app.domains.iterate(caller.workspaceId)),
    verify: async ({ app, caller }) => {
      const { domain } = await app.domains.createOrArchive(caller.workspaceId, { slug: newSlug() });
      await app.domains.verify(caller.workspaceId, domain.id);
      await app.domains.createOrArchive(caller.workspaceId, { slug: domain.slug, archived: true });
    },
  },
  groups: {
    create: ({ app, caller }) => app.groups.create(caller.workspaceId, { name: newName() }),
    checkMany: ({ app, caller }) => app.groups.checkMany(caller.workspaceId, [{ name: newName() }, { name: 'two' }]),
    createMany: ({ app, caller }) =>
      app.groups.createMany(caller.workspaceId, [{ name: newName() }, { name: newName() }]),
    iterate: ({ app, caller }) => collectAll(app.groups.iterate(caller.workspaceId)),
  },
  inspirationQuestions: {
    create: (world) => world.app.inspirationQuestions.create(world.caller.workspaceId, newQuestion(world)),
    checkMany: (world) => world.app.inspirationQuestions.checkMany(world.caller.workspaceId, [newQuestion(world)]),
    createMany: (world) => world.app.inspirationQuestions.createMany(world.caller.workspaceId, [newQuestion(world)]),
    list: ({ app, caller }) => app.inspirationQuestions.list(caller, QUESTIONS),
    update: ({ app, caller, questionId, groupId }) =>
      app.inspirationQuestions.update(caller.workspaceId, questionId, { description: newName(), groups: [groupId] }),
    remove: async (world) => {
      const { app, caller } = world;
      const { id } = await app.inspirationQuestions.create(caller.workspaceId, newQuestion(world));
      await app.inspirationQuestions.remove(caller.workspaceId, id);
    },
  },
  members: {
    create: ({ app, caller, groupId }) =>
      app.members.create(caller.workspaceId, { name: 'Kim', email: 'kim@example.com', groupIds: [groupId] }),
    update: ({ app, caller, memberId, groupId }) =>
      app.members.update(caller.workspaceId, memberId, { name: newName(), groupIds: [groupId] }),
    iterate: ({ app, caller }) => collectAll(app.members.iterate(caller.workspaceId)),
  },
  tags: {
    create: ({ app, caller }) => app.tags.create(caller.workspaceId, newName()),
    checkMany: ({ app, caller }) => app.tags.checkMany(caller.workspaceId, [newName(), 'two']),
    createMany: ({ app, caller }) => app.tags.createMany(caller.workspaceId, [newName(), newName()]),
    rename: async ({ app, caller }) => {
      const { id } = await app.tags.create(caller.workspaceId, newName());
      await app.tags.rename(caller.workspaceId, id, newName());
    },
    iterate: ({ app, caller }) => collectAll(app.tags.iterate(caller.workspaceId)),
  },
  workspaces: {
    create: ({ app }) => app.workspaces.create('Contoso'),
    get: ({ app, caller }) => app.workspaces.get(caller.workspaceId),
    iterate: ({ app }) => collectAll(app.workspaces.iterate()),
  },
};

const useCases: Readonly<Record<string, Ask>> = {
  ...Object.fromEntries(
    Object.entries(services).flatMap(([service, asks]) =>
      Object.entries(asks as Record<string, Ask>).map(([name, ask]) => [`${service}.${name}`, ask]),
    ),
  ),
  ready: ({ app }) => app.checkReady(),
  once: async ({ app, caller }) => {
    const { workspaceId, keyId } = caller;
    const request = { workspaceId, keyId, operationId: 'createTag', idempotencyKey: newName(), fingerprint: 'f' };
    const work = async (staged: Application) => {
      await staged.tags.create(workspaceId, newName());
      return { status: 201, body: '{}' };
    };
    await app.runOnce(request, work);
    await app.runOnce(request, work);
    const refuse = () => Promise.reject(new CoreError('conflict', 'refused'));
    await app.runOnce({ ...request, idempotencyKey: newName() }, refuse).catch(() => 'as it should be');
  },
};

/** Everything that the database was told and did, as its profiler has it, of its collections. */
class Profile {
  private seen = 0;

  constructor(readonly client: MongoClient) {}

  async start(): Promise<void> {
    await this.client.db().createCollection('system.profile', { capped: true, size: 256 * 2 ** 20 });
    await this.client.db().setProfilingLevel('all');
  }

  /** What was done since it was asked last. */
  async next(): Promise<Document[]> {
    const all = this.client.db().collection('system.profile').find().sort({ $natural: 1 }).skip(this.seen);
    const entries = await all.toArray();
    this.seen += entries.length;
    return entries.filter(({ ns }) => !['$cmd', 'system.profile'].includes(collectionOf(ns)));
  }
}

function collectionOf(namespace: string): string {
  return namespace.slice(namespace.indexOf('.') + 1);
}

/** The parts of a command that say what it is about. */
function subjectsOf({ op, command, originatingCommand }: Document): Document[] {
  switch (op === 'command' ? Object.keys(command)[0] : op) {
    case 'query':
      return [command.filter];
    case 'getmore':
      return [originatingCommand.filter];
    case 'insert':
      return command.documents ?? [];
    case 'update':
      return isOfNothing(command.u) ? [command.q] : [command.q, command.u];
    case 'remove':
      return [command.q];
    case 'aggregate':
      return [command.pipeline[0].$match];
    default:
      return [{}];
  }
}

/** Whether an update changes nothing, and so only waits for the majority. */
const isOfNothing = (update: Document): boolean => Object.keys(update.$set ?? { other: 1 }).length === 0;

const isGiven = (value: unknown): boolean => typeof value === 'string' || Array.isArray((value as Document)?.$in);

/**
 * Whether a sharded cluster knows where a command belongs: it names the workspace, and where it changes a record that
 * too; of a registry, it names the id. Only the list of a registry, which is the operator's, goes everywhere.
 */
function isTargeted(entry: Document): boolean {
  const isOfRegistry = (globalStoreNames as readonly string[]).includes(collectionOf(entry.ns));
  if (isOfRegistry && entry.op === 'query' && typeof entry.command.filter._id?.$gt === 'string') return true;
  const isChange = entry.op === 'update' || entry.op === 'remove';
  const needed = isOfRegistry ? ['_id'] : ['workspaceId', ...(isChange ? ['_id'] : [])];
  return subjectsOf(entry).every((subject) => needed.every((field) => isGiven(subject[field])));
}

function stagesOf(plan: Document | undefined): string[] {
  if (!plan) return [];
  const inner = [plan.inputStage, ...(plan.inputStages ?? [])].filter(Boolean);
  return [plan.stage, ...inner.flatMap(stagesOf)];
}

async function inProfiledWorld(
  test: (world: Fixture, profile: Profile, client: MongoClient) => Promise<void>,
): Promise<void> {
  const { uri, stop } = await mongod();
  const { storage, connection } = mongodbStorage(uri, () => undefined);
  const client = new MongoClient(uri);
  try {
    const profile = new Profile(client);
    const app = new Application(storage, createNodeSystem());
    await createFixture(app, storage, 'Contoso');
    const world = await createFixture(app, storage, 'Northwind');
    await profile.start();
    await test(world, profile, client);
  } finally {
    await client.close();
    await connection.close();
    await stop();
  }
}

/** Makes a workspace in which every filter finds some, and a third is archived. */
async function createFixture(app: Application, storage: Storage, name: string): Promise<Fixture> {
  const { id: workspaceId } = await app.workspaces.create(name);
  const tags = await made(20, (i) => app.tags.create(workspaceId, `tag ${i}`));
  const groups = await made(10, (i) => app.groups.create(workspaceId, { name: `group ${i}` }));
  const members = await made(20, (i) =>
    app.members.create(workspaceId, { name, email: `${i}@example.com`, groupIds: [(groups[i % 10] as Of).id] }),
  );
  const { apiKey, secret } = await app.apiKeys.create(workspaceId, { memberId: (members[0] as Of).id });
  const time = (i: number) => new Date(Date.UTC(2026, 0, 1, i)).toISOString();
  const all = <T>(make: (i: number) => T) => Array.from({ length: RECORDS }, (_, i) => make(i));
  const campaigns = all((i): Campaign => {
    const archived = i % 3 === 1;
    return createCampaign(workspaceId, {
      archived,
      status: archived ? 'archived' : 'published',
      createdAt: time(i),
      updatedAt: time((i * 7) % RECORDS),
      startsAt: (i * 11) % RECORDS,
      domain: `${i % 20 === 0 ? 'go' : i % 20}.example.com`,
      tagIds: [i % 20, (i * 7) % 20].map((at) => (tags[at] as Of).id),
      createdBy: (members[i % 20] as Of).id,
    });
  });
  const questions = all((i) =>
    createQuestion(workspaceId, {
      archived: i % 3 === 1,
      isActive: i % 20 !== 0,
      userType: USER_TYPES[(i >> 3) % 3] as (typeof USER_TYPES)[number],
      groups: [(groups[i % 10] as Of).id],
      audience: i % 50 === 0 ? ['everyone'] : [(groups[i % 10] as Of).id],
      createdAt: time(i),
    }),
  );
  const pillars = all((i) =>
    createPillar(workspaceId, {
      title: `Pillar ${(i * 7) % RECORDS}`,
      foldedTitle: `pillar ${(i * 7) % RECORDS}`,
      color: COLORS[i % 6] as Color,
      createdAt: time(i),
    }),
  );
  const slugs = all((i) => ({
    ...createDomain(workspaceId, i === 0 ? 'go.example.com' : `${newId()}.example`),
    archived: i % 3 === 1,
    createdAt: time(i),
  }));
  await storage.tags.addMany(all((i) => createTag(workspaceId, `one of many ${i}`, { color: COLORS[i % 6] as Color })));
  await storage.members.addMany(all((i) => ({ ...(members[i % 10] as Member), id: newId() })));
  await storage.campaigns.addMany(campaigns);
  await storage.inspirationQuestions.addMany(questions);
  await storage.contentPillars.addMany(pillars);
  await storage.domains.addMany(slugs);
  return {
    app,
    storage,
    secret,
    caller: { workspaceId, keyId: apiKey.id, access: 'full', member: members[0] },
    keyId: apiKey.id,
    memberId: (members[0] as Of).id,
    campaignId: (campaigns[0] as Of).id,
    domainId: (slugs[0] as Of).id,
    groupId: (groups[0] as Of).id,
    pillarId: (pillars[0] as Of).id,
    questionId: (questions[0] as Of).id,
    tagId: (tags[0] as Of).id,
    tagName: 'TAG 0',
  };
}

type Of = { readonly id: string };

async function made<T>(count: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  for (let i = 0; i < count; i++) all.push(await make(i));
  return all;
}

/** Indexes that no plan of this test need use, and what they are for. */
const unplanned = {
  'groups workspaceId,createdAt,_id': 'memory storage finds groups by their names in this order',
  'idempotentRequests expireAt': 'MongoDB removes what has expired',
  'idempotentRequests workspaceId,_id': 'the key of a sharded collection',
  'shares workspaceId,_id': 'the key of a sharded collection',
};

suite('the commands that MongoDB gets', {
  'name the workspace, each of them, and none scans a collection': () =>
    inProfiledWorld(async (world, profile, client) => {
      await each({ ...useCases, ...plain, ...other }, async (ask) => {
        await ask(world);
        for (const entry of await profile.next()) {
          const told = JSON.stringify(entry.command).slice(0, 300);
          assert.ok(isTargeted(entry), `${entry.op} ${told}`);
          assert.equal(stagesOf(entry.execStats).includes('COLLSCAN'), false, told);
        }
      });
      for (const name of Object.keys(recordSchemas)) {
        const lacking = { workspaceId: { $not: { $type: 'string' } } } as const;
        assert.equal(await client.db().collection(name).countDocuments(lacking), 0, name);
      }
    }),

  'are two for a change, and one more for a change of nothing, which waits for the majority': () =>
    inProfiledWorld(async ({ storage: { tags }, caller: { workspaceId } }, profile) => {
      const one = createTag(workspaceId, 'one');
      const change = (name: string) => () =>
        tags.update(workspaceId, one.id, (it) => (it.name === name ? it : { ...it, name }));
      const changes: [name: string, ask: () => Promise<unknown>, commands: string[]][] = [
        ['add', () => tags.add(one), ['insert']],
        ['add what is taken', () => assertConflict(tags.add(one)), ['insert', 'update']],
        ['add many that are taken', () => tags.addMany([one, one]), ['insert', 'update']],
        ['change', change('other'), ['query', 'update']],
        ['change of nothing', change('other'), ['query', 'update']],
        ['remove', () => tags.remove(workspaceId, one.id), ['query', 'remove']],
        ['remove of nothing', () => tags.remove(workspaceId, one.id), ['query', 'remove']],
      ];
      await each(
        changes.map(([name, ...rest]) => [name, rest] as const),
        async ([ask, commands]) => {
          await ask();
          assert.deepEqual(
            (await profile.next()).map(({ op }) => op),
            commands,
          );
        },
      );
    }),

  'find what is plain in order, without a sort, and look at about a page': () =>
    inProfiledWorld(async (world, profile) => {
      await each(plain, async (ask) => {
        await ask(world);
        const entries = await profile.next();
        assert.ok(entries.length > 0);
        for (const { ns, planSummary, execStats, docsExamined = 0, keysExamined = 0 } of entries) {
          const told = `${ns} ${planSummary} docs ${docsExamined} keys ${keysExamined}`;
          assert.equal(stagesOf(execStats).includes('SORT'), false, told);
          assert.ok(docsExamined <= LOOKS && keysExamined <= LOOKS, told);
        }
      });
    }),

  'leave MongoDB no choice of plans where an index is made for a list: on a busy day it would try all of them again':
    () =>
      inProfiledWorld(async (world, profile) => {
        const lists = Object.entries(plain).filter(([name]) =>
          /^(campaigns|pillars) by |^domains,|^questions: all/.test(name),
        );
        assert.ok(lists.length > 10);
        await each(Object.fromEntries(lists), async (ask) => {
          await ask(world);
          for (const { ns, fromMultiPlanner = false } of await profile.next())
            assert.equal(fromMultiPlanner, false, ns);
        });
      }),

  'read a list with any filters by one index, without trying others, and read no campaign twice': () =>
    inProfiledWorld(async (world, profile) => {
      const narrowings: readonly Partial<CampaignQuery>[] = [
        {},
        { tagIds: [world.tagId] },
        { userId: world.memberId },
        { domain: 'go.example.com' },
        { tagIds: [world.tagId], userId: world.memberId, domain: 'go.example.com' },
      ];
      const queries = narrowings.flatMap((narrowing) =>
        [undefined, ...CAMPAIGN_WINDOWS].flatMap((filter) =>
          [undefined, 'glacier'].flatMap((search) =>
            CAMPAIGN_SORTS.flatMap((sortBy) =>
              [1, 10].map((page) => ({ ...narrowing, filter, search, sortBy, page, includeArchived: page === 1 })),
            ),
          ),
        ),
      );
      const asks = queries.map((query): [string, Ask] => [JSON.stringify(query), campaigns(() => query)]);
      await each(asks, async (ask) => {
        await ask(world);
        const entries = (await profile.next()).filter(({ command }) => command.find === 'campaigns');
        assert.equal(entries.length, 1);
        const [{ fromMultiPlanner = false, docsExamined, planSummary }] = entries as [Document];
        assert.equal(fromMultiPlanner, false, planSummary);
        assert.ok(docsExamined <= RECORDS, `${docsExamined} of ${RECORDS} documents by ${planSummary}`);
      });
    }),

  'read only the campaigns of one member, tag or domain in any order if these are few': () =>
    inProfiledWorld(async (world, profile) => {
      const narrowings: readonly Partial<CampaignQuery>[] = [
        { tagIds: [world.tagId] },
        { userId: world.memberId },
        { domain: 'go.example.com' },
      ];
      for (const narrowing of narrowings) {
        for (const sortBy of CAMPAIGN_SORTS) {
          await campaigns(() => ({ ...narrowing, sortBy, search: 'glacier', includeArchived: true }))(world);
          for (const { docsExamined = 0, planSummary } of await profile.next()) {
            assert.ok(docsExamined <= RECORDS / 10 + 1, `${sortBy}: ${docsExamined} documents by ${planSummary}`);
          }
        }
      }
    }),

  'use every index': () =>
    inProfiledWorld(async (world, _, client) => {
      for (const ask of Object.values({ ...useCases, ...plain, ...other })) await ask(world);
      const unused = [];
      for (const name of Object.keys(recordSchemas)) {
        for (const { key, accesses } of await client
          .db()
          .collection(name)
          .aggregate([{ $indexStats: {} }])
          .toArray()) {
          const index = `${name} ${Object.keys(key)}`;
          if (Number(accesses.ops) === 0 && !(index in unplanned)) unused.push(index);
        }
      }
      assert.deepEqual(unused, []);
    }),
});
