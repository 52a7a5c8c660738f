import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSteps, runSteps } from '../support/console-steps.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const readPage = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
const readme = readPage('README.md');
const guide = readPage('docs/guide.md');

/** The minimum number of steps of each page. The test fails if it finds fewer, because it would miss some. */
const MIN_STEP_COUNTS = new Map([
  [readme, 8],
  [guide, 24],
]);

/** Runs the commands of the pages in order on one service. Their outputs must be those of the pages. */
function assertOutputs(...pages: readonly string[]): Promise<void> {
  return withService(
    async ({ url }) => {
      for (const page of pages) {
        const steps = parseSteps(page);
        assert.ok(steps.length >= (MIN_STEP_COUNTS.get(page) as number));
        const printed = await runSteps(steps, url, { KEY: DEMO_API_KEY });
        for (const [i, { command, output }] of steps.entries()) assert.equal(printed[i], output, command);
      }
    },
    { settings: { RATE_LIMIT_POINTS: '600' } },
  );
}

suite("the integrator's guide", {
  'shows the output of its commands': () => assertOutputs(guide),
  'shows the output of its commands after those of README': () => assertOutputs(readme, guide),
  'does not change the outputs of the commands in README': () => assertOutputs(guide, readme),
});
