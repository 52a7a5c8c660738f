import assert from 'node:assert/strict';
import type { ContentPillarQuery } from '../../core/content-pillar/content-pillar-service.ts';
import { timestamp } from '../../core/shared/date.ts';
import { NOON, OTHER, OWN, SECOND, type TestCore, testCore, UNKNOWN_ID } from '../support/core.ts';
import { suite } from '../support/suite.ts';

const QUERY = { sortBy: 'createdAt', sortOrder: 'desc', page: 1, pageSize: 50 } as const;

/** A core with an author, and pillars of these titles in the order of their making. */
async function withPillars(...titles: readonly string[]) {
  const core = testCore();
  const { id: authorId } = await core.app.members.create(OWN, { name: 'Ada', email: 'ada@example.com' });
  const make = (title: string) => core.app.contentPillars.create(OWN, { authorId, title, color: 'red' });
  const pillars = [];
  for (const title of titles) {
    pillars.push(await make(title));
    core.clock.now += SECOND;
  }
  return { ...core, authorId, pillars };
}

async function titles({ app }: TestCore, query: Partial<ContentPillarQuery>): Promise<string[]> {
  return (await app.contentPillars.list(OWN, { ...QUERY, ...query })).items.map(({ title }) => title);
}

suite('a new content pillar', {
  'is published, and by a member of the workspace': async () => {
    const { app, authorId } = await withPillars();
    const { id, ...made } = await app.contentPillars.create(OWN, { authorId, title: 'Our WORK', color: 'green' });
    assert.deepEqual(made, {
      workspaceId: OWN,
      title: 'Our WORK',
      foldedTitle: 'our work',
      description: '',
      color: 'green',
      status: 'published',
      authorId,
      searchText: 'our work\0',
      createdAt: timestamp(NOON),
      updatedAt: timestamp(NOON),
    });
  },

  'is refused where its author is unknown, or of another workspace': async () => {
    const { app, authorId } = await withPillars();
    const pillar = { title: 'Ours', color: 'red' } as const;
    await assert.rejects(app.contentPillars.create(OTHER, { ...pillar, authorId }), { kind: 'not_found' });
    await assert.rejects(app.contentPillars.create(OWN, { ...pillar, authorId: UNKNOWN_ID }), { kind: 'not_found' });
  },
});

suite('a change of a content pillar', {
  'goes from published to archived and back': async () => {
    const { app, pillars } = await withPillars('Ours');
    const id = pillars[0]?.id as string;
    for (const status of ['archived', 'published', 'archived'] as const) {
      assert.equal((await app.contentPillars.update(OWN, id, { status })).status, status);
    }
  },

  'is looked at by search and order from then on': async () => {
    const core = await withPillars('A', 'B');
    await core.app.contentPillars.update(OWN, core.pillars[0]?.id as string, { title: 'Ω', description: 'Neu' });
    assert.deepEqual(await titles(core, { search: 'NEU' }), ['Ω']);
    assert.deepEqual(await titles(core, { search: 'a' }), []);
    assert.deepEqual(await titles(core, { sortBy: 'title', sortOrder: 'asc' }), ['B', 'Ω']);
  },

  'to what it is leaves updatedAt': async () => {
    const { app, pillars, clock } = await withPillars('Ours');
    const [pillar] = pillars;
    const id = pillar?.id as string;
    clock.now = NOON + SECOND;
    assert.deepEqual(await app.contentPillars.update(OWN, id, {}), pillar);
    assert.deepEqual(await app.contentPillars.update(OWN, id, { title: 'Ours', color: 'red' }), pillar);
    const renamed = await app.contentPillars.update(OWN, id, { title: 'ours' });
    assert.deepEqual(renamed, { ...pillar, title: 'ours', updatedAt: timestamp(NOON + SECOND) });
  },

  'of another workspace, or of none, is not found': async () => {
    const { app, pillars, storage } = await withPillars('Ours');
    const id = pillars[0]?.id as string;
    for (const change of [
      () => app.contentPillars.update(OTHER, id, { title: 'Theirs' }),
      () => app.contentPillars.update(OWN, UNKNOWN_ID, { title: 'Theirs' }),
      () => app.contentPillars.remove(OTHER, id),
      () => app.contentPillars.remove(OWN, UNKNOWN_ID),
    ]) {
      await assert.rejects(change(), { kind: 'not_found' });
    }
    assert.deepEqual(await storage.contentPillars.get(OWN, id), pillars[0]);
  },
});

suite('the list of content pillars', {
  'is newest first, archived ones too, or as it is asked for': async () => {
    const core = await withPillars('b', 'A', 'Ä', '😀', 'Z', '\uFFFD');
    await core.app.contentPillars.update(OWN, core.pillars[0]?.id as string, { status: 'archived' });
    const ascending = ['A', 'b', 'Z', 'Ä', '\uFFFD', '😀'];
    assert.deepEqual(await titles(core, {}), ['\uFFFD', 'Z', '😀', 'Ä', 'A', 'b']);
    assert.deepEqual(await titles(core, { sortOrder: 'asc' }), ['b', 'A', 'Ä', '😀', 'Z', '\uFFFD']);
    assert.deepEqual(await titles(core, { sortBy: 'title', sortOrder: 'asc' }), ascending);
    assert.deepEqual(await titles(core, { sortBy: 'title' }), [...ascending].reverse());
  },

  'has, of equal titles, the smaller id first, and last where it descends': async () => {
    const core = await withPillars('Same', 'SAME', 'same');
    assert.deepEqual(await titles(core, { sortBy: 'title', sortOrder: 'asc' }), ['Same', 'SAME', 'same']);
    assert.deepEqual(await titles(core, { sortBy: 'title', sortOrder: 'desc' }), ['same', 'SAME', 'Same']);
  },

  'is narrowed by ids and by search together': async () => {
    const core = await withPillars('Work', 'Life', 'Lifework');
    const ids = core.pillars.slice(0, 2).map(({ id }) => id);
    assert.deepEqual(await titles(core, { ids }), ['Life', 'Work']);
    assert.deepEqual(await titles(core, { ids: [UNKNOWN_ID] }), []);
    assert.deepEqual(await titles(core, { search: 'LIFE' }), ['Lifework', 'Life']);
    assert.deepEqual(await titles(core, { search: 'LIFE', ids }), ['Life']);
    assert.deepEqual(await titles(core, { search: '' }), ['Lifework', 'Life', 'Work']);
    assert.deepEqual(await titles(core, { search: '.*' }), []);
  },
});
