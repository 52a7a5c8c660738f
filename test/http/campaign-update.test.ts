import assert from 'node:assert/strict';
import { operations } from '../../adapters/api/operations.ts';
import type { Campaign } from '../../core/campaign/campaign.ts';
import { each } from '../support/each.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { type Fixture, storedCampaign, withClock } from '../support/fixture.ts';
import { campaignBody } from '../support/samples.ts';
import type { ApiResponse } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const RESOURCES = [{ url: 'https://a.b', type: 'pdf', width: null, mimeType: null, order: 1 }, 'https://a.c'];
const campaignFields = operations.find(({ id }) => id === 'updateCampaign')?.body?.shape ?? {};

/** A draft in a workspace. */
interface Draft {
  readonly fixture: Fixture;
  readonly clock: { now: number };
  readonly id: string;
  patch(body: object): Promise<ApiResponse>;
  /** Returns the campaign as it is stored. */
  read(): Promise<Campaign>;
}

/** Runs a test with a draft. */
function withDraft(test: (draft: Draft) => Promise<void>, fields: object = {}): Promise<void> {
  return withClock(async (fixture, clock, api) => {
    const { id } = await fixture.create('/campaigns', { ...campaignBody, status: 'draft', ...fields });
    const patch: Draft['patch'] = (body) => fixture.call('PATCH', `/campaigns/${id}`, body);
    await test({ fixture, clock, id, patch, read: () => storedCampaign(api, fixture, id) });
  });
}

/**
 * A new value of each field that does not refer to other records. The values are in the form in which they are stored.
 */
const newValues = {
  name: 'New',
  description: 'New',
  shareContext: 'New',
  objective: 'New',
  status: 'published',
  destinationUrl: 'https://a.b',
  startDate: '2026-01-02T09:30',
  endDate: '2027-01-01',
  shareRewardAmount: '100.00',
  clickRewardAmount: '0.0001',
  maxRewardPerEmployee: '999999999999.9999',
  totalBudget: '0',
  image: 'https://a.b',
  resources: [{ url: 'https://a.b' }],
  targetShares: 7,
};

/** The times that are stored with the new dates. */
const newTimes: Readonly<Record<string, Partial<Campaign>>> = {
  startDate: { startsAt: Date.UTC(2026, 0, 2, 9, 30) },
  endDate: { endsAt: Date.UTC(2027, 0, 2) - 1 },
};

suite('PATCH /campaigns/{id}', {
  'changes one field and updatedAt, and keeps all others': () =>
    each(newValues, (value, field) =>
      withDraft(async ({ fixture, clock, id, patch, read }) => {
        const before = await read();
        clock.now += 1000;
        const changed = jsonOf(await patch({ [field]: value }));
        const updatedAt = new Date(clock.now).toISOString();
        assert.deepEqual(await read(), { ...before, [field]: value, ...newTimes[field], updatedAt });
        assert.deepEqual(jsonOf(await fixture.call('GET', `/campaigns/${id}`)), changed);
      }),
    ),

  'takes back what GET returns for a campaign and its brief, and changes nothing': () =>
    withDraft(
      async ({ fixture, clock, id, patch, read }) => {
        const before = await read();
        clock.now += 1000;
        const shown = {
          ...jsonOf(await fixture.call('GET', `/campaigns/${id}`)),
          ...jsonOf(await fixture.call('GET', `/campaigns/${id}/brief`)),
        };
        const body = Object.fromEntries(Object.entries(shown).filter(([field]) => field in campaignFields));
        assert.equal(body.destinationUrl, null);
        jsonOf(await patch(body));
        assert.deepEqual(await read(), before);
        jsonOf(await patch({ resources: [{ url: 'https://a.b' }] }));
        assert.deepEqual((await read()).resources, [{ url: 'https://a.b' }]);
      },
      { destinationUrl: '', resources: RESOURCES },
    ),

  'changes nothing, not even updatedAt, if every value equals the stored value': () =>
    withDraft(
      async ({ clock, patch, read }) => {
        const before = await read();
        clock.now += 1000;
        const same = { ...campaignBody, status: 'draft', shareRewardAmount: '100.00', resources: RESOURCES };
        for (const body of [{}, same, { resources: RESOURCES, name: ` ${campaignBody.name} ` }])
          jsonOf(await patch(body));
        assert.deepEqual(await read(), before);
        jsonOf(await patch({ shareRewardAmount: 100 }));
        const { shareRewardAmount, updatedAt } = await read();
        assert.deepEqual([shareRewardAmount, updatedAt], ['100', new Date(clock.now).toISOString()]);
      },
      { shareRewardAmount: '100.00', resources: RESOURCES },
    ),

  'lets lists find the campaign only by its new values': () =>
    withDraft(async ({ fixture, patch }) => {
      const { id } = await fixture.create('/tags');
      const find = async (query: string) => (await fixture.list(`/campaigns?${query}`)).length;
      const dates = { startDate: '2025-01-01', endDate: '2099-01-01' };
      jsonOf(await patch({ name: 'Winter', tagIds: [id.toUpperCase()], ...dates }));
      const queries = ['search=winter', `tagIds=${id}`, 'filter=active'];
      for (const query of queries) assert.equal(await find(query), 1, query);
      jsonOf(await patch({ name: 'Spring', tagIds: [], startDate: '2098-01-01' }));
      for (const query of queries) assert.equal(await find(query), 0, query);
      assert.equal(await find('filter=upcoming'), 1);
    }),
});
