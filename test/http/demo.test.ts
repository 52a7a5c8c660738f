import assert from 'node:assert/strict';
import { withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

suite('the demo workspace', {
  'has records in every list and for each filter by status and date': () =>
    withService(async (api) => {
      const sizes = { campaigns: 7, 'inspiration-questions': 5, 'content-pillars': 3, domains: 1 };
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
});
