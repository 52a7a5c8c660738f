import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { play, stepsOf } from '../support/console.ts';
import { DEMO_API_KEY, serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const pageOf = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8');
const readme = pageOf('README.md');
const guide = pageOf('docs/guide.md');

/** Plays pages one after the other on one service, and compares what their commands print with what they show. */
function assertShown(...pages: readonly string[]): Promise<void> {
  return serving(
    async ({ url }) => {
      for (const page of pages) {
        const steps = stepsOf(page);
        assert.ok(steps.length > 10);
        const printed = await play(steps, url, { KEY: DEMO_API_KEY });
        for (const [i, { command, output }] of steps.entries()) assert.equal(printed[i], output, command);
      }
    },
    { settings: { RATE_LIMIT_POINTS: '600' } },
  );
}

suite("the callers' guide", {
  'shows what its commands print': () => assertShown(guide),
  'shows what its commands print after those of README': () => assertShown(readme, guide),
  'leaves what README shows as it is': () => assertShown(guide, readme),
});
