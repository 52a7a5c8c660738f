import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operations } from '../../adapters/api/operations.ts';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const documentFile = join(root, 'docs/openapi.json');

/** Runs an npm script of the package in `test/<folder>`. Returns whether the script succeeded, and its output. */
async function runScript(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = join(root, 'test', folder);
  if (!existsSync(join(cwd, 'node_modules')))
    throw new MissingDependencyError(`what \`npm ci\` installs in test/${folder}`);
  return new Promise<{ isSuccess: boolean; output: string }>((resolve) => {
    execFile('npm', ['run', '--silent', ...args], { cwd, env: { ...process.env, ...env } }, (error, stdout, stderr) =>
      resolve({ isSuccess: error === null, output: stdout + stderr }),
    );
  });
}

/** Calls `test` with a copy of the document in which the first occurrence of a text is replaced. */
async function withReplacement(from: string, to: string, test: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  try {
    const text = readFileSync(documentFile, 'utf8');
    assert.ok(text.includes(from), from);
    writeFileSync(join(folder, 'openapi.json'), text.replace(from, to));
    await test(join(folder, 'openapi.json'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

suite('the OpenAPI tools', {
  'find no problem in the document': async () => {
    for (const linter of ['redocly', 'spectral']) {
      const { isSuccess, output } = await runScript('openapi', [linter, documentFile]);
      assert.ok(isSuccess, output);
    }
  },

  'find planted problems in the document': async () => {
    await withReplacement('"operationId": "listDomains"', '"operationId": "listCampaigns"', async (file) => {
      for (const linter of ['redocly', 'spectral']) {
        assert.equal((await runScript('openapi', [linter, file])).isSuccess, false, linter);
      }
    });
    await withReplacement('"maxLength": 190', '"x-length": 190', async (file) => {
      const { isSuccess, output } = await runScript('openapi', ['spectral', file]);
      assert.ok(!isSuccess && output.includes('string-limit'), output);
    });
  },

  'generate the committed client, which can call every operation': async () => {
    const { isSuccess, output } = await runScript('client', ['check', documentFile]);
    assert.ok(isSuccess, output);
    await withService(async ({ url }) => {
      const example = await runScript('client', ['example'], { BASE_URL: url, KEY: DEMO_API_KEY });
      assert.equal(example.output, `${operations.length} operations work as documented\n`);
    });
  },

  'print one line if the example client has no key, a wrong key or no service': () =>
    withService(async ({ url }) => {
      const cases = [
        [{ KEY: '', BASE_URL: url }, /^KEY is not set\. /],
        [
          { KEY: 'wrong-wrong-wrong-wrong', BASE_URL: url },
          /^The service at \S+ responds with status 401 to the key in KEY\. /,
        ],
        [{ KEY: DEMO_API_KEY, BASE_URL: 'http://127.0.0.1:9' }, /^No service responds at http:\/\/127\.0\.0\.1:9\. /],
      ] as const;
      for (const [env, problem] of cases) {
        const { isSuccess, output } = await runScript('client', ['example'], env);
        assert.equal(isSuccess, false);
        assert.match(output, problem);
        assert.match(output, /Start the service .*`KEY=<its demo key> npm run example`[^\n]*\n$/);
      }
    }),

  'generate a different client from a different document': () =>
    withReplacement('"isActive"', '"isAwake"', async (file) => {
      assert.equal((await runScript('client', ['check', file])).isSuccess, false);
    }),
});
