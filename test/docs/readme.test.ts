import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/request.ts';
import { findFreePort } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const readme = readFileSync(join(import.meta.dirname, '../../../README.md'), 'utf8');
const [, quickStart = ''] = /^## Quick start\n(.*?)^## /ms.exec(readme) ?? [];
const [start = '', list = ''] = [...quickStart.matchAll(/^```\n(.*?)^```$/gms)].map(([, block]) => block);

suite('README', {
  'leads to a short link whose click is counted': async () => {
    assert.equal(start, 'npm ci && LINKS_PORT=3001 npm start\n');
    const LINKS_PORT = String(await findFreePort());
    await withProcess({ STORAGE: 'memory', LINKS_PORT }, async ({ url }) => {
      const run = (commands: string) => {
        const script = `KEY=${DEMO_API_KEY}\n${commands.replace(/^KEY=.*$/m, '').replaceAll('http://127.0.0.1:3000', url)}`;
        return JSON.parse(execFileSync('bash', ['-c', script], { encoding: 'utf8' }))[0];
      };
      const before = run(list);
      assert.equal(new URL(before.link).port, LINKS_PORT);
      const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' };
      const { status } = await fetch(before.link, { headers, redirect: 'manual' });
      assert.equal(status, 302);
      await waitUntil(() => run(list).clicks === before.clicks + 1);
      assert.equal((Number(run(list).rewards) - Number(before.rewards)).toFixed(2), '0.05');
    });
  },
});
