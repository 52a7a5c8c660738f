import assert from 'node:assert/strict';
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
