import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../../bootstrap/settings.ts';
import { suite } from '../support/suite.ts';

const FILE = join(import.meta.dirname, '../../../docs/settings.md');
const page = readFileSync(FILE, 'utf8');

suite('docs/settings.md', {
  'lists every setting with its default and description': () => {
    const head = '| name | default | meaning |\n|---|---|---|\n';
    const rows = Object.entries(settings).map(([name, schema]) => {
      const value = schema.parse(undefined);
      return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${schema.description} |\n`;
    });
    const updated = page.replace(
      /\| name \| default \| meaning \|\n\|---\|---\|---\|\n(?:\|.*\n)*/,
      head + rows.join(''),
    );
    if (process.env.UPDATE_DOCS === '1') writeFileSync(FILE, updated);
    else assert.equal(page, updated, 'run `npm run openapi` and review the changes');
  },
});
