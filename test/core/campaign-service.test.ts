import assert from 'node:assert/strict';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { Application } from '../../core/application.ts';
import type { NewCampaignFields } from '../../core/campaign/campaign.ts';
import type { CampaignQuery } from '../../core/campaign/campaign-service.ts';
import type { MemberActor } from '../../core/shared/actor.ts';
import { OWN, type TestCore, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const ACTOR = { workspaceId: OWN };
const QUERY: CampaignQuery = { includeArchived: false, sortBy: 'createdAt', page: 1, pageSize: 25 };

function createCampaign({ app }: TestCore, fields: Partial<NewCampaignFields> = {}) {
  return app.campaigns.create(ACTOR, { ...createCampaignFields(), ...fields });
}

async function createMember({ app }: TestCore, email = 'ada@example.com'): Promise<MemberActor> {
  const member = await app.members.create(OWN, { name: 'Ada', email });
  return { ...ACTOR, member };
}

/** Creates a record of each type that a campaign refers to. Returns the references to them. */
async function createReferences(core: TestCore) {
  const { app } = core;
  const { member } = await createMember(core);
  const { domain } = await app.domains.createOrArchive(OWN, { slug: 'a.example' });
  const pillar = await app.contentPillars.create({ workspaceId: OWN, member }, { title: 'A', color: 'red' });
  return {
    domain: domain.slug,
    tagIds: [(await app.tags.create(OWN, { name: 'A' })).id, (await app.tags.create(OWN, { name: 'B' })).id],
    groupIds: [(await app.groups.create(OWN, { name: 'A' })).id],
    contentPillarId: pillar.id,
  };
}

suite('an update of a campaign', {
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
});

suite('a share of a campaign', {
  'is visible in both hasShared and shares, or in neither, even if it is recorded during a read': async () => {
    for (const read of ['findSummary', 'findPage'] as const) {
      const core = testCore();
      const [ada, ben] = [await createMember(core), await createMember(core, 'ben@example.com')];
      const { id } = await createCampaign(core);
      await core.app.shares.create(ben, id);
      const { campaigns } = core.storage;
      const readAndShare = async (...args: never[]) => {
        const found = await (campaigns[read] as (...args: never[]) => Promise<unknown>)(...args);
        await core.app.shares.create(ada, id);
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
});
