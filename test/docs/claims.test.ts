import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');

/** The pages with a table of claims, and the header of the first column of this table. */
const pages: Readonly<Record<string, string>> = { 'docs/reliability.md': 'failure', 'SECURITY.md': 'attack' };

for (const [page, header] of Object.entries(pages)) {
  suite(page, {
    [`names an existing test for each claim in ${page}`]: () => {
      const [, table = ''] = readFileSync(join(root, page), 'utf8').split(`| ${header} |`);
      const [, , ...rows] = (table.split('\n\n')[0] as string).split('\n');
      assert.ok(rows.length > 5);
      for (const row of rows) {
        const paths = row.match(/test\/[\w./-]+\.test\.ts/g) ?? [];
        assert.ok(paths.length > 0 && paths.every((path) => existsSync(join(root, path))), row);
      }
    },
  });
}
