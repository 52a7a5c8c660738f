import assert from 'node:assert/strict';
import { createNodeSystem } from '../../bootstrap/system.ts';
import type { Actor } from '../../core/access/caller.ts';
import { Application } from '../../core/application.ts';
import { type NewCampaign, shareId } from '../../core/campaign/campaign.ts';
import type { CampaignQuery } from '../../core/campaign/campaign-service.ts';
import { timestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, type TestCore, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const NOBODY: Actor = { workspaceId: OWN };

const FIELDS: NewCampaign = {
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
};

const QUERY: CampaignQuery = { includeArchived: false, sortBy: 'createdAt', page: 1, pageSize: 25 };

function make({ app }: TestCore, fields: Partial<NewCampaign> = {}, actor = NOBODY) {
  return app.campaigns.create(actor, { ...FIELDS, ...fields });
}

/** Makes campaigns a second apart from each other, each with its name. */
async function makeAll(core: TestCore, campaigns: Readonly<Record<string, Partial<NewCampaign>>>): Promise<void> {
  for (const [name, fields] of Object.entries(campaigns)) {
    core.clock.now += SECOND;
    await make(core, { name, ...fields });
  }
}

async function names({ app }: TestCore, query: Partial<CampaignQuery>): Promise<string[]> {
  return (await app.campaigns.list(NOBODY, { ...QUERY, ...query })).items.map(({ name }) => name);
}

async function makeMember({ app }: TestCore, workspaceId = OWN): Promise<Actor & { memberId: string }> {
  const member = await app.members.create(workspaceId, { name: 'Ada', email: 'ada@example.com' });
  return { workspaceId, member, memberId: member.id };
}

suite('a new campaign', {
  'is kept as it was sent, with no clicks and no shares': async () => {
    const core = testCore();
    const resources = [{ url: 'https://example.com/a.pdf', type: 'pdf', width: null }] as const;
    const { id, ...made } = await make(core, { resources, targetShares: 5, image: 'https://example.com/a.png' });
    assert.deepEqual(made, {
      ...FIELDS,
      resources,
      targetShares: 5,
      image: 'https://example.com/a.png',
      workspaceId: OWN,
      createdBy: null,
      archived: false,
      startsAt: Date.parse('2026-01-31T00:00:00.000Z'),
      endsAt: Date.parse('2026-01-31T23:59:59.999Z'),
      domain: null,
      tagIds: [],
      groupIds: [],
      contentPillarId: null,
      clicks: 0,
      shares: 0,
      searchText: 'spring sale\0tents, äxte and boots',
      createdAt: timestamp(NOON),
      updatedAt: timestamp(NOON),
    });
    assert.deepEqual(await core.app.campaigns.get(NOBODY, id), { id, ...made });
  },

  'has nothing of what was left out, or sent as null': async () => {
    for (const fields of [{}, { domain: null, image: null, contentPillarId: null }]) {
      const { domain, image, targetShares, contentPillarId, tagIds, groupIds, resources } = await make(
        testCore(),
        fields,
      );
      assert.deepEqual([domain, image, targetShares, contentPillarId], [null, null, null, null]);
      assert.deepEqual([tagIds, groupIds, resources], [[], [], []]);
    }
  },

  'is of the member who made it, and not yet shared; nothing is said of that to a key of no member': async () => {
    const core = testCore();
    const { memberId, ...ada } = await makeMember(core);
    const campaign = await make(core, {}, ada);
    assert.equal(campaign.createdBy, memberId);
    assert.equal(campaign.hasShared, false);
    assert.equal('hasShared' in (await make(core)), false);
  },

  'may have any of the three statuses': async () => {
    const core = testCore();
    for (const status of ['draft', 'published', 'archived'] as const) {
      const campaign = await make(core, { status });
      assert.deepEqual([campaign.status, campaign.archived], [status, status === 'archived']);
    }
  },

  'has two dates': async () => {
    const noDate = '2026-02-30';
    for (const field of ['startDate', 'endDate'] as const) {
      const made = make(testCore(), { [field]: noDate });
      await assert.rejects(made, { kind: 'invalid', message: `${field}: must be a date` });
    }
  },

  'does not end before it starts': async () => {
    const core = testCore();
    const cases = [
      ['2026-01-31', '2026-01-31', true],
      ['2026-01-31', '2026-01-30', false],
      ['2026-01-31T09:30:00Z', '2026-01-31', true],
      ['2026-01-31T23:59:59.999Z', '2026-01-31', true],
      ['2026-02-01T00:00:00Z', '2026-01-31', false],
      ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00Z', true],
      ['2026-01-31T09:30:00.001Z', '2026-01-31T09:30:00Z', false],
      ['2026-01-31T09:30:00.0009Z', '2026-01-31T09:30:00Z', true],
      ['2026-01-31T09:30:00Z', '2026-01-31T10:30:00+01:00', true],
      ['2026-01-31T09:30:00Z', '2026-01-31T10:29:59+01:00', false],
    ] as const;
    for (const [startDate, endDate, isFine] of cases) {
      const made = make(core, { startDate, endDate });
      if (isFine) assert.equal((await made).endDate, endDate);
      else await assert.rejects(made, { kind: 'invalid', message: 'endDate: must not be before startDate' });
    }
  },

  'names records of its workspace: a live domain, tags, groups, a published pillar': async () => {
    const core = testCore();
    const { app } = core;
    const { memberId: authorId } = await makeMember(core);
    const { domain } = await app.domains.createOrArchive(OWN, { slug: 'a.example' });
    const references = {
      domain: domain.slug,
      tagIds: [(await app.tags.create(OWN, 'A')).id, (await app.tags.create(OWN, 'B')).id],
      groupIds: [(await app.groups.create(OWN, { name: 'A' })).id],
      contentPillarId: (await app.contentPillars.create(OWN, { authorId, title: 'A', color: 'red' })).id,
    };
    const { tagIds, groupIds, contentPillarId, ...rest } = await make(core, references);
    assert.deepEqual({ domain: rest.domain, tagIds, groupIds, contentPillarId }, references);
    await app.contentPillars.update(OWN, contentPillarId as string, { status: 'archived' });
    await app.domains.createOrArchive(OWN, { slug: 'a.example', archived: true });
    await assert.rejects(make(core, references), {
      kind: 'invalid',
      message:
        'domain: is no live domain of the workspace; contentPillarId: is no published content pillar of the workspace',
    });
  },

  'is refused, each wrong reference named, where they are unknown or of another workspace': async () => {
    const core = testCore();
    const { app } = core;
    const { memberId: authorId } = await makeMember(core, OTHER);
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
      await assert.rejects(make(core, references), {
        kind: 'invalid',
        message: [
          'domain: is no live domain of the workspace',
          'tagIds.1: is no tag of the workspace',
          'groupIds.0: is no group of the workspace',
          'contentPillarId: is no published content pillar of the workspace',
        ].join('; '),
      });
    }
    assert.equal(await core.storage.campaigns.count(OWN, []), 0);
  },
});

suite('a share of a campaign', {
  'is counted once for each member, and seen by that one': async () => {
    const core = testCore();
    const [ada, ben] = [await makeMember(core), await makeMember(core)];
    const { id, updatedAt } = await make(core);
    core.clock.now += SECOND;
    const seen = async (actor: Actor) => (await core.app.campaigns.get(actor, id)).hasShared;
    for (let i = 0; i < 2; i++) {
      const shared = await core.app.campaigns.recordShare(OWN, id, ada.memberId);
      assert.deepEqual([shared.shares, shared.updatedAt], [1, updatedAt]);
    }
    assert.deepEqual([await seen(ada), await seen(ben), await seen(NOBODY)], [true, false, undefined]);
    assert.equal((await core.app.campaigns.recordShare(OWN, id, ben.memberId)).shares, 2);
    const { items } = await core.app.campaigns.list(ben, QUERY);
    assert.deepEqual(
      items.map(({ hasShared, shares }) => [hasShared, shares]),
      [[true, 2]],
    );
  },

  'agrees with the count of shares if it is recorded while the campaign is read': async () => {
    for (const read of ['get', 'list'] as const) {
      const core = testCore();
      const [ada, ben] = [await makeMember(core), await makeMember(core)];
      const { id } = await make(core);
      await core.app.campaigns.recordShare(OWN, id, ben.memberId);
      const { campaigns } = core.storage;
      const readAndShare = async (...asked: never[]) => {
        const found = await (campaigns[read] as (...asked: never[]) => Promise<unknown>)(...asked);
        await core.app.campaigns.recordShare(OWN, id, ada.memberId);
        return found;
      };
      const storage = { ...core.storage, campaigns: { ...campaigns, [read]: readAndShare } };
      const app = new Application(storage, createNodeSystem());
      const pair = async () => {
        const seen =
          read === 'get' ? await app.campaigns.get(ada, id) : (await app.campaigns.list(ada, QUERY)).items[0];
        return [seen?.hasShared, seen?.shares];
      };
      assert.deepEqual(await pair(), [false, 1], read);
      assert.deepEqual(await pair(), [true, 2], read);
    }
  },

  'counts as shared if it was stored without its position': async () => {
    const core = testCore();
    const ada = await makeMember(core);
    const { id } = await make(core);
    await core.app.campaigns.recordShare(OWN, id, ada.memberId);
    await core.storage.shares.update(OWN, shareId(ada.memberId, id), ({ position: _, ...share }) => share);
    assert.equal((await core.app.campaigns.get(ada, id)).hasShared, true);
  },

  'is counted once, and never lost, at the same time as others': async () => {
    const core = testCore();
    const { id } = await make(core);
    const members = await Promise.all(Array.from({ length: 5 }, () => makeMember(core)));
    const shares = [...members, ...members].map(({ memberId }) => core.app.campaigns.recordShare(OWN, id, memberId));
    await Promise.all([...shares, ...shares.map(() => core.app.campaigns.recordClicks(OWN, id, 3))]);
    const { shares: shared, clicks } = await core.app.campaigns.get(NOBODY, id);
    assert.deepEqual([shared, clicks], [5, 30]);
    for (const member of members) assert.equal((await core.app.campaigns.get(member, id)).hasShared, true);
  },

  'is by a member and of a campaign of the workspace': async () => {
    const core = testCore();
    const [own, foreign] = [await makeMember(core), await makeMember(core, OTHER)];
    const { id } = await make(core);
    for (const share of [
      () => core.app.campaigns.recordShare(OWN, id, foreign.memberId),
      () => core.app.campaigns.recordShare(OWN, id, UNKNOWN_ID),
      () => core.app.campaigns.recordShare(OWN, UNKNOWN_ID, own.memberId),
      () => core.app.campaigns.recordShare(OTHER, id, foreign.memberId),
    ]) {
      await assert.rejects(share(), { kind: 'not_found' });
    }
    assert.equal((await core.app.campaigns.get(NOBODY, id)).shares, 0);
  },
});

suite('the clicks on a campaign', {
  'are added up, and leave updatedAt': async () => {
    const core = testCore();
    const { id, updatedAt } = await make(core);
    core.clock.now += SECOND;
    await core.app.campaigns.recordClicks(OWN, id, 1);
    const clicked = await core.app.campaigns.recordClicks(OWN, id, 41);
    assert.deepEqual([clicked.clicks, clicked.updatedAt], [42, updatedAt]);
    await assert.rejects(core.app.campaigns.recordClicks(OTHER, id, 1), { kind: 'not_found' });
  },
});

suite('a campaign that is not published', {
  'can be neither shared nor clicked': async () => {
    const core = testCore();
    const { memberId } = await makeMember(core);
    for (const status of ['draft', 'archived'] as const) {
      const { id } = await make(core, { status });
      await assert.rejects(core.app.campaigns.recordShare(OWN, id, memberId), { kind: 'conflict' }, status);
      await assert.rejects(core.app.campaigns.recordClicks(OWN, id, 1), { kind: 'conflict' }, status);
      const { clicks, shares } = await core.app.campaigns.get(NOBODY, id);
      assert.deepEqual([clicks, shares], [0, 0]);
    }
  },
});

suite('the status of a campaign', {
  'is changed, with updatedAt, where it leads to the new one': async () => {
    const core = testCore();
    const { id } = await make(core, { status: 'draft' });
    let updatedAt = timestamp(NOON);
    const steps = [
      ['draft', false],
      ['published', true],
      ['published', false],
      ['archived', true],
      ['published', true],
    ] as const;
    for (const [status, changes] of steps) {
      core.clock.now += SECOND;
      if (changes) updatedAt = timestamp(core.clock.now);
      const campaign = await core.app.campaigns.setStatus(OWN, id, status);
      assert.deepEqual([campaign.status, campaign.updatedAt], [status, updatedAt]);
    }
    await assert.rejects(core.app.campaigns.setStatus(OWN, id, 'draft'), { kind: 'conflict' });
    await assert.rejects(core.app.campaigns.setStatus(OTHER, id, 'archived'), { kind: 'not_found' });
  },

  'takes an archived one out of the list, and back': async () => {
    const core = testCore();
    const { id } = await make(core);
    await core.app.campaigns.setStatus(OWN, id, 'archived');
    assert.deepEqual(await names(core, {}), []);
    assert.deepEqual(await names(core, { includeArchived: true }), ['Spring Sale']);
    await core.app.campaigns.setStatus(OWN, id, 'published');
    assert.deepEqual(await names(core, {}), ['Spring Sale']);
  },
});

suite('the list of campaigns', {
  'descends by the field that is asked for': async () => {
    const core = testCore();
    await makeAll(core, {
      first: { startDate: '2026-01-02' },
      second: { startDate: '2026-01-31T01:00+02:00', status: 'draft' },
      third: { startDate: '2026-01-30T22:59:59.999' },
    });
    const [, second] = (await core.app.campaigns.list(NOBODY, QUERY)).items;
    core.clock.now += SECOND;
    await core.app.campaigns.setStatus(OWN, second?.id as string, 'published');
    assert.deepEqual(await names(core, { sortBy: 'createdAt' }), ['third', 'second', 'first']);
    assert.deepEqual(await names(core, { sortBy: 'updatedAt' }), ['second', 'third', 'first']);
    assert.deepEqual(await names(core, { sortBy: 'startDate' }), ['second', 'third', 'first']);
  },

  'holds the windows at the time of the request': async () => {
    const core = testCore();
    await makeAll(core, {
      past: { startDate: '2026-01-29', endDate: '2026-01-30' },
      draft: { startDate: '2026-01-30', endDate: '2026-01-31', status: 'draft' },
      future: { startDate: '2026-02-01', endDate: '2026-02-02' },
      archived: { startDate: '2026-01-31', endDate: '2026-01-31', status: 'archived' },
    });
    assert.deepEqual(await names(core, { filter: 'upcoming' }), ['future']);
    assert.deepEqual(await names(core, { filter: 'active' }), ['draft']);
    assert.deepEqual(await names(core, { filter: 'non-upcoming' }), ['draft', 'past']);
    assert.deepEqual(await names(core, { filter: 'active', includeArchived: true }), ['archived', 'draft']);
    core.clock.now = Date.parse('2026-02-01');
    assert.deepEqual(await names(core, { filter: 'upcoming' }), []);
    assert.deepEqual(await names(core, { filter: 'active' }), ['future']);
  },

  'takes any of a filter, and all filters together': async () => {
    const core = testCore();
    const { app } = core;
    const { memberId, ...ada } = await makeMember(core);
    const [red, blue] = [(await app.tags.create(OWN, 'Éclair')).id, (await app.tags.create(OWN, 'ΟΔΟΣ')).id];
    await app.domains.createOrArchive(OWN, { slug: 'a.example' });
    await makeAll(core, { both: { tagIds: [red, blue] }, red: { tagIds: [red] }, blue: { tagIds: [blue] }, none: {} });
    await make(core, { name: 'hers', domain: 'a.example', tagIds: [blue], description: '' }, ada);
    const cases: readonly (readonly [Partial<CampaignQuery>, readonly string[]])[] = [
      [{ tagIds: [red] }, ['red', 'both']],
      [{ tagIds: [red, blue, UNKNOWN_ID] }, ['hers', 'blue', 'red', 'both']],
      [{ tagIds: [UNKNOWN_ID] }, []],
      [{ tagNames: ['e\u0301CLAIR'] }, ['red', 'both']],
      [{ tagNames: ['οδος'] }, ['hers', 'blue', 'both']],
      [{ tagNames: ['Éclair', 'οδοσ', 'unknown'] }, ['hers', 'blue', 'red', 'both']],
      [{ tagNames: ['Écl'] }, []],
      [{ tagIds: [red], tagNames: ['οδοσ'] }, ['both']],
      [{ userId: memberId }, ['hers']],
      [{ userId: UNKNOWN_ID }, []],
      [{ domain: 'a.example' }, ['hers']],
      [{ domain: 'b.example' }, []],
      [{ domain: null }, []],
      [{ search: 'äxTE' }, ['none', 'blue', 'red', 'both']],
      [{ search: 'ÄXTE', tagIds: [red] }, ['red', 'both']],
      [{ search: 'axte' }, []],
      [{ search: 'HER' }, ['hers']],
      [{ search: 'rs tents' }, []],
      [{ search: '.' }, []],
      [{ search: '' }, ['hers', 'none', 'blue', 'red', 'both']],
      [{ userId: memberId, tagIds: [red] }, []],
    ];
    for (const [query, expected] of cases) {
      assert.deepEqual(await names(core, query), expected, JSON.stringify(query));
    }
  },

  'ends after its limit, counted over all pages': async () => {
    const core = testCore();
    await makeAll(core, { a: {}, b: {}, c: {}, d: {} });
    const page = async (page: number, limit: number) => {
      const { items, hasNext } = await core.app.campaigns.list(NOBODY, { ...QUERY, page, pageSize: 2, limit });
      return [items.map(({ name }) => name), hasNext];
    };
    assert.deepEqual(await page(1, 3), [['d', 'c'], true]);
    assert.deepEqual(await page(2, 3), [['b'], false]);
    assert.deepEqual(await page(3, 3), [[], false]);
  },

  'is that of the workspace alone': async () => {
    const core = testCore();
    const { id } = await make(core, {}, { workspaceId: OTHER });
    assert.deepEqual(await names(core, { includeArchived: true }), []);
    await assert.rejects(core.app.campaigns.get(NOBODY, id), { kind: 'not_found' });
  },
});
