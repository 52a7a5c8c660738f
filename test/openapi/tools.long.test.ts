import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const documentFile = join(root, 'docs/openapi.json');

/** Runs an npm script of this folder. Returns whether the script succeeded, and its output. */
async function runScript(...args: readonly string[]) {
  const cwd = join(root, 'test/openapi');
  if (!existsSync(join(cwd, 'node_modules')))
    throw new MissingDependencyError('what `npm ci` installs in test/openapi');
  return new Promise<{ isSuccess: boolean; output: string }>((resolve) => {
    execFile('npm', ['run', '--silent', ...args], { cwd }, (error, stdout, stderr) =>
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
      const { isSuccess, output } = await runScript(linter, documentFile);
      assert.ok(isSuccess, output);
    }
  },

  'find planted problems in the document': async () => {
    await withReplacement('"operationId": "listDomains"', '"operationId": "listCampaigns"', async (file) => {
      for (const linter of ['redocly', 'spectral']) {
        assert.equal((await runScript(linter, file)).isSuccess, false, linter);
      }
    });
    await withReplacement('"maxLength": 190', '"x-length": 190', async (file) => {
      const { isSuccess, output } = await runScript('spectral', file);
      assert.ok(!isSuccess && output.includes('string-limit'), output);
    });
  },
});
