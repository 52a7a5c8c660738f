import assert from 'node:assert/strict';
import { jsonOf } from '../support/expected-responses.ts';
import { type Fixture, withClock, withFixture } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import { suite } from '../support/suite.ts';
import { createKey } from '../support/tenants.ts';

async function createRecords({ create }: Fixture) {
  const tags = [await create('/tags', { name: 'Launch' }), await create('/tags', { name: 'Hiring' })];
  const groups = [await create('/groups', { name: 'Sales' }), await create('/groups', { name: 'Lisbon' })];
  const pillar = await create('/content-pillars', { title: 'Life', color: 'green', description: 'Not shown' });
  const { slug } = await create('/domains', { slug: 'go.example.com' });
  return { tags, groups, pillar, slug };
}

suite('GET /campaigns/{id}/brief', {
  'returns the fields that GET /campaigns/{id} omits, and the records that the campaign refers to': () =>
    withClock(async (fixture) => {
      const { tags, groups, pillar, slug } = await createRecords(fixture);
      const { id } = await fixture.create('/campaigns', {
        shareContext: 'Say why.',
        objective: 'Reach',
        image: 'https://example.com/a.png',
        domain: slug,
        tagIds: [tags[1].id.toUpperCase(), tags[0].id],
        groupIds: [groups[1].id, groups[0].id],
        contentPillarId: pillar.id,
        shareRewardAmount: '100.00',
        clickRewardAmount: 0.05,
        maxRewardPerEmployee: 1e3,
        totalBudget: '999999999999.9999',
        resources: ['https://example.com/b.pdf', { url: 'https://example.com/c.mp4', type: 'video', size: 0.5 }],
      });
      const absent = { mimeType: null, width: null, height: null, thumbnailUrl: null, language: null, order: null };
      const brief = {
        campaignId: id,
        shareContext: 'Say why.',
        objective: 'Reach',
        image: 'https://example.com/a.png',
        domain: slug,
        resources: [
          { ...absent, url: 'https://example.com/b.pdf', type: null, size: null },
          { ...absent, url: 'https://example.com/c.mp4', type: 'video', size: 0.5 },
        ],
        tags: [tags[1], tags[0]],
        groups: [groups[1], groups[0]].map(({ id, name }) => ({ id, name })),
        contentPillar: { id: pillar.id, title: 'Life', color: 'green' },
        shareRewardAmount: '100.00',
        clickRewardAmount: '0.05',
        maxRewardPerEmployee: '1000',
        totalBudget: '999999999999.9999',
        rewardsSpent: '0',
        createdBy: fixture.admin.id,
        updatedAt: '2026-01-31T09:00:00.000Z',
      };
      assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${id.toUpperCase()}/brief`)), brief);

      await fixture.call('PATCH', `/tags/${tags[1].id}`, { name: 'Jobs' });
      await fixture.call('DELETE', `/tags/${tags[0].id}`);
      await fixture.call('PATCH', `/groups/${groups[0].id}`, { name: 'Support' });
      await fixture.call('DELETE', `/content-pillars/${pillar.id}`);
      assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${id}/brief`)), {
        ...brief,
        tags: [{ ...tags[1], name: 'Jobs' }],
        groups: [brief.groups[0], { id: groups[0].id, name: 'Support' }],
        contentPillar: null,
      });
    }),

  'returns null and empty lists for absent values': () =>
    withFixture(async ({ workspaceId }, api) => {
      const { call } = api;
      const key = await createKey(api, workspaceId);
      const campaign = jsonOf(await call('POST', '/campaigns', { key, body: campaignBody }), 201);
      const { image, domain, resources, tags, groups, contentPillar, createdBy } = jsonOf(
        await call('GET', `/campaigns/${campaign.id}/brief`, { key }),
      );
      assert.deepEqual([image, domain, contentPillar, createdBy], [null, null, null, null]);
      assert.deepEqual([resources, tags, groups], [[], [], []]);
    }),

  'shows an archived content pillar, and a campaign of any status': () =>
    withFixture(async (fixture) => {
      const { pillar } = await createRecords(fixture);
      const { id } = await fixture.create('/campaigns', { status: 'draft', contentPillarId: pillar.id });
      await fixture.call('PATCH', `/content-pillars/${pillar.id}`, { status: 'archived' });
      for (const status of ['draft', 'published', 'archived']) {
        await fixture.call('PATCH', `/campaigns/${id}`, { status });
        assert.equal(jsonOf(await fixture.call('GET', `/campaigns/${id}/brief`)).contentPillar.id, pillar.id, status);
      }
    }),
});
