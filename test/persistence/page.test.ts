import assert from 'node:assert/strict';
import { readPage } from '../../adapters/persistence/repository.ts';
import type { Group } from '../../core/group/group.ts';
import type { Page } from '../../core/shared/page.ts';
import { OTHER, OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

/** Creates groups in two workspaces, and returns a function that reads pages of one workspace, oldest first. */
async function createGroups(count: number) {
  const { engine } = testCore();
  for (const workspaceId of [OWN, OTHER]) {
    for (let i = 0; i < count; i++) {
      const name = String(i).padStart(3, '0');
      await engine.groups.add({
        id: `${workspaceId}-${name}`,
        workspaceId,
        name,
        foldedName: name,
        description: '',
        createdAt: 'then',
      });
    }
  }
  return (page: number, pageSize: number, limit?: number): Promise<Page<Group>> =>
    readPage(
      engine.groups,
      OWN,
      { where: [], by: 'createdAt', order: 'asc' },
      { page, pageSize, limit },
      (group) => group,
    );
}

/**
 * The names of the groups on a page, and whether another page follows. `limit` is the maximum number of groups on all
 * pages.
 */
const cases = [
  { groupCount: 0, page: 1, size: 5, names: [], hasNext: false },
  { groupCount: 5, page: 1, size: 5, names: ['000', '001', '002', '003', '004'], hasNext: false },
  { groupCount: 6, page: 1, size: 5, names: ['000', '001', '002', '003', '004'], hasNext: true },
  { groupCount: 6, page: 2, size: 5, names: ['005'], hasNext: false },
  { groupCount: 6, page: 3, size: 5, names: [], hasNext: false },
  { groupCount: 6, page: Number.MAX_SAFE_INTEGER, size: 5, names: [], hasNext: false },
  { groupCount: 6, page: 1, size: 5, limit: 1, names: ['000'], hasNext: false },
  { groupCount: 6, page: 1, size: 2, limit: 2, names: ['000', '001'], hasNext: false },
  { groupCount: 6, page: 1, size: 2, limit: 3, names: ['000', '001'], hasNext: true },
  { groupCount: 6, page: 2, size: 2, limit: 3, names: ['002'], hasNext: false },
  { groupCount: 6, page: 2, size: 2, limit: 4, names: ['002', '003'], hasNext: false },
  { groupCount: 6, page: 3, size: 2, limit: 4, names: [], hasNext: false },
  { groupCount: 6, page: 3, size: 2, limit: 6, names: ['004', '005'], hasNext: false },
  { groupCount: 6, page: 3, size: 2, limit: 100, names: ['004', '005'], hasNext: false },
  {
    groupCount: 6,
    page: 1,
    size: 5,
    limit: Number.MAX_SAFE_INTEGER,
    names: ['000', '001', '002', '003', '004'],
    hasNext: true,
  },
  { groupCount: 6, page: Number.MAX_SAFE_INTEGER, size: 5, limit: 1, names: [], hasNext: false },
];

suite('a page', {
  'contains its part of the list, and tells whether another page follows': async () => {
    for (const { groupCount, page, size, limit, names, hasNext } of cases) {
      const read = await (await createGroups(groupCount))(page, size, limit);
      const title = `page ${page} of ${groupCount} groups, page size ${size}, limit ${limit}`;
      assert.deepEqual(
        read.items.map(({ name }) => name),
        names,
        title,
      );
      assert.equal(read.hasNext, hasNext, title);
    }
  },
});
