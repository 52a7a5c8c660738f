import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Missing } from '../support/missing.ts';
import { DEMO_API_KEY, serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const document = join(root, 'docs/openapi.json');

/** Runs a script of a package of its own, and tells whether it was content, and what it said. */
async function script(folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cwd = join(root, 'test', folder);
  if (!existsSync(join(cwd, 'node_modules'))) throw new Missing(`what \`npm ci\` installs in test/${folder}`);
  return new Promise<{ isContent: boolean; said: string }>((resolve) => {
    execFile('npm', ['run', '--silent', ...args], { cwd, env: { ...process.env, ...env } }, (error, out, problems) =>
      resolve({ isContent: error === null, said: out + problems }),
    );
  });
}

/** A copy of the document in which a text was replaced. */
async function withPlanted(from: string, to: string, test: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'document-'));
  try {
    const text = readFileSync(document, 'utf8');
    assert.ok(text.includes(from), from);
    writeFileSync(join(folder, 'openapi.json'), text.replace(from, to));
    await test(join(folder, 'openapi.json'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

suite('the tools of others', {
  'find nothing to mend in the document': async () => {
    for (const linter of ['redocly', 'spectral']) {
      const { isContent, said } = await script('openapi', [linter, document]);
      assert.ok(isContent, said);
    }
  },

  'find what was planted in it': async () => {
    await withPlanted(
      '"operationId": "listTags"'.replace('Tags', 'Domains'),
      '"operationId": "listCampaigns"',
      async (file) => {
        for (const linter of ['redocly', 'spectral']) {
          assert.equal((await script('openapi', [linter, file])).isContent, false, linter);
        }
      },
    );
    await withPlanted('"maxLength": 190', '"x-length": 190', async (file) => {
      const { isContent, said } = await script('openapi', ['spectral', file]);
      assert.ok(!isContent && said.includes('string-limit'), said);
    });
  },

  'make a client of it that is the one here, and can use every operation': async () => {
    const { isContent, said } = await script('client', ['check', document]);
    assert.ok(isContent, said);
    await serving(async ({ url }) => {
      const walked = await script('client', ['walk'], { BASE_URL: url, KEY: DEMO_API_KEY });
      assert.equal(walked.said, '15 operations work as the document says\n');
    });
  },

  'print in one line what the client needs': () =>
    serving(async ({ url }) => {
      const cases = [
        [{ KEY: '', BASE_URL: url }, /^KEY is not set\. /],
        [{ KEY: 'wrong-wrong-wrong-wrong', BASE_URL: url }, /^The service at \S+ answers 401 to the key in KEY\. /],
        [{ KEY: DEMO_API_KEY, BASE_URL: 'http://127.0.0.1:9' }, /^There is no service at http:\/\/127\.0\.0\.1:9\. /],
      ] as const;
      for (const [env, problem] of cases) {
        const { isContent, said } = await script('client', ['walk'], env);
        assert.equal(isContent, false);
        assert.match(said, problem);
        assert.match(said, /Start the service .*`KEY=<its demo key> npm run walk`[^\n]*\n$/);
      }
    }),

  'make another client of another document': () =>
    withPlanted('"isActive"', '"isAwake"', async (file) => {
      assert.equal((await script('client', ['check', file])).isContent, false);
    }),
});
