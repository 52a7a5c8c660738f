import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { play, stepsOf } from '../support/console.ts';
import { DEMO_API_KEY, serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide.md'), 'utf8');

suite("the callers' guide", {
  'shows what its commands print': () =>
    serving(
      async ({ url }) => {
        const steps = stepsOf(guide);
        const printed = await play(steps, url, { KEY: DEMO_API_KEY });
        assert.ok(steps.length > 15);
        for (const [i, { command, output }] of steps.entries()) assert.equal(printed[i], output, command);
      },
      { settings: { RATE_LIMIT_POINTS: '600' } },
    ),
});
