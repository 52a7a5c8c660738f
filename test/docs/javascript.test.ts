import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { each } from '../support/each.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const CLIENT = pathToFileURL(join(import.meta.dirname, '../../clients/typescript/client.js')).href;
const SEPARATOR = '\x1e';

/**
 * The pages with JavaScript examples, and the minimum number of examples to find. If the test finds fewer, it has
 * missed some.
 */
const pages = { 'clients/typescript/README.md': 5, 'docs/guide.md': 5 };

/** Returns the `js` blocks of a page. The comments at the end of a block are its output. */
function parseExamples(markdown: string): { readonly code: string; readonly output: string }[] {
  return [...markdown.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => {
    const [comments = ''] = /(?<=^|\n)(?:\/\/ .*\n)*$/.exec(code) ?? [];
    return { code, output: comments.replaceAll(/^\/\/ /gm, '') };
  });
}

/** Runs the examples of a page in order, as one program. Returns the output of each. */
async function runExamples(examples: readonly { readonly code: string }[], url: string): Promise<string[]> {
  const program = examples
    .map(({ code }) => `${code}\nprocess.stdout.write('${SEPARATOR}');`)
    .join('\n')
    .replaceAll("'workspace-advocacy-client'", `'${CLIENT}'`)
    .replaceAll('http://127.0.0.1:3000', url);
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, KEY: DEMO_API_KEY },
  });
  return stdout.split(SEPARATOR).slice(0, -1);
}

suite('the JavaScript examples', {
  'print what the documents say': () =>
    each(pages, (minCount, page) =>
      withService(async ({ url }) => {
        const examples = parseExamples(readFileSync(join(root, page), 'utf8'));
        assert.ok(examples.length >= minCount);
        assert.deepEqual(
          await runExamples(examples, url),
          examples.map(({ output }) => output),
        );
      }),
    ),
});
