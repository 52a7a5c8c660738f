import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Checkout, withCheckout } from '../support/checkout.ts';
import { root } from '../support/compose.ts';
import { parseSteps, runSteps } from '../support/console-steps.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import type { ServiceProcess } from '../support/process.ts';
import { request } from '../support/request.ts';
import { suite } from '../support/suite.ts';

const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** Returns a command of the section "Quick start" of the README. */
function findCommand(beginning: string): string {
  const [, section = ''] = /^## Quick start\n(.*?)^## /ms.exec(readme) ?? [];
  const line = section.split('\n').find((text) => text.startsWith(beginning));
  assert.ok(line, `the README has no command that starts with ${beginning}`);
  return line;
}

async function runCommand({ run }: Checkout, command: string): Promise<string> {
  const { code, stdout, stderr } = await run(command);
  assert.equal(code, 0, `${command}: ${stderr}`);
  return stdout;
}

async function stop({ child, waitForExit }: ServiceProcess): Promise<void> {
  child.kill('SIGINT');
  await waitForExit();
}

/** The paths of lists that must be the same after a restart and after a copy. */
const PATHS = ['/campaigns?includeArchived=true', '/domains', '/inspiration-questions', '/content-pillars'];

const readAll = async ({ url }: ServiceProcess, key: string): Promise<readonly string[]> =>
  Promise.all(
    PATHS.map(async (path) => {
      const { status, text } = await request(url + path, 'GET', { key });
      assert.equal(status, 200, text);
      return text;
    }),
  );

suite('a newcomer who follows the README', {
  'keeps their data over restarts, creates a key and a backup, and moves to MongoDB': () =>
    withDatabase((uri) =>
      withCheckout({ isClone: true, packages: 'none' }, async (checkout) => {
        // The links are tested in docs/readme.test.ts, on a free port.
        const [install = '', startCommand = ''] = findCommand('npm ci && ')
          .replace('LINKS_PORT=3001 ', '')
          .split(' && ');
        await runCommand(checkout, `${install} --prefer-offline`);
        const first = await checkout.start(startCommand);
        const key = /^Demo API key: (.*)$/m.exec(first.output.stdout)?.[1] as string;
        await runSteps(parseSteps(readme), first.url, { KEY: key });
        const before = await readAll(first, key);
        assert.ok(before[0]?.includes('"Your first week"'));
        await stop(first);

        const second = await checkout.start(startCommand);
        assert.deepEqual(await readAll(second, key), before);
        const [newKey = ''] = /adv_\w+/.exec(await runCommand(checkout, 'npx advocacy key create')) ?? [];
        assert.equal((await request(`${second.url}/campaigns`, 'GET', { key: newKey })).status, 200);
        await runCommand(checkout, 'npx advocacy backup advocacy-backup.db');
        await stop(second);

        await runCommand(checkout, `npx advocacy copy --to '${uri}'`);
        const third = await checkout.start(startCommand, createMongodbSettings(uri));
        assert.deepEqual(await readAll(third, key), before);
        assert.equal((await request(`${third.url}/campaigns`, 'GET', { key: newKey })).status, 200);
        await stop(third);

        const restored = await checkout.start(startCommand, { SQLITE_FILE: 'advocacy-backup.db' });
        assert.deepEqual(await readAll(restored, key), before);
        await stop(restored);
      }),
    ),
});
