import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Document, MongoClient } from 'mongodb';
import type { CampaignRecord } from '../../adapters/persistence/campaigns.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import type { AuthenticatedCaller } from '../../core/access/permissions.ts';
import { ANALYTICS_GROUPINGS } from '../../core/analytics/analytics.ts';
import type { Application } from '../../core/application.ts';
import { CAMPAIGN_DATE_FILTERS, CAMPAIGN_SORTS } from '../../core/campaign/campaign.ts';
import type { CampaignQuery } from '../../core/campaign/campaign-service.ts';
import type { ContentPillarQuery } from '../../core/content-pillar/content-pillar-service.ts';
import { USER_TYPES } from '../../core/inspiration-question/inspiration-question.ts';
import type { InspirationQuestionQuery } from '../../core/inspiration-question/inspiration-question-service.ts';
import type { Role } from '../../core/member/member.ts';
import type { MemberFilter } from '../../core/member/member-repository.ts';
import { SHARE_SORTS, type Share } from '../../core/share/share.ts';
import type { MemberActor } from '../../core/shared/actor.ts';
import { COLORS, type Color } from '../../core/shared/color.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { NAME_SORTS } from '../../core/shared/name-filter.ts';
import { assertRejectsWithConflict } from '../contract/assert-rejects-with-conflict.ts';
import {
  buildCampaign,
  buildDomain,
  buildGroup,
  buildMember,
  buildPillar,
  buildQuestion,
  buildShare,
  buildTag,
  newId,
} from '../contract/samples.ts';
import { addAll } from '../support/add-all.ts';
import { collectAll } from '../support/collect-all.ts';
import { each } from '../support/each.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase } from '../support/mongod.ts';
import { withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const PAGE = { page: 1, pageSize: 25 };
const RECORD_COUNT = 400;
/**
 * The maximum number of records that MongoDB examines for a page: the page, the next record, and archived records
 * between those.
 */
const MAX_EXAMINED_COUNT = 3 * PAGE.pageSize;

/**
 * A workspace with many records, and the IDs and names of some of them. Its database has a second workspace of this
 * kind.
 */
interface FilledWorkspace {
  readonly app: Application;
  readonly engine: StorageEngine;
  readonly caller: AuthenticatedCaller;
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

type UseCaseCall = (context: FilledWorkspace) => Promise<unknown>;

const CAMPAIGNS: CampaignQuery = { ...PAGE, includeArchived: false, sortBy: 'createdAt' };
const QUESTIONS: InspirationQuestionQuery = { ...PAGE, includeArchived: false, availableToMe: false };
const PILLARS: ContentPillarQuery = { ...PAGE, sortBy: 'createdAt', sortOrder: 'desc' };
const SHARES = { ...PAGE, sortBy: 'createdAt', sortOrder: 'desc' } as const;
const NAMED = { ...PAGE, sortBy: 'createdAt', sortOrder: 'desc' } as const;
const DOMAINS = { ...PAGE, includeArchived: false };

const listCampaigns =
  (query: (context: FilledWorkspace) => Partial<CampaignQuery>): UseCaseCall =>
  (context) =>
    context.app.campaigns.list(context.caller, { ...CAMPAIGNS, ...query(context) });
const listQuestions =
  (query: (context: FilledWorkspace) => Partial<InspirationQuestionQuery>): UseCaseCall =>
  (context) =>
    context.app.inspirationQuestions.list(context.caller, { ...QUESTIONS, ...query(context) });
const listPillars =
  (query: (context: FilledWorkspace) => Partial<ContentPillarQuery>): UseCaseCall =>
  ({ app, caller, ...context }) =>
    app.contentPillars.list(caller.workspaceId, { ...PILLARS, ...query({ app, caller, ...context }) });
const listDomains =
  (query: object): UseCaseCall =>
  ({ app, caller }) =>
    app.domains.list(caller.workspaceId, { ...DOMAINS, ...query });

const listMembers =
  (filter: (context: FilledWorkspace) => Partial<MemberFilter>): UseCaseCall =>
  (context) =>
    context.app.members.list(context.caller.workspaceId, { ...NAMED, ...filter(context) });

/** The indexed lists whose commands name their index as a hint, so that MongoDB does not compare query plans. */
const HINTED = /^(campaigns|pillars|groups|tags|members) by |^domains,|^questions: all/;

const archivedFlags = [false, true];
const orders = ['asc', 'desc'] as const;

/** Reads whose records MongoDB must find in their order, without examining many other records. */
const indexedReads: Readonly<Record<string, UseCaseCall>> = Object.fromEntries([
  ...archivedFlags.flatMap((includeArchived): [string, UseCaseCall][] => [
    ...CAMPAIGN_SORTS.map((sortBy): [string, UseCaseCall] => [
      `campaigns by ${sortBy}, includeArchived=${includeArchived}`,
      listCampaigns(() => ({ sortBy, includeArchived })),
    ]),
    ...Object.entries({
      domain: () => ({ domain: 'go.example.com' }),
      tagIds: ({ tagId }: FilledWorkspace) => ({ tagIds: [tagId] }),
      tagNames: ({ tagName }: FilledWorkspace) => ({ tagNames: [tagName] }),
      userId: ({ memberId }: FilledWorkspace) => ({ userId: memberId }),
      groupIds: ({ groupId }: FilledWorkspace) => ({ groupIds: [groupId] }),
      status: () => ({ status: ['published'] as const }),
    }).map(([name, filter]): [string, UseCaseCall] => [
      `campaigns of one ${name}, includeArchived=${includeArchived}`,
      listCampaigns((context) => ({ ...filter(context), includeArchived })),
    ]),
    ...Object.entries({
      all: () => ({}),
      active: () => ({ isActive: true }),
      inactive: () => ({ isActive: false }),
      groupIds: ({ groupId }: FilledWorkspace) => ({ groupIds: [groupId] }),
      ...Object.fromEntries(USER_TYPES.map((userType) => [`userType ${userType}`, () => ({ userType })])),
    }).map(([name, filter]): [string, UseCaseCall] => [
      `questions: ${name}, includeArchived=${includeArchived}`,
      listQuestions((context) => ({ ...filter(context), includeArchived })),
    ]),
    [`domains, includeArchived=${includeArchived}`, listDomains({ includeArchived })],
  ]),
  ...orders.flatMap((sortOrder) =>
    (['title', 'createdAt'] as const).map((sortBy): [string, UseCaseCall] => [
      `pillars by ${sortBy} ${sortOrder}`,
      listPillars(() => ({ sortBy, sortOrder })),
    ]),
  ),
  ...orders.flatMap((sortOrder) =>
    NAME_SORTS.flatMap((sortBy) =>
      (['groups', 'tags', 'members'] as const).map((service): [string, UseCaseCall] => [
        `${service} by ${sortBy} ${sortOrder}`,
        ({ app, caller }) => app[service].list(caller.workspaceId, { ...PAGE, sortBy, sortOrder }),
      ]),
    ),
  ),
  ...Object.entries({
    role: () => ({ role: 'admin' as const }),
    seatType: () => ({ seatType: 'advocate' as const }),
    groupIds: ({ groupId }: FilledWorkspace) => ({ groupIds: [groupId] }),
    invitation: () => ({ invitation: 'accepted' as const }),
  }).flatMap(([name, filter]) =>
    NAME_SORTS.map((sortBy): [string, UseCaseCall] => [
      `members: ${name}, by ${sortBy}`,
      listMembers((context) => ({ ...filter(context), sortBy })),
    ]),
  ),
  ...orders.flatMap((sortOrder) =>
    SHARE_SORTS.map((sortBy): [string, UseCaseCall] => [
      `shares of the caller by ${sortBy} ${sortOrder}`,
      ({ app, caller }) =>
        app.shares.listOfMember(caller as AuthenticatedCaller & MemberActor, { ...SHARES, sortBy, sortOrder }),
    ]),
  ),
  ...orders.flatMap((sortOrder) =>
    SHARE_SORTS.flatMap((sortBy) =>
      [false, true].map((isOfMember): [string, UseCaseCall] => [
        `shares by ${sortBy} ${sortOrder}${isOfMember ? ' of one member' : ''}`,
        ({ app, caller, campaignId, memberId }) => {
          const query = { ...SHARES, sortBy, sortOrder, memberId: isOfMember ? memberId : undefined };
          return app.shares.list(caller.workspaceId, campaignId, query);
        },
      ]),
    ),
  ),
  ['one pillar by its ID', listPillars(({ pillarId }) => ({ ids: [pillarId], sortBy: 'title' }))],
  ['a campaign', ({ app, caller, campaignId }) => app.campaigns.get(caller, campaignId)],
  [
    'the number of tags with a color',
    ({ engine, caller }) => engine.tags.count(caller.workspaceId, [{ field: 'color', in: ['brown'] }]),
  ],
  [
    'the number of members of a group',
    ({ engine, caller, groupId }) => engine.members.count(caller.workspaceId, [{ field: 'groupIds', in: [groupId] }]),
  ],
  ['an API key', ({ app, secret }) => app.apiKeys.authenticate(secret)],
]);

/** Reads and writes for which MongoDB may examine more records. */
const otherCalls: Readonly<Record<string, UseCaseCall>> = {
  'taken names': async ({ app, caller: { workspaceId }, tagName }) => {
    await assertRejectsWithConflict(app.tags.create(workspaceId, { name: tagName }));
    await assertRejectsWithConflict(app.groups.create(workspaceId, { name: 'Group 0' }));
  },
  'campaigns without a domain': listCampaigns(() => ({ domain: null })),
  'a search of campaigns': listCampaigns(() => ({ search: 'tents', includeArchived: true })),
  'a search of questions': listQuestions(() => ({ search: 'proud', includeArchived: true })),
  'a search of pillars': listPillars(() => ({ search: 'outdoors' })),
  'a search of groups': ({ app, caller }) => app.groups.list(caller.workspaceId, { ...NAMED, search: '1' }),
  'a search of tags': ({ app, caller }) => app.tags.list(caller.workspaceId, { ...NAMED, search: '1' }),
  'a search of members': listMembers(() => ({ search: 'ada' })),
  'members with a pending invitation': listMembers(() => ({ invitation: 'pending' })),
  'members with an expired invitation, by name': listMembers(() => ({ invitation: 'expired', sortBy: 'name' })),
  'a search of domains': listDomains({ search: 'example', includeArchived: true }),
  'campaigns for me': listCampaigns(() => ({ availableToMe: true })),
  'questions for me': listQuestions(() => ({ availableToMe: true })),
  'questions for a caller that is not a member': ({ app, caller: { workspaceId } }) =>
    app.inspirationQuestions.list({ workspaceId }, { ...QUESTIONS, availableToMe: true }),
  'pillars by their IDs': listPillars(({ pillarId }) => ({ ids: [pillarId, randomUUID()] })),
  'campaigns with many filters': listCampaigns(({ tagId, tagName, memberId }) => ({
    tagIds: [tagId, randomUUID()],
    tagNames: [tagName, 'none'],
    userId: memberId,
    domain: 'go.example.com',
    search: 'x',
    page: 2,
    limit: 60,
  })),
  ...Object.fromEntries(
    CAMPAIGN_DATE_FILTERS.flatMap((filter) =>
      CAMPAIGN_SORTS.map((sortBy) => [`${filter} campaigns by ${sortBy}`, listCampaigns(() => ({ filter, sortBy }))]),
    ),
  ),
};

const newName = () => `new ${randomUUID()}`;
const newSlug = () => `${randomUUID()}.example`;
const newCampaign = ({ tagId, groupId, pillarId }: FilledWorkspace) => ({
  ...createCampaignFields(newName()),
  domain: 'go.example.com',
  tagIds: [tagId],
  groupIds: [groupId],
  contentPillarId: pillarId,
});
const newMember = (groupId: string, role: Role = 'member') => ({
  ...({ name: 'Kim', email: `${newName()}@x.example`.replace(' ', '-'), role, groups: [groupId] } as const),
  invitation: 'accepted' as const,
});
const createTestWebhook = ({ app, caller }: FilledWorkspace) =>
  app.webhooks.create(caller.workspaceId, { url: 'https://webhooks.invalid' });
const newQuestion = ({ groupId }: FilledWorkspace) => ({ question: newName(), groups: [groupId] });

/** The services of the application: its properties, without its own methods. */
type Services = {
  [S in keyof Application as Application[S] extends (...args: never[]) => unknown ? never : S]: Application[S];
};

/** The names of all use cases, such as `tags.create`. */
type UseCaseName = { [S in keyof Services]: `${S}.${keyof Services[S] & string}` }[keyof Services] | 'runOnce';

/** A call of every use case. If the call of a use case is missing, this does not compile. */
const useCases: Readonly<Record<UseCaseName | 'ready', UseCaseCall>> = {
  'analytics.list': async ({ app, caller, memberId, groupId, tagId, campaignId }) => {
    const filters = { campaignIds: [campaignId], memberIds: [memberId], groupIds: [groupId], tagIds: [tagId] };
    for (const groupBy of ANALYTICS_GROUPINGS)
      for (const filter of [{}, filters]) await app.analytics.list(caller.workspaceId, { groupBy, page: 1, ...filter });
  },
  'apiKeys.create': ({ app, caller, memberId }) => app.apiKeys.create(caller.workspaceId, { memberId }),
  'apiKeys.revoke': async ({ app, caller }) => {
    const { apiKey } = await app.apiKeys.create(caller.workspaceId, {});
    await app.apiKeys.revoke(caller.workspaceId, apiKey.id);
  },
  'apiKeys.get': ({ app, caller }) => app.apiKeys.get(caller.workspaceId, caller.keyId),
  'apiKeys.list': async ({ app, caller, memberId }) => {
    for (const filter of [{}, { memberId }])
      for (const includeEnded of [false, true])
        await app.apiKeys.list(caller.workspaceId, { ...filter, includeEnded, page: 1, pageSize: 100 });
  },
  'apiKeys.rotate': async ({ app, caller }) => {
    const { apiKey } = await app.apiKeys.create(caller.workspaceId, {}, caller.keyId);
    await app.apiKeys.rotate(caller.workspaceId, apiKey.id, 60, caller.keyId);
  },
  'apiKeys.authenticate': ({ app, secret }) => app.apiKeys.authenticate(secret),
  'apiKeys.recordUse': ({ app, caller }) => app.apiKeys.recordUse(caller.workspaceId, caller.keyId),
  'campaigns.create': (context) => context.app.campaigns.create(context.caller, newCampaign(context)),
  'campaigns.get': ({ app, caller, campaignId }) => app.campaigns.get(caller, campaignId),
  'campaigns.list': ({ app, caller }) => app.campaigns.list(caller, CAMPAIGNS),
  'campaigns.update': async (context) => {
    const { app, caller } = context;
    const { id } = await app.campaigns.create(caller, { ...newCampaign(context), tagIds: [] });
    await app.campaigns.update(caller, id, { ...newCampaign(context), status: 'archived' });
  },
  'campaigns.getBrief': ({ app, caller, campaignId }) => app.campaigns.getBrief(caller.workspaceId, campaignId),
  'campaigns.getBriefs': ({ app, caller, campaignId }) => app.campaigns.getBriefs(caller.workspaceId, [campaignId]),
  'campaigns.remove': async (context) => {
    const { app, caller } = context;
    const { id } = await app.campaigns.create(caller, { ...newCampaign(context), status: 'draft' });
    await app.campaigns.remove(caller.workspaceId, id);
  },
  'contentPillars.create': ({ app, caller }) =>
    app.contentPillars.create(caller as AuthenticatedCaller & MemberActor, { title: newName(), color: 'red' }),
  'contentPillars.get': ({ app, caller, pillarId }) => app.contentPillars.get(caller.workspaceId, pillarId),
  'contentPillars.list': ({ app, caller }) => app.contentPillars.list(caller.workspaceId, PILLARS),
  'contentPillars.update': ({ app, caller, pillarId }) =>
    app.contentPillars.update(caller.workspaceId, pillarId, { description: newName() }),
  'contentPillars.remove': async ({ app, caller }) => {
    const fields = { title: newName(), color: 'red' } as const;
    const { id } = await app.contentPillars.create(caller as AuthenticatedCaller & MemberActor, fields);
    await app.contentPillars.remove(caller.workspaceId, id);
  },
  'domains.createOrArchive': async ({ app, caller }) => {
    const slug = newSlug();
    for (const archived of [undefined, true, false]) {
      await app.domains.createOrArchive(caller.workspaceId, { slug, archived });
    }
  },
  'domains.update': async ({ app, caller }) => {
    const { domain } = await app.domains.createOrArchive(caller.workspaceId, { slug: newSlug() });
    for (const archived of [true, false]) await app.domains.update(caller.workspaceId, domain.id, { archived });
  },
  'domains.get': ({ app, caller, domainId }) => app.domains.get(caller.workspaceId, domainId),
  'domains.getBySlug': async ({ app, caller, domainId }) =>
    app.domains.getBySlug(caller.workspaceId, (await app.domains.get(caller.workspaceId, domainId)).slug),
  'domains.list': ({ app, caller }) => app.domains.list(caller.workspaceId, DOMAINS),
  'domains.getVerification': ({ app, caller, domainId }) => app.domains.getVerification(caller.workspaceId, domainId),
  'domains.verify': ({ app, caller, domainId }) => app.domains.verify(caller.workspaceId, domainId),
  'domains.markVerified': async ({ app, caller }) => {
    const { domain } = await app.domains.createOrArchive(caller.workspaceId, { slug: newSlug() });
    await app.domains.markVerified(caller.workspaceId, domain.id);
    await app.domains.createOrArchive(caller.workspaceId, { slug: domain.slug, archived: true });
  },
  'events.list': async ({ app, caller }) => {
    const types = ['campaign.published', 'share.created'] as const;
    await app.events.list(caller.workspaceId, { after: 1, pageSize: 100 });
    await app.events.list(caller.workspaceId, { after: 1, types, pageSize: 100 });
  },
  'groups.create': ({ app, caller }) => app.groups.create(caller.workspaceId, { name: newName() }),
  'groups.get': ({ app, caller, groupId }) => app.groups.get(caller.workspaceId, groupId),
  'groups.list': ({ app, caller }) => app.groups.list(caller.workspaceId, NAMED),
  'groups.update': async ({ app, caller }) => {
    const { id } = await app.groups.create(caller.workspaceId, { name: newName() });
    await app.groups.update(caller.workspaceId, id, { name: newName() });
  },
  'groups.remove': async ({ app, caller }) => {
    const { id } = await app.groups.create(caller.workspaceId, { name: newName() });
    await app.groups.remove(caller.workspaceId, id);
  },
  'inspirationQuestions.create': (context) =>
    context.app.inspirationQuestions.create(context.caller.workspaceId, newQuestion(context)),
  'inspirationQuestions.get': ({ app, caller, questionId }) =>
    app.inspirationQuestions.get(caller.workspaceId, questionId),
  'inspirationQuestions.list': ({ app, caller }) => app.inspirationQuestions.list(caller, QUESTIONS),
  'inspirationQuestions.update': ({ app, caller, questionId, groupId }) =>
    app.inspirationQuestions.update(caller.workspaceId, questionId, { description: newName(), groups: [groupId] }),
  'inspirationQuestions.remove': async (context) => {
    const { app, caller } = context;
    const { id } = await app.inspirationQuestions.create(caller.workspaceId, newQuestion(context));
    await app.inspirationQuestions.remove(caller.workspaceId, id);
  },
  'links.resolve': async ({ app }) => {
    const host = { name: 'go.example.com', slug: 'go.example.com', isBase: true };
    for (const key of ['unknown1', undefined]) await app.links.resolve(host, key, (uri) => ({ uri, host }));
  },
  'links.findLink': ({ app }) => app.links.findLink('unknown1'),
  'links.findCampaign': ({ app, caller: { workspaceId }, campaignId }) =>
    app.links.findCampaign(workspaceId, campaignId),
  'links.findDomain': ({ app }) => app.links.findDomain('go.example.com'),
  'shares.addClicks': async ({ app, caller, campaignId, memberId }) => {
    const { workspaceId } = caller;
    await app.shares.create(caller as AuthenticatedCaller & MemberActor, campaignId);
    const clicks = [{ campaignId, memberId, count: 1 }];
    for (const sequence of [1, 2]) await app.shares.addClicks({ workspaceId, processId: 'writer', sequence, clicks });
  },
  'links.getVisitorKey': ({ app }) => app.links.getVisitorKey(),
  'members.create': ({ app, caller, groupId }) => app.members.create(caller.workspaceId, newMember(groupId)),
  'members.get': ({ app, caller, memberId }) => app.members.get(caller.workspaceId, memberId),
  'members.update': ({ app, caller, memberId, groupId }) =>
    app.members.update(caller.workspaceId, memberId, { name: newName(), groups: [groupId] }),
  'members.accept': async ({ app, caller: { workspaceId }, groupId }) => {
    const { id } = await app.members.create(workspaceId, newMember(groupId));
    for (const _ of [1, 2]) await app.members.accept(workspaceId, id);
  },
  'members.find': async ({ app, caller: { workspaceId }, memberId }) => {
    for (const idOrEmail of ['0@example.com', memberId]) await app.members.find(workspaceId, idOrEmail);
  },
  'members.list': ({ app, caller }) => app.members.list(caller.workspaceId, NAMED),
  'members.remove': async ({ app, caller: { workspaceId }, groupId }) => {
    for (const role of ['member', 'admin'] as const) {
      const { id: memberId } = await app.members.create(workspaceId, { ...newMember(groupId, role) });
      for (const _ of [1, 2]) await app.apiKeys.create(workspaceId, { memberId });
      await app.members.remove(workspaceId, memberId);
    }
  },
  'shares.create': ({ app, caller, campaignId }) =>
    app.shares.create(caller as AuthenticatedCaller & MemberActor, campaignId),
  'shares.listOfMember': ({ app, caller }) =>
    app.shares.listOfMember(caller as AuthenticatedCaller & MemberActor, SHARES),
  'shares.list': ({ app, caller, campaignId }) => app.shares.list(caller.workspaceId, campaignId, SHARES),
  'tags.create': ({ app, caller }) => app.tags.create(caller.workspaceId, { name: newName() }),
  'tags.update': async ({ app, caller }) => {
    const { id } = await app.tags.create(caller.workspaceId, { name: newName() });
    await app.tags.update(caller.workspaceId, id, { name: newName() });
  },
  'tags.get': ({ app, caller, tagId }) => app.tags.get(caller.workspaceId, tagId),
  'tags.list': ({ app, caller }) => app.tags.list(caller.workspaceId, NAMED),
  'tags.remove': async ({ app, caller }) => {
    const { id } = await app.tags.create(caller.workspaceId, { name: newName() });
    await app.tags.remove(caller.workspaceId, id);
  },
  'webhooks.create': createTestWebhook,
  'webhooks.get': async (context) =>
    context.app.webhooks.get(context.caller.workspaceId, (await createTestWebhook(context)).id),
  'webhooks.list': ({ app, caller }) => app.webhooks.list(caller.workspaceId, PAGE),
  'webhooks.update': async (context) =>
    context.app.webhooks.update(context.caller.workspaceId, (await createTestWebhook(context)).id, { after: 0 }),
  'webhooks.remove': async (context) =>
    context.app.webhooks.remove(context.caller.workspaceId, (await createTestWebhook(context)).id),
  'webhooks.test': async (context) =>
    context.app.webhooks.test(context.caller.workspaceId, (await createTestWebhook(context)).id),
  'webhooks.findWorkspaceIds': ({ app }) => app.webhooks.findWorkspaceIds(),
  'webhooks.findPending': ({ app, caller }) => app.webhooks.findPending(caller.workspaceId),
  'webhooks.deliverNext': async (context) => {
    const { app, caller } = context;
    const { id } = await createTestWebhook(context);
    await app.webhooks.deliverNext(await app.webhooks.update(caller.workspaceId, id, { after: 0 }), 0);
  },
  'workspaces.create': ({ app }) => app.workspaces.create('Contoso'),
  'workspaces.get': ({ app, caller }) => app.workspaces.get(caller.workspaceId),
  'workspaces.iterate': ({ app }) => collectAll(app.workspaces.iterate()),
  ready: ({ app }) => app.checkReady(),
  runOnce: async ({ app, caller }) => {
    const { workspaceId, keyId } = caller;
    const request = { workspaceId, keyId, idempotencyKey: newName(), fingerprint: 'f' };
    const work = async (staged: Application) => {
      await staged.tags.create(workspaceId, { name: newName() });
      return { status: 201, body: '{}' };
    };
    await app.runOnce(request, work);
    await app.runOnce(request, work);
    const reject = () => Promise.reject(new CoreError('conflict', 'rejected by the test'));
    await app.runOnce({ ...request, idempotencyKey: newName() }, reject).catch(doNothing);
  },
};

/** The operations on the collections of a database, as its profiler records them. */
class Profile {
  private readCount = 0;

  constructor(readonly client: MongoClient) {}

  async start(): Promise<void> {
    await this.client.db().createCollection('system.profile', { capped: true, size: 256 * 2 ** 20 });
    await this.client.db().setProfilingLevel('all');
  }

  /** Returns the operations since the last call. */
  async readNext(): Promise<Document[]> {
    const all = this.client.db().collection('system.profile').find().sort({ $natural: 1 }).skip(this.readCount);
    const entries = await all.toArray();
    this.readCount += entries.length;
    return entries.filter(({ ns }) => !['$cmd', 'system.profile'].includes(toCollectionName(ns)));
  }
}

function toCollectionName(namespace: string): string {
  return namespace.slice(namespace.indexOf('.') + 1);
}

/** Returns the filters and documents of a command. */
function findSubjects({ op, command, originatingCommand }: Document): Document[] {
  switch (op === 'command' ? Object.keys(command)[0] : op) {
    case 'query':
      return [command.filter];
    case 'getmore':
      return [originatingCommand.filter];
    case 'insert':
      return command.documents ?? [];
    case 'update':
      return isEmptyUpdate(command.u) ? [command.q] : [command.q, command.u.$setOnInsert ?? command.u];
    case 'remove':
      return [command.q];
    case 'findAndModify':
      return [command.query];
    case 'aggregate':
      return [command.pipeline[0].$match];
    default:
      return [{}];
  }
}

/** Returns whether an update changes nothing. The storage sends such an update only to wait for the majority. */
const isEmptyUpdate = (update: Document): boolean => Object.keys(update.$set ?? { other: 1 }).length === 0;

const hasValue = (value: unknown): boolean => typeof value === 'string' || Array.isArray((value as Document)?.$in);

/**
 * Returns whether mongos can send a command to only those shards that have its data. For that, the command must name
 * the workspace, and if it changes a record, also the ID. In a global store, a command must name the ID. Only the
 * operator's list of a global store may go to all shards.
 */
function isTargeted(entry: Document): boolean {
  const isGlobal = (globalStoreNames as readonly string[]).includes(toCollectionName(entry.ns));
  if (isGlobal && entry.op === 'query' && typeof entry.command.filter._id?.$gt === 'string') return true;
  const isChange = entry.op === 'update' || entry.op === 'remove' || 'findAndModify' in entry.command;
  const requiredFields = isGlobal ? ['_id'] : ['workspaceId', ...(isChange ? ['_id'] : [])];
  return findSubjects(entry).every((subject) => requiredFields.every((field) => hasValue(subject[field])));
}

function findStages(plan: Document | undefined): string[] {
  if (!plan) return [];
  const inputs = [plan.inputStage, ...(plan.inputStages ?? [])].filter(Boolean);
  return [plan.stage, ...inputs.flatMap(findStages)];
}

/** Passes a filled workspace and the profile of its database to the tests, one after another. */
function withProfiledWorkspace(
  ...tests: ((context: FilledWorkspace, profile: Profile, client: MongoClient) => Promise<void>)[]
): Promise<void> {
  return withDatabase((uri) =>
    withMongoClient(uri, (client) =>
      withEngine(uri, async (engine, app) => {
        const profile = new Profile(client);
        await createFilledWorkspace(app, engine, 'Contoso');
        const context = await createFilledWorkspace(app, engine, 'Northwind');
        await profile.start();
        for (const test of tests) await test(context, profile, client);
      }),
    ),
  );
}

/** Creates a workspace in which every filter matches some records, and a third is archived. */
async function createFilledWorkspace(app: Application, engine: StorageEngine, name: string): Promise<FilledWorkspace> {
  const { id: workspaceId } = await app.workspaces.create(name);
  const tags = await createAll(20, (i) => app.tags.create(workspaceId, { name: `tag ${i}` }));
  const groups = await createAll(10, (i) => app.groups.create(workspaceId, { name: `group ${i}` }));
  const members = await createAll(20, (i) =>
    app.members.create(workspaceId, { name, email: `${i}@example.com`, groups: [(groups[i % 10] as Identified).id] }),
  );
  const { apiKey, secret } = await app.apiKeys.create(workspaceId, { memberId: (members[0] as Identified).id });
  const time = (i: number) => new Date(Date.UTC(2026, 0, 1, i)).toISOString();
  const all = <T>(create: (i: number) => T) => Array.from({ length: RECORD_COUNT }, (_, i) => create(i));
  const campaigns = all((i): CampaignRecord => {
    const archived = i % 3 === 1;
    return buildCampaign(workspaceId, {
      archived,
      status: archived ? 'archived' : 'published',
      createdAt: time(i),
      updatedAt: time((i * 7) % RECORD_COUNT),
      startsAt: (i * 11) % RECORD_COUNT,
      // The first campaign is the one that use cases share.
      ...(i === 0 && { endsAt: Date.UTC(2100) }),
      domain: `${i % 20 === 0 ? 'go' : i % 20}.example.com`,
      tagIds: [i % 20, (i * 7) % 20].map((at) => (tags[at] as Identified).id),
      createdBy: (members[i % 20] as Identified).id,
    });
  });
  const questions = all((i) =>
    buildQuestion(workspaceId, {
      archived: i % 3 === 1,
      isActive: i % 20 !== 0,
      userType: USER_TYPES[(i >> 3) % 3] as (typeof USER_TYPES)[number],
      groups: [(groups[i % 10] as Identified).id],
      audience: i % 50 === 0 ? ['everyone'] : [(groups[i % 10] as Identified).id],
      createdAt: time(i),
    }),
  );
  const pillars = all((i) =>
    buildPillar(workspaceId, {
      title: `Pillar ${(i * 7) % RECORD_COUNT}`,
      foldedTitle: `pillar ${(i * 7) % RECORD_COUNT}`,
      color: COLORS[i % 6] as Color,
      createdAt: time(i),
    }),
  );
  const domains = all((i) => ({
    ...buildDomain(workspaceId, i === 0 ? 'go.example.com' : `${newId()}.example`),
    archived: i % 3 === 1,
    createdAt: time(i),
  }));
  await addAll(
    engine.tags,
    all((i) => buildTag(workspaceId, `further tag ${i}`, { color: COLORS[i % 6] as Color })),
  );
  await addAll(
    engine.groups,
    all((i) => buildGroup(workspaceId, `further group ${i}`)),
  );
  const shares = all((i): Share => {
    const campaignId = (campaigns[i % 2] as Identified).id;
    return buildShare(workspaceId, { campaignId, position: i, clicks: (i * 7) % 20, createdAt: time(i) });
  });
  await addAll(engine.shares, shares);
  await addAll(
    engine.members,
    all((i) =>
      buildMember(workspaceId, `further${i}@example.com`, {
        foldedName: `further ${(i * 7) % RECORD_COUNT}`,
        role: i % 20 === 0 ? 'admin' : 'member',
        seatType: i % 2 === 0 ? 'advocate' : 'thought_leader',
        groupIds: [(groups[i % 10] as Identified).id],
        accepted: i % 3 !== 1,
        createdAt: time(i),
      }),
    ),
  );
  await addAll(engine.campaigns, campaigns);
  await addAll(engine.inspirationQuestions, questions);
  await addAll(engine.contentPillars, pillars);
  await addAll(engine.domains, domains);
  return {
    app,
    engine,
    secret,
    caller: { workspaceId, keyId: apiKey.id, access: 'full', member: members[0] },
    keyId: apiKey.id,
    memberId: (members[0] as Identified).id,
    campaignId: (campaigns[0] as Identified).id,
    domainId: (domains[0] as Identified).id,
    groupId: (groups[0] as Identified).id,
    pillarId: (pillars[0] as Identified).id,
    questionId: (questions[0] as Identified).id,
    tagId: (tags[0] as Identified).id,
    tagName: 'TAG 0',
  };
}

type Identified = { readonly id: string };

async function createAll<T>(count: number, create: (i: number) => Promise<T>): Promise<T[]> {
  const created: T[] = [];
  for (let i = 0; i < count; i++) created.push(await create(i));
  return created;
}

/** Indexes that no command of this test uses, and the purpose of each. */
const otherIndexes = {
  'activity workspaceId,_id': 'the shard key',
  'activity workspaceId,campaignId,day,_id': 'sums',
  'activity workspaceId,day,campaignId,_id': 'sums',
  'activity workspaceId,memberId,day,_id': 'sums',
  'groups workspaceId,foldedName': 'the uniqueness of names',
  'domains workspaceId,liveSince,_id': 'lists without a condition on a flag, as the contract promises',
  'apiKeyOwners workspaceId,_id': 'the shard key',
  'apiKeys workspaceId,_id': 'the shard key',
  'clickCheckpoints expireAt': 'the expiry of records',
  'clickCheckpoints workspaceId,_id': 'the shard key',
  'eventCounters workspaceId,_id': 'the shard key',
  'events expireAt': 'the expiry of records',
  'events workspaceId,_id': 'the shard key',
  'idempotencyRecords expireAt': 'the expiry of records',
  'idempotencyRecords workspaceId,_id': 'the shard key',
  'shares workspaceId,_id': 'the shard key',
  'contentPillars workspaceId,_id': 'the shard key',
  'domains workspaceId,_id': 'the shard key',
  'groups workspaceId,_id': 'the shard key',
};

/** A list with any filters uses one index, and does not compare plans. It reads at most `maxCount` campaigns. */
async function assertUsesOneIndex(
  context: FilledWorkspace,
  profile: Profile,
  query: Partial<CampaignQuery>,
  maxCount: number,
): Promise<void> {
  await listCampaigns(() => query)(context);
  const entries = (await profile.readNext()).filter(({ command }) => command.find === 'campaigns');
  assert.equal(entries.length, 1);
  const [{ fromMultiPlanner = false, docsExamined, planSummary }] = entries as [Document];
  assert.equal(fromMultiPlanner, false, planSummary);
  assert.ok(docsExamined <= maxCount, `${docsExamined} of ${RECORD_COUNT} documents by ${planSummary}`);
}

suite('the commands of the MongoDB storage', {
  'name the workspace, or the ID in a global store, scan no collection, and use every index': () =>
    withProfiledWorkspace(async (context, profile, client) => {
      await each({ ...useCases, ...indexedReads, ...otherCalls }, async (call, name) => {
        await call(context);
        for (const { command, planSummary, ...entry } of await profile.readNext()) {
          const description = `${entry.op} ${planSummary} ${JSON.stringify(command).slice(0, 300)}`;
          assert.ok(isTargeted({ ...entry, command }), description);
          const stages = findStages(entry.execStats);
          assert.equal(stages.includes('COLLSCAN'), false, description);
          if (!(name in indexedReads)) continue;
          assert.equal(stages.includes('SORT'), false, description);
          assert.ok(Math.max(entry.docsExamined ?? 0, entry.keysExamined ?? 0) <= MAX_EXAMINED_COUNT, description);
          if (HINTED.test(name)) assert.notEqual(entry.fromMultiPlanner, true, description);
        }
      });
      const unused = [];
      for (const name of Object.keys(recordSchemas)) {
        const collection = client.db().collection(name);
        const withoutWorkspace = { workspaceId: { $not: { $type: 'string' } } } as const;
        assert.equal(await collection.countDocuments(withoutWorkspace), 0, name);
        for (const { key, accesses } of await collection.aggregate([{ $indexStats: {} }]).toArray()) {
          const index = `${name} ${Object.keys(key)}`;
          if (Number(accesses.ops) === 0 && !(index in otherIndexes)) unused.push(index);
        }
      }
      assert.deepEqual(unused, []);
    }),

  'are one that uses one index for a list with any filters': () =>
    withProfiledWorkspace(async (context, profile) => {
      const { tagId, memberId } = context;
      const narrowings = [{ tagIds: [tagId] }, { userId: memberId }, { domain: 'go.example.com' }];
      for (const sortBy of CAMPAIGN_SORTS) {
        // Campaigns of a member, tag or domain with few campaigns are found, and then sorted.
        for (const narrowing of narrowings) {
          const query = { ...narrowing, sortBy, search: 'glacier', includeArchived: true };
          await assertUsesOneIndex(context, profile, query, RECORD_COUNT / 10 + 1);
        }
        for (const filter of [undefined, ...CAMPAIGN_DATE_FILTERS]) {
          for (const filters of [{}, { search: 'glacier' }, { ...Object.assign({}, ...narrowings), page: 10 }]) {
            await assertUsesOneIndex(context, profile, { ...filters, sortBy, filter }, RECORD_COUNT);
          }
        }
      }
    }),
});
