import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { settings } from '../../bootstrap/settings.ts';
import { play, stepsOf } from '../support/console.ts';
import { DEMO_API_KEY, serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');

suite('README', {
  'shows what its session prints': () =>
    serving(async ({ url }) => {
      const steps = stepsOf(readme);
      const printed = await play(steps, url, { KEY: DEMO_API_KEY });
      assert.ok(steps.length > 10);
      for (const [i, { command, output }] of steps.entries()) assert.equal(printed[i], output, command);
    }),

  'tells every setting, its default and what it means': () => {
    const rows = Object.entries(settings).map(([name, schema]) => {
      const value = schema.parse(undefined);
      return `| \`${name}\` | ${value === undefined ? '' : `\`${value}\``} | ${schema.description} |`;
    });
    assert.ok(readme.includes(rows.join('\n')), `README should have this table:\n${rows.join('\n')}`);
  },
});
