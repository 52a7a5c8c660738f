import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operations } from '../../adapters/api/operations.ts';
import { settings } from '../../bootstrap/settings.ts';
import { suite } from '../support/suite.ts';

const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');

suite('README', {
  'lists every operation': () => {
    const [, table = ''] = readme.split('| path | operations |\n|---|---|\n');
    const rows = (table.split('\n\n')[0] as string).split('\n');
    const listed = rows.flatMap((row) => {
      const [path, ...methods] = [...row.matchAll(/`([^`]+)`/g)].map(([, code]) => code);
      return methods.map((method) => `${method} ${path}`);
    });
    const declared = operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(listed.toSorted(), declared.toSorted());
  },

  'lists every setting with its default and description': () => {
    const rows = Object.entries(settings).map(([name, schema]) => {
      const value = schema.parse(undefined);
      return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${schema.description} |`;
    });
    assert.ok(readme.includes(rows.join('\n')), `README should have this table:\n${rows.join('\n')}`);
  },
});
