import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { operations } from '../../adapters/api/operations.ts';
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
});
