import assert from 'node:assert/strict';
import type { NewCampaignFields } from '../../core/campaign/campaign.ts';
import type { LinkOptions } from '../../core/link/link.ts';
import type { MemberActor } from '../../core/shared/actor.ts';
import { OWN, type TestCore, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields } from '../support/tenants.ts';

const ACTOR = { workspaceId: OWN };
const QUERY = { page: 1, pageSize: 9, sortBy: 'createdAt', sortOrder: 'asc' } as const;

async function createMember({ app }: TestCore, name: string): Promise<MemberActor> {
  return { ...ACTOR, member: await app.members.create(OWN, { name, email: `${name}@example.com` }) };
}

/** Creates and verifies the domain go.example.com. */
async function createVerifiedDomain({ app }: TestCore) {
  const { domain } = await app.domains.createOrArchive(OWN, { slug: 'go.example.com' });
  return app.domains.markVerified(OWN, domain.id);
}

const LINKS = { links: { baseUrl: 'https://links.example' } };
const DESTINATION = { destinationUrl: 'https://example.com/' };

suite('the link of a share', {
  'has a key of its own, and the base URL that the operator chose': async () => {
    const core = testCore({}, LINKS);
    const campaign = await core.app.campaigns.create(ACTOR, { ...createCampaignFields(), ...DESTINATION });
    const actors = [await createMember(core, 'Ada'), await createMember(core, 'Ben')];
    const links = [];
    for (const actor of actors) links.push((await core.app.shares.create(actor, campaign.id)).share.link);
    for (const link of links) assert.match(link ?? '', /^https:\/\/links\.example\/[0-9A-Za-z]{8}$/);
    assert.equal(new Set(links).size, 2);
    const { items } = await core.app.shares.list(OWN, campaign.id, QUERY);
    assert.deepEqual(items.map(({ link }) => link).toSorted(), links.toSorted());
    assert.equal((await core.app.shares.create(actors[0] as MemberActor, campaign.id)).share.link, links[0]);
    assert.ok(items.every((share) => !('linkKey' in share)));
  },

  'has the domain of the campaign while the domain is live and verified': async () => {
    const core = testCore({}, LINKS);
    const { app } = core;
    const { domain } = await app.domains.createOrArchive(OWN, { slug: 'go.example.com' });
    const fields = { ...createCampaignFields(), ...DESTINATION, domain: domain.slug };
    const { id } = await app.campaigns.create(ACTOR, fields);
    const ada = await createMember(core, 'Ada');
    const getOrigin = async () => new URL((await app.shares.create(ada, id)).share.link ?? '').origin;
    assert.equal(await getOrigin(), 'https://links.example');
    await app.domains.markVerified(OWN, domain.id);
    assert.equal(await getOrigin(), 'https://go.example.com');
    await app.domains.update(OWN, domain.id, { archived: true });
    assert.equal(await getOrigin(), 'https://links.example');
    await app.domains.update(OWN, domain.id, { archived: false });
    assert.equal(await getOrigin(), 'https://go.example.com');
  },

  'is null if links are off, the campaign has no destination, or no domain and no base URL is set': async () => {
    const getLink = async (links: LinkOptions | undefined, fields: object) => {
      const core = testCore({}, { links });
      const domain = await createVerifiedDomain(core);
      const { id } = await core.app.campaigns.create(ACTOR, { ...createCampaignFields(), ...DESTINATION, ...fields });
      const { link } = (await core.app.shares.create(await createMember(core, 'Ada'), id)).share;
      assert.equal((await core.app.shares.list(OWN, id, QUERY)).items[0]?.link, link);
      return link?.startsWith(`https://${domain.slug}/`) ?? null;
    };
    assert.equal(await getLink({}, { domain: 'go.example.com' }), true);
    assert.equal(await getLink({}, {}), null);
    assert.equal(await getLink({}, { domain: 'go.example.com', destinationUrl: null }), null);
    assert.equal(await getLink(LINKS.links, { destinationUrl: null }), null);
    assert.equal(await getLink(undefined, { domain: 'go.example.com' }), null);
  },

  'never gets the key of another link': async () => {
    const keys = ['aaaaaaaa', 'aaaaaaaa', 'bbbbbbbb'];
    const core = testCore({ newRandomText: () => keys.shift() as string }, LINKS);
    const { id } = await core.app.campaigns.create(ACTOR, { ...createCampaignFields(), ...DESTINATION });
    const share = async (name: string) => (await core.app.shares.create(await createMember(core, name), id)).share.link;
    assert.equal(await share('Ada'), 'https://links.example/aaaaaaaa');
    assert.equal(await share('Ben'), 'https://links.example/bbbbbbbb');
  },
});

/** The amounts of a campaign, as decimal strings. */
type Amounts = Pick<
  NewCampaignFields,
  'shareRewardAmount' | 'clickRewardAmount' | 'maxRewardPerEmployee' | 'totalBudget'
>;

const AMOUNTS: Amounts = {
  shareRewardAmount: '2',
  clickRewardAmount: '0.5',
  maxRewardPerEmployee: '10',
  totalBudget: '100',
};

/** A campaign that two members can share. */
async function setUpRewards(amounts: Partial<Amounts> = {}) {
  const core = testCore();
  const { app, clock, engine } = core;
  const fields = { ...createCampaignFields(), ...AMOUNTS, ...amounts };
  const { id: campaignId } = await app.campaigns.create(ACTOR, fields);
  const [ada, ben] = [await createMember(core, 'Ada'), await createMember(core, 'Ben')];
  let sequence = 0;
  return {
    ...{ app, clock, engine, campaignId, ada, ben },
    share: async (actor: MemberActor) => (await app.shares.create(actor, campaignId)).share.rewards,
    /** Stores clicks on the links of members as one batch. */
    addClicks: (...counts: readonly (readonly [MemberActor, number])[]) => {
      const clicks = counts.map(([{ member }, count]) => ({ campaignId, memberId: member.id, count }));
      return app.shares.addClicks({ workspaceId: OWN, processId: 'p', sequence: ++sequence, clicks });
    },
    setAmounts: (changed: Partial<Amounts>) => app.campaigns.update(ACTOR, campaignId, changed),
    /** Returns the rewards of Ada, of Ben, and of the campaign. */
    readRewards: async () => {
      const { items } = await app.shares.list(OWN, campaignId, QUERY);
      const of = ({ member }: MemberActor) => items.find(({ memberId }) => memberId === member.id)?.rewards;
      return [of(ada), of(ben), (await app.campaigns.getBrief(OWN, campaignId)).rewardsSpent];
    },
    /** Returns day, member, shares, clicks and rewards of each activity. */
    readActivity: async () =>
      (await engine.activity.listById(OWN, '', 99)).map((it) => {
        const name = it.memberId === ada.member.id ? 'Ada' : 'Ben';
        return [it.day, name, it.shares, it.clicks, it.rewards] as const;
      }),
  };
}

suite('the rewards of a share', {
  'are for the share and for clicks on its link, and the campaign has their sum': async () => {
    const { app, ada, ben, campaignId, share, addClicks, readRewards } = await setUpRewards();
    const { updatedAt } = await app.campaigns.getBrief(OWN, campaignId);
    assert.deepEqual([await share(ada), await share(ada), await share(ben)], ['2', '2', '2']);
    await addClicks([ada, 3], [ben, 1]);
    await addClicks([ada, 1]);
    assert.deepEqual(await readRewards(), ['4', '2.5', '6.5']);
    assert.equal((await app.shares.listOfMember(ada, QUERY)).items[0]?.rewards, '4');
    assert.equal((await app.campaigns.getBrief(OWN, campaignId)).updatedAt, updatedAt);
  },

  'are paid in part at the limit of the employee, and then in part at the limit of the budget, in the order of a batch':
    async () => {
      const { ada, ben, app, campaignId, share, addClicks, readRewards } = await setUpRewards({ totalBudget: '15.25' });
      await share(ada);
      await addClicks([ada, 17]);
      assert.deepEqual(await readRewards(), ['10', undefined, '10']);
      await share(ben);
      await addClicks([ada, 1], [ben, 9]);
      assert.deepEqual(await readRewards(), ['10', '5.25', '15.25']);
      await addClicks([ada, 1], [ben, 9]);
      assert.deepEqual(await readRewards(), ['10', '5.25', '15.25']);
      assert.equal((await app.campaigns.get(ada, campaignId)).clicks, 37);
    },

  'of one batch share what is left of the budget': async () => {
    const { ada, ben, share, addClicks, readRewards } = await setUpRewards({ totalBudget: '7' });
    await share(ada);
    await share(ben);
    await addClicks([ben, 4], [ada, 4]);
    assert.deepEqual(await readRewards(), ['3', '4', '7']);
  },

  'are nothing if a limit is 0, but shares and clicks count': async () => {
    for (const limit of ['maxRewardPerEmployee', 'totalBudget']) {
      const { ada, app, campaignId, share, addClicks, readRewards, readActivity } = await setUpRewards({
        [limit]: '0',
      });
      assert.equal(await share(ada), '0');
      await addClicks([ada, 4]);
      assert.deepEqual(await readRewards(), ['0', undefined, '0']);
      assert.deepEqual(await readActivity(), [['2026-01-31', 'Ada', 1, 4, '0']]);
      const { shares, clicks } = await app.campaigns.get(ada, campaignId);
      assert.deepEqual([shares, clicks], [1, 4]);
    }
  },

  'use the amounts at that moment: a change does not affect earlier rewards': async () => {
    const { ada, ben, share, addClicks, setAmounts, readRewards } = await setUpRewards();
    await share(ada);
    await addClicks([ada, 2]);
    await setAmounts({ shareRewardAmount: '7', clickRewardAmount: '0.0001' });
    await share(ben);
    await addClicks([ada, 1], [ben, 2]);
    assert.deepEqual(await readRewards(), ['3.0001', '7.0002', '10.0003']);
    await setAmounts({ maxRewardPerEmployee: '1', totalBudget: '2' });
    await addClicks([ada, 9]);
    assert.deepEqual(await readRewards(), ['3.0001', '7.0002', '10.0003']);
    await setAmounts({ maxRewardPerEmployee: '9', totalBudget: '10.0004' });
    await addClicks([ada, 9]);
    assert.deepEqual(await readRewards(), ['3.0002', '7.0002', '10.0004']);
  },

  'stay after the deletion of the member, and further clicks count but earn nothing': async () => {
    const { app, ada, ben, share, addClicks, readRewards, readActivity } = await setUpRewards({ totalBudget: '5' });
    await share(ada);
    await app.members.remove(OWN, ada.member.id);
    await app.members.remove(OWN, ben.member.id);
    // A server accepts the key of a deleted member for some seconds.
    assert.equal(await share(ben), '0');
    await addClicks([ada, 4], [ben, 4]);
    assert.deepEqual(await readRewards(), ['2', '0', '2']);
    assert.deepEqual((await readActivity()).toSorted(), [
      ['2026-01-31', 'Ada', 1, 4, '2'],
      ['2026-01-31', 'Ben', 1, 4, '0'],
    ]);
  },

  'are counted once if a batch of clicks is sent again': async () => {
    const { app, ada, campaignId, share, readRewards, readActivity } = await setUpRewards();
    await share(ada);
    const clicks = [{ campaignId, memberId: ada.member.id, count: 3 }];
    for (const sequence of [5, 5, 4])
      await app.shares.addClicks({ workspaceId: OWN, processId: 'p', sequence, clicks });
    assert.deepEqual(await readRewards(), ['3.5', undefined, '3.5']);
    assert.deepEqual(await readActivity(), [['2026-01-31', 'Ada', 1, 3, '3.5']]);
  },

  'are also counted by the day in UTC on the clock of the storage': async () => {
    const { clock, ada, ben, share, addClicks, readActivity } = await setUpRewards({ totalBudget: '6' });
    clock.now = Date.parse('2026-01-31T23:59:59.999Z');
    await share(ada);
    await addClicks([ada, 2]);
    clock.now++;
    await addClicks([ada, 1]);
    await share(ben);
    await addClicks([ada, 1], [ben, 5]);
    assert.deepEqual((await readActivity()).toSorted(), [
      ['2026-01-31', 'Ada', 1, 2, '3'],
      ['2026-02-01', 'Ada', 0, 2, '1'],
      ['2026-02-01', 'Ben', 1, 5, '2'],
    ]);
  },

  'of records of an earlier version start at 0': async () => {
    const { engine, app, campaignId, ada, share, addClicks, readRewards } = await setUpRewards();
    await share(ada);
    const omit = <T extends object>(it: T, field: string) =>
      Object.fromEntries(Object.entries(it).filter(([name]) => name !== field)) as T;
    await engine.campaigns.update(OWN, campaignId, (it) => omit(it, 'rewardsSpent'));
    await engine.shares.update(OWN, `${ada.member.id}/${campaignId}`, (it) => omit(it, 'rewards'));
    assert.deepEqual(await readRewards(), ['0', undefined, '0']);
    assert.equal((await app.shares.listOfMember(ada, QUERY)).items[0]?.rewards, '0');
    await addClicks([ada, 2]);
    assert.deepEqual(await readRewards(), ['1', undefined, '1']);
  },
});
