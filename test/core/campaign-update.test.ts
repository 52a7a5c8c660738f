import assert from 'node:assert/strict';
import type { MemberActor } from '../../core/access/caller.ts';
import type { CampaignChange, NewCampaignFields } from '../../core/campaign/campaign.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { parseDates, type WithDateTexts } from '../support/parse-dates.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const ACTOR = { workspaceId: OWN };

function createCampaign({ app }: TestCore, fields: Partial<NewCampaignFields> = {}) {
  return app.campaigns.create(ACTOR, { ...createCampaignFields(), status: 'draft', ...fields });
}

async function createMember({ app }: TestCore): Promise<MemberActor> {
  const member = await app.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
  return { ...ACTOR, member };
}

/** Creates a record of each type that a campaign refers to. Returns the references to them. */
async function createReferences(core: TestCore) {
  const { app } = core;
  const { member } = await createMember(core);
  const { domain } = await app.domains.createOrArchive(OWN, { slug: 'a.example' });
  const pillar = await app.contentPillars.create(OWN, { authorId: member.id, title: 'A', color: 'red' });
  return {
    domain: domain.slug,
    tagIds: [(await app.tags.create(OWN, 'A')).id, (await app.tags.create(OWN, 'B')).id],
    groupIds: [(await app.groups.create(OWN, { name: 'A' })).id],
    contentPillarId: pillar.id,
  };
}

const UNKNOWN_REFERENCES = {
  domain: 'b.example',
  tagIds: [UNKNOWN_ID],
  groupIds: [UNKNOWN_ID],
  contentPillarId: UNKNOWN_ID,
};

suite('an update of a campaign', {
  'changes the given fields, keeps the others, and sets updatedAt if anything changes': async () => {
    const core = testCore();
    const created = await createCampaign(core);
    const references = await createReferences(core);
    const steps = [
      { name: 'New', status: 'published' },
      references,
      { resources: [{ url: 'https://a.b', type: 'pdf' }], shareRewardAmount: '100.00', targetShares: 7 },
      { domain: null, contentPillarId: null, targetShares: null, tagIds: [], startDate: '2026-12-31' },
    ] as const;
    let expected = created;
    for (const step of steps) {
      const change: CampaignChange = parseDates<WithDateTexts<CampaignChange>>(step);
      const startsAt = change.startDate?.time ?? expected.startsAt;
      core.clock.now += SECOND;
      expected = { ...expected, ...step, startsAt, updatedAt: formatTimestamp(core.clock.now) };
      assert.deepEqual(await core.app.campaigns.update(ACTOR, created.id, change), expected);
      core.clock.now += SECOND;
      assert.deepEqual(await core.app.campaigns.update(ACTOR, created.id, structuredClone(change)), expected);
      assert.deepEqual(await core.storage.campaigns.findById(OWN, created.id), expected);
    }
    assert.equal(created.updatedAt, formatTimestamp(NOON));
  },

  'returns hasShared for the member who updates the campaign': async () => {
    const core = testCore();
    const { id } = await createCampaign(core, { status: 'published' });
    const ada = await createMember(core);
    assert.equal((await core.app.campaigns.update(ada, id, { name: 'A' })).hasShared, false);
    await core.app.shares.createForMember(OWN, id, ada.member.id);
    const { hasShared, shares } = await core.app.campaigns.update(ada, id, { name: 'B' });
    assert.deepEqual([hasShared, shares], [true, 1]);
  },

  'is rejected with an error that names the invalid dates and each reference to an unknown record': async () => {
    const core = testCore();
    const created = await createCampaign(core);
    await assert.rejects(
      core.app.campaigns.update(ACTOR, created.id, parseDates({ ...UNKNOWN_REFERENCES, endDate: '2025-01-01' })),
      {
        kind: 'invalid',
        message: [
          'endDate: must not be before startDate',
          'domain: must be a domain of this workspace that is not archived',
          'tagIds.0: must be the ID of a tag of this workspace',
          'groupIds.0: must be the ID of a group of this workspace',
          'contentPillarId: must be the ID of a published content pillar of this workspace',
        ].join('; '),
      },
    );
    assert.deepEqual(await core.storage.campaigns.findById(OWN, created.id), created);
  },

  'keeps references to archived and deleted records in a field that is sent unchanged, but rejects them in a changed field':
    async () => {
      const core = testCore();
      const { app } = core;
      const references = await createReferences(core);
      const [firstTag = '', secondTag = ''] = references.tagIds;
      const { id } = await createCampaign(core, references);
      await app.domains.createOrArchive(OWN, { slug: references.domain, archived: true });
      await app.contentPillars.remove(OWN, references.contentPillarId);
      await app.tags.remove(OWN, firstTag);
      const changed = await app.campaigns.update(ACTOR, id, { ...references, name: 'New' });
      assert.deepEqual([changed.name, changed.tagIds], ['New', references.tagIds]);
      await assert.rejects(app.campaigns.update(ACTOR, id, { tagIds: [secondTag, firstTag] }), {
        kind: 'invalid',
        message: 'tagIds.1: must be the ID of a tag of this workspace',
      });
      await app.campaigns.update(ACTOR, id, { domain: null, contentPillarId: null, tagIds: [secondTag] });
      const { domain, contentPillarId } = references;
      await assert.rejects(app.campaigns.update(ACTOR, id, { domain, contentPillarId }), { kind: 'invalid' });
    },

  'is rejected if the transition of the status is not allowed; invalid references are reported first': async () => {
    const core = testCore();
    const { id } = await createCampaign(core, { status: 'published' });
    await assert.rejects(core.app.campaigns.update(ACTOR, id, { status: 'draft', name: 'New' }), { kind: 'conflict' });
    const change = { status: 'draft', ...UNKNOWN_REFERENCES } as const;
    await assert.rejects(core.app.campaigns.update(ACTOR, id, change), { kind: 'invalid' });
    assert.equal((await core.app.campaigns.get(ACTOR, id)).name, createCampaignFields().name);
  },

  'is not lost among concurrent updates, even if two of them set the same status': async () => {
    const core = testCore();
    const created = await createCampaign(core);
    const { id } = created;
    const changes = [
      { name: 'New' },
      { description: 'New' },
      { objective: 'New' },
      { status: 'published' },
      { status: 'published' },
      { targetShares: 9 },
    ] as const;
    await Promise.all(changes.map((change) => core.app.campaigns.update(ACTOR, id, change)));
    const stored = await core.storage.campaigns.findById(OWN, id);
    assert.deepEqual(stored, Object.assign({}, created, ...changes));
  },
});
