import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');

/** The pages that promise something in a table, each with the head of the table's first column. */
const pages: Readonly<Record<string, string>> = { 'docs/promises.md': 'what happens', 'SECURITY.md': 'attack' };

for (const [page, head] of Object.entries(pages)) {
  suite(page, {
    'names for each promise a test that there is': () => {
      const [, table = ''] = readFileSync(join(root, page), 'utf8').split(`| ${head} |`);
      const [, , ...rows] = (table.split('\n\n')[0] as string).split('\n');
      assert.ok(rows.length > 5);
      for (const row of rows) {
        const paths = row.match(/test\/[\w./-]+\.test\.ts/g) ?? [];
        assert.ok(paths.length > 0 && paths.every((path) => existsSync(join(root, path))), row);
      }
    },
  });
}
