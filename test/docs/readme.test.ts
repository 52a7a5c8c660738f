import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../adapters/api/operations.ts';
import { suite } from '../support/suite.ts';

const FILE = join(import.meta.dirname, '../../../README.md');
const readme = readFileSync(FILE, 'utf8');

suite('README', {
  'lists every operation': () => {
    const head = '| operation | request |\n|---|---|\n';
    const rows = operations.map(({ summary, method, path }) => `| ${summary} | \`${method} ${path}\` |\n`).join('');
    const updated = readme.replace(/\| operation \| request \|\n\|---\|---\|\n(?:\|.*\n)*/, head + rows);
    if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, updated);
    else assert.ok(readme.includes(head + rows), 'run `npm run openapi` and review the changes');
  },
});
