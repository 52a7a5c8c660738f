import assert from 'node:assert/strict';
import type { MemberActor } from '../../core/access/caller.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { OWN, SECOND, type TestCore, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';

const ACTOR = { workspaceId: OWN };
const QUERY = { page: 1, pageSize: 9, sortBy: 'createdAt', sortOrder: 'asc' } as const;

const createCampaign = ({ app }: TestCore) => app.campaigns.create(ACTOR, createCampaignBody());

async function createMember({ app }: TestCore, name: string): Promise<MemberActor> {
  return { ...ACTOR, member: await app.members.create(OWN, { name, email: 'ada@example.com' }) };
}

suite('a share', {
  'is new the first time, and is the same share afterwards, even if the campaign is archived': async () => {
    const core = testCore();
    const { campaigns, shares } = core.app;
    const { id, updatedAt } = await createCampaign(core);
    const ada = await createMember(core, 'Ada');
    core.clock.now += SECOND;
    const created = await shares.create(ada, id);
    const { workspaceId, ...share } = created.share;
    assert.deepEqual(
      [created.isNew, share],
      [
        true,
        {
          id: `${ada.member.id}/${id}`,
          campaignId: id,
          memberId: ada.member.id,
          memberName: 'Ada',
          position: 1,
          clicks: 0,
          link: null,
          createdAt: formatTimestamp(core.clock.now),
        },
      ],
    );
    const archived = await campaigns.update(ACTOR, id, { status: 'archived' });
    assert.equal(archived.shares, 1);
    assert.deepEqual(await shares.create(ada, id), { share: created.share, isNew: false });
    assert.deepEqual(await shares.record(OWN, id, ada.member.id), { ...archived });
    await assert.rejects(shares.create(await createMember(core, 'Ben'), id), {
      kind: 'conflict',
      message: 'The campaign is archived. Only a published campaign can be shared or clicked.',
    });
    assert.notEqual(archived.updatedAt, updatedAt, 'only the status has changed the campaign');
  },

  'is listed with the current name of the member': async () => {
    const core = testCore();
    const { members, shares } = core.app;
    const [one, other] = [await createCampaign(core), await createCampaign(core)];
    const [ada, ben] = [await createMember(core, 'Ada'), await createMember(core, 'Ben')];
    for (const actor of [ada, ben]) await shares.create(actor, one.id);
    await shares.create(ben, other.id);
    await members.update(OWN, ada.member.id, { name: 'Ada King' });
    const listNames = async (id: string, memberId?: string) =>
      (await shares.list(OWN, id, { ...QUERY, memberId })).items.map(({ memberName }) => memberName);
    assert.deepEqual((await listNames(one.id)).toSorted(), ['Ada King', 'Ben']);
    assert.deepEqual(await listNames(one.id, ada.member.id), ['Ada King']);
    assert.deepEqual(await listNames(other.id), ['Ben']);
    assert.deepEqual(await listNames(other.id, ada.member.id), []);
    assert.deepEqual(await listNames(one.id, UNKNOWN_ID), []);
  },
});
