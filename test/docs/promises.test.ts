import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/promises.md'), 'utf8');

suite('docs/promises.md', {
  'names for each promise a test that there is': () => {
    const rows = page.split('\n').filter((line) => /^\| (?!what happens)/.test(line));
    assert.ok(rows.length > 5);
    for (const row of rows) {
      const [path = ''] = /test\/[\w./-]+\.test\.ts/.exec(row) ?? [];
      assert.ok(path !== '' && existsSync(join(root, path)), row);
    }
  },
});
