import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Group } from '../../core/group/group.ts';
import { type Page, readPage } from '../../core/shared/page.ts';
import { OTHER, OWN, testCore } from '../support/core.ts';
import { suite } from '../support/suite.ts';

/** Reads pages of as many groups as are asked for, oldest first; another workspace has groups too. */
async function pagesOf(count: number) {
  const { storage } = testCore();
  for (const workspaceId of [OWN, OTHER]) {
    for (let i = 0; i < count; i++) {
      const name = String(i).padStart(3, '0');
      await storage.groups.add({
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
    readPage(storage.groups, OWN, { where: [], by: 'createdAt', order: 'asc' }, { page, pageSize, limit });
}

/** The names of a page's groups, and whether another page holds something. */
const cases = [
  { of: 0, page: 1, size: 5, names: [], hasNext: false },
  { of: 5, page: 1, size: 5, names: ['000', '001', '002', '003', '004'], hasNext: false },
  { of: 6, page: 1, size: 5, names: ['000', '001', '002', '003', '004'], hasNext: true },
  { of: 6, page: 2, size: 5, names: ['005'], hasNext: false },
  { of: 6, page: 3, size: 5, names: [], hasNext: false },
  { of: 6, page: Number.MAX_SAFE_INTEGER, size: 5, names: [], hasNext: false },
  { of: 6, page: 1, size: 5, limit: 1, names: ['000'], hasNext: false },
  { of: 6, page: 1, size: 2, limit: 2, names: ['000', '001'], hasNext: false },
  { of: 6, page: 1, size: 2, limit: 3, names: ['000', '001'], hasNext: true },
  { of: 6, page: 2, size: 2, limit: 3, names: ['002'], hasNext: false },
  { of: 6, page: 2, size: 2, limit: 4, names: ['002', '003'], hasNext: false },
  { of: 6, page: 3, size: 2, limit: 4, names: [], hasNext: false },
  { of: 6, page: 3, size: 2, limit: 6, names: ['004', '005'], hasNext: false },
  { of: 6, page: 3, size: 2, limit: 100, names: ['004', '005'], hasNext: false },
  {
    of: 6,
    page: 1,
    size: 5,
    limit: Number.MAX_SAFE_INTEGER,
    names: ['000', '001', '002', '003', '004'],
    hasNext: true,
  },
  { of: 6, page: Number.MAX_SAFE_INTEGER, size: 5, limit: 1, names: [], hasNext: false },
];

suite('a page', {
  'holds its part of the listing, and knows whether another holds something': async () => {
    for (const { of, page, size, limit, names, hasNext } of cases) {
      const read = await (await pagesOf(of))(page, size, limit);
      const title = `page ${page} of ${of} by ${size}, limit ${limit}`;
      assert.deepEqual(
        read.items.map(({ name }) => name),
        names,
        title,
      );
      assert.equal(read.hasNext, hasNext, title);
    }
  },

  'after page covers the listing once up to its limit, whatever the size': async () => {
    const size = fc.integer({ min: 1, max: 12 });
    const limit = fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 }), size, limit, async (count, pageSize, most) => {
        const read = await pagesOf(count);
        const names: string[] = [];
        for (let page = 1, hasNext = true; hasNext; page++) {
          const { items, hasNext: more } = await read(page, pageSize, most);
          assert.ok(items.length === pageSize || (items.length < pageSize && !more));
          assert.ok(items.length > 0 || page === 1);
          names.push(...items.map(({ name }) => name));
          hasNext = more;
        }
        const all = Array.from({ length: count }, (_, i) => String(i).padStart(3, '0'));
        assert.deepEqual(names, all.slice(0, most));
      }),
    );
  },
});
