import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { insertDocumentedValues, type OnOutput, runProgram, SEPARATOR } from '../support/console-steps.ts';
import { createShownRecord, withDnsServer } from '../support/dns-server.ts';
import { each } from '../support/each.ts';
import { findFreePort } from '../support/server-process.ts';
import { DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const root = join(import.meta.dirname, '../../..');
const CLIENT = pathToFileURL(join(import.meta.dirname, '../../clients/typescript/client.js')).href;

/**
 * The pages with JavaScript examples, and the minimum number of examples to find. If the test finds fewer, it has
 * missed some.
 */
const pages = { 'clients/typescript/README.md': 6, 'docs/guide.md': 8 };

/** Returns the `js` blocks of a page. The comments at the end of a block are its output. */
function parseExamples(markdown: string): { readonly code: string; readonly output: string }[] {
  return [...markdown.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => {
    const [comments = ''] = /(?<=^|\n)(?:\/\/ .*\n)*$/.exec(code) ?? [];
    return { code, output: comments.replaceAll(/^\/\/ /gm, '') };
  });
}

/** Runs the examples of a page in order, as one program. Returns the output of each. */
function runExamples(
  examples: readonly { readonly code: string }[],
  /** The documented addresses, and those of the test. */
  addresses: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
  onOutput: OnOutput,
): Promise<string[]> {
  const wait = `process.stdout.write('${SEPARATOR}'); (await import('node:fs')).readSync(3, Buffer.alloc(1));`;
  const steps = examples.map(({ code }) => `${code}\n${wait}`).join('\n');
  const program = Object.entries({ ...addresses, "'workspace-advocacy-client'": `'${CLIENT}'` }).reduce(
    (code, [documented, actual]) => code.replaceAll(documented, actual),
    steps,
  );
  return runProgram(process.execPath, ['--input-type=module', '--eval', program], env, onOutput);
}

suite('the JavaScript examples', {
  'print what the documents say': () =>
    each(pages, (minCount, page) =>
      withDnsServer(async (dns) => {
        const LINKS_PORT = String(await findFreePort());
        await withService(
          async ({ url, app }) => {
            const examples = parseExamples(readFileSync(join(root, page), 'utf8'));
            assert.ok(examples.length >= minCount);
            const { id } = await app.workspaces.create('Fabrikam');
            const { secret } = await app.apiKeys.create(id, {});
            const env = { KEY: DEMO_API_KEY, FABRIKAM_KEY: secret };
            const addresses = { 'http://127.0.0.1:3000': url, '127.0.0.1:3001': `127.0.0.1:${LINKS_PORT}` };
            const printed = await runExamples(examples, addresses, env, (output) => createShownRecord(dns, output));
            assert.deepEqual(
              printed.map((output, i) => insertDocumentedValues(output, examples[i]?.output ?? '')),
              examples.map(({ output }) => output),
            );
          },
          { settings: { DNS_SERVERS: dns.address, LINKS_PORT } },
        );
      }),
    ),
});
