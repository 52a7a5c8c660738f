import assert from 'node:assert/strict';
import type { ContentPillarQuery } from '../../core/content-pillar/content-pillar-service.ts';
import { OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const QUERY = { sortBy: 'createdAt', sortOrder: 'desc', page: 1, pageSize: 50 } as const;

suite('a change of a content pillar', {
  'applies to search and order immediately': async () => {
    const { app } = testCore();
    const { id: authorId } = await app.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
    const [first] = [
      await app.contentPillars.create(OWN, { authorId, title: 'A', color: 'red' }),
      await app.contentPillars.create(OWN, { authorId, title: 'B', color: 'red' }),
    ];
    const listTitles = async (query: Partial<ContentPillarQuery>) =>
      (await app.contentPillars.list(OWN, { ...QUERY, ...query })).items.map(({ title }) => title);
    await app.contentPillars.update(OWN, first.id, { title: 'Ω', description: 'Neu' });
    assert.deepEqual(await listTitles({ search: 'NEU' }), ['Ω']);
    assert.deepEqual(await listTitles({ search: 'a' }), []);
    assert.deepEqual(await listTitles({ sortBy: 'title', sortOrder: 'asc' }), ['B', 'Ω']);
  },
});
