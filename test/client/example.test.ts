import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { operations } from '../../adapters/api/operations.ts';
import { each } from '../support/each.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const EXAMPLE = join(import.meta.dirname, 'example.js');

function runExample(env: Readonly<Record<string, string>>): Promise<{ isSuccess: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [EXAMPLE], { env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ isSuccess: error === null, output: stdout + stderr }),
    );
  });
}

suite('test/client/example.ts', {
  'calls every operation': () =>
    withService(async ({ url }) => {
      const { output } = await runExample({ BASE_URL: url, KEY: DEMO_API_KEY });
      assert.equal(output, `${operations.length} operations work as documented\n`);
    }),

  'prints one line if it has no key, a wrong key or no service': () =>
    withService(async ({ url }) => {
      const cases = {
        'KEY is not set': { KEY: '', BASE_URL: url },
        'responds with status 401 to the key in KEY': { KEY: 'wrong-wrong-wrong-wrong', BASE_URL: url },
        'No service responds at http://127.0.0.1:9': { KEY: DEMO_API_KEY, BASE_URL: 'http://127.0.0.1:9' },
      };
      await each(cases, async (env, problem) => {
        const { isSuccess, output } = await runExample(env);
        assert.equal(isSuccess, false);
        assert.ok(output.includes(`${problem}. `), output);
        assert.match(output, /Start the service .*`KEY=<its demo key> node dist\/test\/client\/example\.js`[^\n]*\n$/);
      });
    }),
});
