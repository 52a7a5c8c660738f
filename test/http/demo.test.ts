import assert from 'node:assert/strict';
import { serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

suite('the demo workspace', {
  'shows something in every list': () =>
    serving(async (api) => {
      const sizes = { campaigns: 6, 'inspiration-questions': 5, 'content-pillars': 3, domains: 1 };
      for (const [list, size] of Object.entries(sizes)) {
        const { status, json } = await api.call('GET', `/${list}`);
        assert.equal(status, 200);
        assert.equal(json.length, size, list);
      }
    }),
});
