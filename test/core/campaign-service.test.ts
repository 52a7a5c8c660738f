import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import type { Actor } from '../../core/access/caller.ts';
import { Application } from '../../core/application.ts';
import type { NewCampaignFields } from '../../core/campaign/campaign.ts';
import type { CampaignQuery } from '../../core/campaign/campaign-service.ts';
import { getTargetType } from '../../core/link/link.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { DAY, NOON, OTHER, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { parseDates, type WithDateTexts } from '../support/parse-dates.ts';
import { suite } from '../support/suite.ts';

const NO_MEMBER: Actor = { workspaceId: OWN };

const FIELDS = {
  name: 'Spring Sale',
  description: 'Tents, ÄXTE and boots',
  shareContext: '',
  objective: '',
  status: 'published',
  destinationUrl: null,
  startDate: '2026-01-31',
  endDate: '2026-01-31',
  shareRewardAmount: '0.50',
  clickRewardAmount: '0',
  maxRewardPerEmployee: '12',
  totalBudget: '123456789012.3456',
} as const;

type CampaignFields = WithDateTexts<Partial<NewCampaignFields>>;

const QUERY: CampaignQuery = { includeArchived: false, sortBy: 'createdAt', page: 1, pageSize: 25 };

function createCampaign({ app }: TestCore, fields: CampaignFields = {}, actor = NO_MEMBER) {
  return app.campaigns.create(actor, parseDates({ ...FIELDS, ...fields }));
}

async function createMember({ app }: TestCore, workspaceId = OWN): Promise<Actor & { memberId: string }> {
  const member = await app.members.create(workspaceId, { name: 'Ada', email: 'ada@example.com' });
  return { workspaceId, member, memberId: member.id };
}

suite('a new campaign', {
  'is stored as it was sent, with no clicks and no shares': async () => {
    const core = testCore();
    const resources = [{ url: 'https://example.com/a.pdf', type: 'pdf', width: 0 }] as const;
    const { id, ...created } = await createCampaign(core, {
      resources,
      targetShares: 5,
      image: 'https://example.com/a.png',
    });
    assert.deepEqual(created, {
      ...FIELDS,
      startsAt: Date.UTC(2026, 0, 31),
      endsAt: Date.UTC(2026, 1, 1) - 1,
      resources,
      targetShares: 5,
      image: 'https://example.com/a.png',
      workspaceId: OWN,
      createdBy: null,
      domain: null,
      tagIds: [],
      groupIds: [],
      contentPillarId: null,
      clicks: 0,
      shares: 0,
      createdAt: formatTimestamp(NOON),
      updatedAt: formatTimestamp(NOON),
    });
    assert.deepEqual(await core.storage.campaigns.findById(OWN, id), { id, ...created });
    assert.equal((await createCampaign(core)).image, null);
  },

  'starts and ends at the times of its parsed dates, even if their texts are not dates': async () => {
    const { app, storage } = testCore();
    const startDate = { text: 'the start', time: NOON };
    const endDate = { text: 'the end', time: NOON + SECOND };
    const campaign = await app.campaigns.create(NO_MEMBER, { ...FIELDS, startDate, endDate });
    await app.campaigns.update(NO_MEMBER, campaign.id, { endDate: { text: 'later', time: NOON + DAY } });
    const dates = { startDate: 'the start', startsAt: NOON, endDate: 'later', endsAt: NOON + DAY };
    const stored = await storage.campaigns.findById(OWN, campaign.id);
    assert.deepEqual(stored, { ...campaign, ...dates });
    assert.equal((await app.campaigns.list(NO_MEMBER, { ...QUERY, filter: 'active' })).items.length, 1);
    assert.equal(
      getTargetType({ ...campaign, ...dates, destinationUrl: 'https://a.b', domain: undefined }, NOON),
      'destination',
    );
  },

  'cannot end before it starts': async () => {
    const core = testCore();
    const cases = [
      ['2026-01-31', '2026-01-31', true],
      ['2026-01-31', '2026-01-30', false],
      ['2026-01-31T23:59:59.999Z', '2026-01-31', true],
      ['2026-02-01T00:00:00Z', '2026-01-31', false],
      ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00Z', true],
      ['2026-01-31T09:30:00.001Z', '2026-01-31T09:30:00Z', false],
    ] as const;
    for (const [startDate, endDate, isValid] of cases) {
      const creation = createCampaign(core, { startDate, endDate });
      if (isValid) assert.equal((await creation).endDate, endDate);
      else await assert.rejects(creation, { kind: 'invalid', message: 'endDate: must not be before startDate' });
    }
  },

  'can refer to records of its workspace, but not to an archived domain or content pillar': async () => {
    const core = testCore();
    const { app } = core;
    const { memberId: authorId } = await createMember(core);
    const { domain } = await app.domains.createOrArchive(OWN, { slug: 'a.example' });
    const references = {
      domain: domain.slug,
      tagIds: [(await app.tags.create(OWN, 'A')).id, (await app.tags.create(OWN, 'B')).id],
      groupIds: [(await app.groups.create(OWN, { name: 'A' })).id],
      contentPillarId: (await app.contentPillars.create(OWN, { authorId, title: 'A', color: 'red' })).id,
    };
    const { tagIds, groupIds, contentPillarId, ...rest } = await createCampaign(core, references);
    assert.deepEqual({ domain: rest.domain, tagIds, groupIds, contentPillarId }, references);
    await app.contentPillars.update(OWN, contentPillarId as string, { status: 'archived' });
    await app.domains.createOrArchive(OWN, { slug: 'a.example', archived: true });
    await assert.rejects(createCampaign(core, references), {
      kind: 'invalid',
      message:
        'domain: must be a domain of this workspace that is not archived; contentPillarId: must be the ID of a published content pillar of this workspace',
    });
  },

  'is rejected with an error that names each reference to a record that its workspace does not have': async () => {
    const core = testCore();
    const { app } = core;
    const { memberId: authorId } = await createMember(core, OTHER);
    await app.domains.createOrArchive(OTHER, { slug: 'a.example' });
    const own = (await app.tags.create(OWN, 'A')).id;
    const foreign = {
      domain: 'a.example',
      tagIds: [own, (await app.tags.create(OTHER, 'A')).id],
      groupIds: [(await app.groups.create(OTHER, { name: 'A' })).id],
      contentPillarId: (await app.contentPillars.create(OTHER, { authorId, title: 'A', color: 'red' })).id,
    };
    const unknown = {
      domain: 'b.example',
      tagIds: [own, UNKNOWN_ID],
      groupIds: [UNKNOWN_ID],
      contentPillarId: UNKNOWN_ID,
    };
    for (const references of [foreign, unknown]) {
      await assert.rejects(createCampaign(core, references), {
        kind: 'invalid',
        message: [
          'domain: must be a domain of this workspace that is not archived',
          'tagIds.1: must be the ID of a tag of this workspace',
          'groupIds.0: must be the ID of a group of this workspace',
          'contentPillarId: must be the ID of a published content pillar of this workspace',
        ].join('; '),
      });
    }
    assert.equal(await core.engine.campaigns.count(OWN, []), 0);
  },
});

suite('a share of a campaign', {
  'is counted once for each member, and sets hasShared for this member only': async () => {
    const core = testCore();
    const [ada, ben] = [await createMember(core), await createMember(core)];
    const { id, updatedAt } = await createCampaign(core);
    core.clock.now += SECOND;
    const getHasShared = async (actor: Actor) => (await core.app.campaigns.get(actor, id)).hasShared;
    for (let i = 0; i < 2; i++) {
      const shared = await core.app.shares.createForMember(OWN, id, ada.memberId);
      assert.deepEqual([shared.shares, shared.updatedAt], [1, updatedAt]);
    }
    const views = [await getHasShared(ada), await getHasShared(ben), await getHasShared(NO_MEMBER)];
    assert.deepEqual(views, [true, false, undefined]);
    assert.equal((await core.app.shares.createForMember(OWN, id, ben.memberId)).shares, 2);
    const { items } = await core.app.campaigns.list(ben, QUERY);
    assert.deepEqual(
      items.map(({ hasShared, shares }) => [hasShared, shares]),
      [[true, 2]],
    );
  },

  'is visible in both hasShared and shares, or in neither, even if it is recorded during a read': async () => {
    for (const read of ['findSummary', 'findPage'] as const) {
      const core = testCore();
      const [ada, ben] = [await createMember(core), await createMember(core)];
      const { id } = await createCampaign(core);
      await core.app.shares.createForMember(OWN, id, ben.memberId);
      const { campaigns } = core.storage;
      const readAndShare = async (...args: never[]) => {
        const found = await (campaigns[read] as (...args: never[]) => Promise<unknown>)(...args);
        await core.app.shares.createForMember(OWN, id, ada.memberId);
        return found;
      };
      const storage = { ...core.storage, campaigns: { ...campaigns, [read]: readAndShare } };
      const app = new Application(storage, createNodeSystem());
      const readPair = async () => {
        const view =
          read === 'findSummary' ? await app.campaigns.get(ada, id) : (await app.campaigns.list(ada, QUERY)).items[0];
        return [view?.hasShared, view?.shares];
      };
      assert.deepEqual(await readPair(), [false, 1], read);
      assert.deepEqual(await readPair(), [true, 2], read);
    }
  },

  'is counted once and never lost among concurrent shares and clicks': async () => {
    const core = testCore();
    const { id } = await createCampaign(core);
    const members = await Promise.all(Array.from({ length: 5 }, () => createMember(core)));
    const shares = [...members, ...members].map(({ memberId }) => core.app.shares.createForMember(OWN, id, memberId));
    await Promise.all([...shares, ...shares.map(() => core.app.campaigns.recordClicks(OWN, id, 3))]);
    const { shares: shared, clicks } = await core.app.campaigns.get(NO_MEMBER, id);
    assert.deepEqual([shared, clicks], [5, 30]);
    for (const member of members) assert.equal((await core.app.campaigns.get(member, id)).hasShared, true);
  },
});

suite('the clicks on a campaign', {
  'are added up, and do not change updatedAt': async () => {
    const core = testCore();
    const { id, updatedAt } = await createCampaign(core);
    core.clock.now += SECOND;
    await core.app.campaigns.recordClicks(OWN, id, 1);
    const clicked = await core.app.campaigns.recordClicks(OWN, id, 41);
    assert.deepEqual([clicked.clicks, clicked.updatedAt], [42, updatedAt]);
  },
});

suite('a campaign that is not published', {
  'cannot be shared or clicked': async () => {
    const core = testCore();
    const { memberId } = await createMember(core);
    for (const status of ['draft', 'archived'] as const) {
      const { id } = await createCampaign(core, { status });
      await assert.rejects(core.app.shares.createForMember(OWN, id, memberId), { kind: 'conflict' }, status);
      await assert.rejects(core.app.campaigns.recordClicks(OWN, id, 1), { kind: 'conflict' }, status);
      const { clicks, shares } = await core.app.campaigns.get(NO_MEMBER, id);
      assert.deepEqual([clicks, shares], [0, 0]);
    }
  },
});
