import assert from 'node:assert/strict';
import { withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

suite('the demo workspace', {
  'has records in every list and for each filter by status and date': () =>
    withService(async (api) => {
      const sizes = { campaigns: 7, 'inspiration-questions': 5, 'content-pillars': 3, domains: 1, groups: 3, tags: 4 };
      const expectedSizes = {
        ...sizes,
        'campaigns?includeArchived=true': 8,
        'campaigns?filter=upcoming': 2,
        'campaigns?filter=active': 4,
        'campaigns?filter=non-upcoming': 5,
        'inspiration-questions?includeArchived=true': 6,
        'inspiration-questions?isActive=false': 1,
        'inspiration-questions?availableToMe=true': 2,
      };
      for (const [list, size] of Object.entries(expectedSizes)) {
        const { status, json } = await api.call('GET', `/${list}`);
        assert.equal(status, 200);
        assert.equal(json.length, size, list);
      }
      const listStatuses = async (list: string) => {
        const { json } = await api.call('GET', list);
        return [...new Set(json.map((record: { status: string }) => record.status))].sort();
      };
      assert.deepEqual(await listStatuses('/campaigns?includeArchived=true'), ['archived', 'draft', 'published']);
      assert.deepEqual(await listStatuses('/content-pillars'), ['archived', 'published']);
    }),

  'has clicks on each of the last four weeks, with rewards that exhaust one of the budgets': () =>
    withService(async ({ call }) => {
      const list = async (path: string) => (await call('GET', path)).json;
      const days: { key: string; clicks: number }[] = await list('/analytics?groupBy=day');
      const active = days.filter(({ clicks }) => clicks > 0).map(({ key }) => key);
      assert.deepEqual(
        active,
        days.slice(-27).map(({ key }) => key),
      );
      const [total] = await list('/analytics?groupBy=total');
      assert.equal(total.shares, 6);
      const campaigns: { id: string; clicks: number }[] = await list('/campaigns?status=published');
      assert.equal(sum(campaigns.map(({ clicks }) => clicks)), total.clicks);
      const briefs: { rewardsSpent: string; totalBudget: string }[] = await list(
        `/briefs?campaignIds=${campaigns.map(({ id }) => id)}`,
      );
      assert.equal(
        sum(briefs.map(({ rewardsSpent }) => Number(rewardsSpent))).toFixed(2),
        Number(total.rewards).toFixed(2),
      );
      assert.equal(briefs.filter(({ rewardsSpent, totalBudget }) => rewardsSpent === totalBudget).length, 1);
    }),

  'has a campaign with shares of all members, and with a brief without empty fields': () =>
    withService(async ({ call }) => {
      const [{ id }] = (await call('GET', '/campaigns?search=tents')).json;
      const shares = (await call('GET', `/campaigns/${id}/shares?sortOrder=asc`)).json;
      const { member } = (await call('GET', '/me')).json;
      assert.deepEqual(shares.map((share: { memberName: string }) => share.memberName).sort(), [
        'Ada Winter',
        'Ben Sommer',
      ]);
      assert.equal(member.name, 'Ada Winter');
      const brief = (await call('GET', `/campaigns/${id}/brief`)).json;
      for (const [field, value] of Object.entries(brief)) {
        assert.ok(Array.isArray(value) ? value.length > 0 : value !== null && value !== '', field);
      }
    }),
});
