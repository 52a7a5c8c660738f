import assert from 'node:assert/strict';
import type { ContentPillarQuery } from '../../core/content-pillar/content-pillar-service.ts';
import { formatTimestamp } from '../../core/shared/date.ts';
import { NOON, OWN, SECOND, type TestCore, testCore } from '../support/core.ts';
import { UNKNOWN_ID } from '../support/expected-responses.ts';
import { suite } from '../support/suite.ts';

const QUERY = { sortBy: 'createdAt', sortOrder: 'desc', page: 1, pageSize: 50 } as const;

/** Creates a core with an author, and a pillar for each title, one second apart. */
async function createPillars(...titles: readonly string[]) {
  const core = testCore();
  const { id: authorId } = await core.app.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
  const createPillar = (title: string) => core.app.contentPillars.create(OWN, { authorId, title, color: 'red' });
  const pillars = [];
  for (const title of titles) {
    pillars.push(await createPillar(title));
    core.clock.now += SECOND;
  }
  return { ...core, authorId, pillars };
}

async function listTitles({ app }: TestCore, query: Partial<ContentPillarQuery>): Promise<string[]> {
  return (await app.contentPillars.list(OWN, { ...QUERY, ...query })).items.map(({ title }) => title);
}

suite('a new content pillar', {
  'is published, and has a member of the workspace as its author': async () => {
    const { app, authorId } = await createPillars();
    const { id, ...created } = await app.contentPillars.create(OWN, { authorId, title: 'Our WORK', color: 'green' });
    assert.deepEqual(created, {
      workspaceId: OWN,
      title: 'Our WORK',
      description: '',
      color: 'green',
      status: 'published',
      authorId,
      createdAt: formatTimestamp(NOON),
      updatedAt: formatTimestamp(NOON),
    });
  },
});

suite('a change of a content pillar', {
  'can archive a published pillar and publish it again': async () => {
    const { app, pillars } = await createPillars('Ours');
    const id = pillars[0]?.id as string;
    for (const status of ['archived', 'published', 'archived'] as const) {
      assert.equal((await app.contentPillars.update(OWN, id, { status })).status, status);
    }
  },

  'applies to search and order immediately': async () => {
    const core = await createPillars('A', 'B');
    await core.app.contentPillars.update(OWN, core.pillars[0]?.id as string, { title: 'Ω', description: 'Neu' });
    assert.deepEqual(await listTitles(core, { search: 'NEU' }), ['Ω']);
    assert.deepEqual(await listTitles(core, { search: 'a' }), []);
    assert.deepEqual(await listTitles(core, { sortBy: 'title', sortOrder: 'asc' }), ['B', 'Ω']);
  },

  'to the same values does not change updatedAt': async () => {
    const { app, pillars, clock } = await createPillars('Ours');
    const [pillar] = pillars;
    const id = pillar?.id as string;
    clock.now = NOON + SECOND;
    assert.deepEqual(await app.contentPillars.update(OWN, id, {}), pillar);
    assert.deepEqual(await app.contentPillars.update(OWN, id, { title: 'Ours', color: 'red' }), pillar);
    const renamed = await app.contentPillars.update(OWN, id, { title: 'ours' });
    assert.deepEqual(renamed, { ...pillar, title: 'ours', updatedAt: formatTimestamp(NOON + SECOND) });
  },
});

suite('the list of content pillars', {
  'is newest first by default, can be sorted by title, and includes archived pillars': async () => {
    const core = await createPillars('b', 'A', 'Ä', '😀', 'Z', '\uFFFD');
    await core.app.contentPillars.update(OWN, core.pillars[0]?.id as string, { status: 'archived' });
    const ascending = ['A', 'b', 'Z', 'Ä', '\uFFFD', '😀'];
    assert.deepEqual(await listTitles(core, {}), ['\uFFFD', 'Z', '😀', 'Ä', 'A', 'b']);
    assert.deepEqual(await listTitles(core, { sortOrder: 'asc' }), ['b', 'A', 'Ä', '😀', 'Z', '\uFFFD']);
    assert.deepEqual(await listTitles(core, { sortBy: 'title', sortOrder: 'asc' }), ascending);
    assert.deepEqual(await listTitles(core, { sortBy: 'title' }), [...ascending].reverse());
  },

  'orders equal titles by ID, in the requested direction': async () => {
    const core = await createPillars('Same', 'SAME', 'same');
    assert.deepEqual(await listTitles(core, { sortBy: 'title', sortOrder: 'asc' }), ['Same', 'SAME', 'same']);
    assert.deepEqual(await listTitles(core, { sortBy: 'title', sortOrder: 'desc' }), ['same', 'SAME', 'Same']);
  },

  'can be filtered by IDs, by a search term, or by both': async () => {
    const core = await createPillars('Work', 'Life', 'Lifework');
    const ids = core.pillars.slice(0, 2).map(({ id }) => id);
    assert.deepEqual(await listTitles(core, { ids }), ['Life', 'Work']);
    assert.deepEqual(await listTitles(core, { ids: [UNKNOWN_ID] }), []);
    assert.deepEqual(await listTitles(core, { search: 'LIFE' }), ['Lifework', 'Life']);
    assert.deepEqual(await listTitles(core, { search: 'LIFE', ids }), ['Life']);
    assert.deepEqual(await listTitles(core, { search: '' }), ['Lifework', 'Life', 'Work']);
    assert.deepEqual(await listTitles(core, { search: '.*' }), []);
  },
});
