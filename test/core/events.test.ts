import assert from 'node:assert/strict';
import type { Application } from '../../core/application.ts';
import type { NewCampaignFields } from '../../core/campaign/campaign.ts';
import type { DomainRecordLookup } from '../../core/domain/domain-records.ts';
import { EVENT_TYPES } from '../../core/event/event.ts';
import type { Member } from '../../core/member/member.ts';
import { DAY, NOON, OTHER, OWN, type TestCore, testCore } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const ACTOR = { workspaceId: OWN };
const ADA = { name: 'Ada', email: 'ada@x.example' } as const;

/** Makes changes, and then the change under test. Returns the ID of the changed record. */
type Change = (core: TestCore) => Promise<string>;

const createCampaign = ({ app }: TestCore, fields: Partial<NewCampaignFields>) =>
  app.campaigns.create(ACTOR, { ...createCampaignFields(), ...fields });

/** Returns a change of a new campaign from one status to others, one after another. */
const changeStatus =
  (first: 'draft' | 'published' | 'archived', ...others: readonly ('draft' | 'published' | 'archived')[]): Change =>
  async (core) => {
    const { id } = await createCampaign(core, { status: first });
    for (const status of others) await core.app.campaigns.update(ACTOR, id, { status });
    return id;
  };

const changeMember =
  (fields: object, change: (app: Application, id: string) => Promise<unknown>): Change =>
  async ({ app }) => {
    const { id } = await app.members.create(OWN, { ...ADA, ...fields });
    await change(app, id);
    return id;
  };

const update = (change: object) => (app: Application, id: string) => app.members.update(OWN, id, change);

const changeDomain =
  (change: (app: Application, id: string) => Promise<unknown>): Change =>
  async ({ app }) => {
    const { domain } = await app.domains.createOrArchive(OWN, { slug: 'go.example.com' });
    await change(app, domain.id);
    return domain.id;
  };

const shareTwice: Change = async (core) => {
  const { id } = await createCampaign(core, { status: 'published' });
  const member = (await core.app.members.create(OWN, ADA)) as unknown as Member;
  for (let i = 0; i < 2; i++) await core.app.shares.create({ workspaceId: OWN, member }, id);
  return id;
};

/** Amounts, with which one share or two clicks spend the budget. */
const BUDGET = { shareRewardAmount: '2', clickRewardAmount: '1', maxRewardPerEmployee: '9', totalBudget: '2' } as const;

/** Shares a campaign as one member after another. After the first share, `clicks` are counted. */
const spend =
  (amounts: Partial<NewCampaignFields>, memberCount: number, clicks: number, raisedBudget?: string): Change =>
  async (core) => {
    const { app } = core;
    const { id: campaignId } = await createCampaign(core, { status: 'published', ...BUDGET, ...amounts });
    const workspaceId = OWN;
    const ids: string[] = [];
    for (let i = 0; i < memberCount; i++) {
      const member = { ...((await app.members.create(OWN, { ...ADA, email: `${i}@x.example` })) as unknown as Member) };
      await app.shares.create({ workspaceId, member }, campaignId);
      ids.push(member.id);
    }
    const [memberId = ''] = ids;
    for (let sequence = 1; sequence <= clicks; sequence++) {
      const clicked = [{ campaignId, memberId, count: 1 }];
      await app.shares.addClicks({ workspaceId, processId: 'p', sequence, clicks: clicked });
      if (raisedBudget) await app.campaigns.update(ACTOR, campaignId, { totalBudget: raisedBudget });
    }
    return campaignId;
  };

const CREATED = 'member.created';
const accept = (app: Application, id: string) => app.members.accept(OWN, id);
const conflict = { kind: 'conflict' };

/** Changes, each with the types of its events. The data of the events has the ID that the change returns. */
const changes: Readonly<Record<string, readonly [Change, ...types: string[]]>> = {
  'a campaign that is created as published': [changeStatus('published'), 'campaign.published'],
  'a campaign that is created as a draft': [changeStatus('draft')],
  'a campaign that is created as archived': [changeStatus('archived')],
  'a draft that is published': [changeStatus('draft', 'published'), 'campaign.published'],
  'a draft that is archived': [changeStatus('draft', 'archived'), 'campaign.archived'],
  'a campaign that is archived': [changeStatus('published', 'archived'), 'campaign.published', 'campaign.archived'],
  'a campaign that is published again': [changeStatus('archived', 'published'), 'campaign.published'],
  'a draft that stays a draft': [changeStatus('draft', 'draft')],
  'a campaign that is published twice': [changeStatus('draft', 'published', 'published'), 'campaign.published'],
  'an edited campaign': [
    async (core) => {
      const { id } = await createCampaign(core, { status: 'published' });
      await core.app.campaigns.update(ACTOR, id, { name: 'New' });
      await core.app.campaigns.update(ACTOR, id, { name: 'Newer', status: 'published' });
      return id;
    },
    'campaign.published',
  ],
  'a change of the status that is not allowed': [
    async (core) => {
      const { id } = await createCampaign(core, { status: 'archived' });
      await assert.rejects(core.app.campaigns.update(ACTOR, id, { status: 'draft' }), conflict);
      return id;
    },
  ],
  'a deleted draft': [
    async (core) => {
      const { id } = await createCampaign(core, { status: 'draft' });
      await core.app.campaigns.remove(OWN, id);
      return id;
    },
  ],
  'a campaign that is shared twice by the same member': [
    shareTwice,
    'campaign.published',
    'member.created',
    'share.created',
  ],
  'a share of a campaign that is not running': [
    async (core) => {
      const { id } = await createCampaign(core, { status: 'draft' });
      const member = { id: 'member', name: 'Ada', seatType: 'advocate', groupIds: [] } as const;
      await assert.rejects(core.app.shares.create({ workspaceId: OWN, member }, id), conflict);
      return id;
    },
  ],
  'a share that spends the budget': [
    spend({}, 2, 1),
    'campaign.published',
    CREATED,
    'share.created',
    'campaign.budget_exhausted',
    CREATED,
    'share.created',
  ],
  'a share that spends the budget in part': [
    spend({ totalBudget: '2.0001' }, 1, 0),
    'campaign.published',
    CREATED,
    'share.created',
  ],
  'clicks that spend the budget': [
    spend({ shareRewardAmount: '0' }, 1, 3),
    'campaign.published',
    CREATED,
    'share.created',
    'campaign.budget_exhausted',
  ],
  'a budget that is spent again after it was raised': [
    spend({ shareRewardAmount: '1' }, 1, 2, '3.00'),
    'campaign.published',
    CREATED,
    'share.created',
    'campaign.budget_exhausted',
    'campaign.budget_exhausted',
  ],
  'a budget of 0': [spend({ totalBudget: '0' }, 1, 1), 'campaign.published', CREATED, 'share.created'],
  'a budget that is lowered': [
    spend({ shareRewardAmount: '0', totalBudget: '9' }, 1, 3, '1'),
    'campaign.published',
    CREATED,
    'share.created',
  ],
  'a new member': [changeMember({}, async () => undefined), CREATED],
  'a new member with an accepted invitation': [
    changeMember({ invitation: 'accepted' }, async () => undefined),
    CREATED,
  ],
  'a member with a taken email address': [
    changeMember({}, (app) => assert.rejects(app.members.create(OWN, ADA), conflict)),
    CREATED,
  ],
  'an invitation that is accepted twice': [
    changeMember({}, async (app, id) => [await accept(app, id), await accept(app, id)]),
    CREATED,
    'member.accepted',
  ],
  'an update that accepts an invitation': [
    changeMember({}, update({ invitation: 'accepted', name: 'Eve' })),
    CREATED,
    'member.accepted',
  ],
  'an update of a member': [
    changeMember({ invitation: 'accepted' }, update({ name: 'Eve' })),
    CREATED,
    'member.updated',
  ],
  'an update of a member that changes nothing': [changeMember({}, update(ADA)), CREATED],
  'an invitation that is ended': [changeMember({}, update({ invitation: 'expired' })), CREATED, 'member.updated'],
  'an invitation that is renewed': [
    async (core) => {
      const { id } = await core.app.members.create(OWN, ADA);
      core.clock.now += DAY;
      await core.app.members.update(OWN, id, { invitation: 'pending' });
      return id;
    },
    CREATED,
    'member.updated',
  ],
  'an invitation that runs out': [
    async (core) => {
      const { id } = await core.app.members.create(OWN, ADA);
      core.clock.now += 15 * DAY;
      assert.equal((await core.app.members.get(OWN, id)).invitation, 'expired');
      await assert.rejects(accept(core.app, id), { kind: 'invitation_expired' });
      return id;
    },
    CREATED,
  ],
  'a member who is deleted': [changeMember({}, (app, id) => app.members.remove(OWN, id)), CREATED, 'member.deleted'],
  'the last admin, who cannot be deleted': [
    changeMember({ role: 'admin', invitation: 'accepted' }, (app, id) =>
      assert.rejects(app.members.remove(OWN, id), conflict),
    ),
    CREATED,
  ],
  'a domain that is marked as verified twice': [
    changeDomain(async (app, id) => [await app.domains.markVerified(OWN, id), await app.domains.markVerified(OWN, id)]),
    'domain.verified',
  ],
  'a domain that is verified by its record': [
    changeDomain((app, id) => app.domains.verify(OWN, id)),
    'domain.verified',
  ],
  'a domain that is archived and unarchived after its verification': [
    changeDomain(async (app, id) => {
      await app.domains.markVerified(OWN, id);
      for (const archived of [true, false]) await app.domains.update(OWN, id, { archived });
    }),
    'domain.verified',
  ],
  'a domain that another workspace has verified': [
    changeDomain(async (app, id) => {
      const { domain } = await app.domains.createOrArchive(OTHER, { slug: 'go.example.com' });
      await app.domains.markVerified(OTHER, domain.id);
      await assert.rejects(app.domains.markVerified(OWN, id), conflict);
    }),
  ],
};

function createCore(): TestCore {
  const core: TestCore = testCore({}, { domainRecords: { findTxtRecords: async () => findRecord(core) } });
  return core;
}

async function findRecord({ app }: TestCore): Promise<DomainRecordLookup> {
  const { items } = await app.domains.list(OWN, { includeArchived: true, page: 1, pageSize: 50 });
  return { outcome: 'found', records: items.map(({ id }) => [id]) };
}

const list = async ({ app }: TestCore, workspaceId = OWN, types?: (typeof EVENT_TYPES)[number][]) =>
  (await app.events.list(workspaceId, { after: 0, pageSize: 100, types })).items;

suite('the events of a change', {
  'are those of the page, numbered, with the IDs of the records': () =>
    each(changes, async ([change, ...types], name) => {
      const core = createCore();
      const id = await change(core);
      const events = await list(core);
      assert.deepEqual(
        events.map(({ sequence, type }) => [sequence, type]),
        types.map((type, i) => [i + 1, type]),
        name,
      );
      for (const { type, data } of events) {
        const fields = type === 'share.created' ? ['campaignId', 'memberId'] : [`${type.split('.')[0]}Id`];
        assert.deepEqual(Object.keys(data), fields);
        // Some changes of a campaign also create members.
        assert.ok(Object.values(data).includes(id) || type === CREATED, `${name} ${JSON.stringify(data)}`);
      }
    }),

  'have an ID, the time of the storage, and nothing else of the record': async () => {
    const core = createCore();
    const { id } = await core.app.members.create(OWN, ADA);
    const [event] = await list(core);
    const { id: eventId, expiresAt, ...others } = event as NonNullable<typeof event>;
    assert.notEqual(eventId, id);
    assert.equal(expiresAt, NOON + 30 * DAY);
    const createdAt = new Date(NOON).toISOString();
    assert.deepEqual(others, { workspaceId: OWN, sequence: 1, type: CREATED, createdAt, data: { memberId: id } });
  },

  'are stored only once with the response of an idempotent request': async () => {
    const core = createCore();
    const request = { workspaceId: OWN, keyId: 'key', idempotencyKey: 'a', fingerprint: 'f' };
    const committed: string[] = [];
    core.storage.onEventsCommitted((workspaceId) => committed.push(workspaceId));
    for (let i = 0; i < 2; i++) await core.app.runOnce(request, (app) => app.members.create(OWN, ADA));
    const failure = new Error('no response');
    const work = async (app: Application) => {
      await app.members.create(OWN, { ...ADA, email: 'eve@x.example' });
      throw failure;
    };
    await assert.rejects(core.app.runOnce({ ...request, idempotencyKey: 'b' }, work), failure);
    assert.equal((await list(core)).length, 1);
    assert.deepEqual(committed, [OWN]);
  },

  'need no transaction for a draft and its changes': async () => {
    const core = testCore();
    const run = core.storage.unitOfWork.run;
    let transactionCount = 0;
    core.storage.unitOfWork.run = (work) => {
      transactionCount++;
      return run(work);
    };
    const { id } = await createCampaign(core, { status: 'draft' });
    await core.app.campaigns.update(ACTOR, id, { name: 'New', status: 'draft' });
    assert.equal(transactionCount, 0);
  },

  'are those of their workspace and type': async () => {
    const core = createCore();
    await core.app.members.create(OWN, ADA);
    await core.app.members.create(OTHER, ADA);
    await createCampaign(core, { status: 'published' });
    assert.deepEqual(
      (await list(core, OTHER)).map(({ sequence }) => sequence),
      [1],
    );
    assert.deepEqual(
      (await list(core, OWN, ['campaign.published'])).map(({ sequence }) => sequence),
      [2],
    );
    assert.deepEqual(
      (await list(core, OWN, [...EVENT_TYPES])).map(({ sequence }) => sequence),
      [1, 2],
    );
  },
});
