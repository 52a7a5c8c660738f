import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withProcess } from '../support/process.ts';
import { DEMO_API_KEY, request } from '../support/request.ts';
import { findFreePort } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
const [receiver = '', reader = ''] = [...page.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
const CLIENT = pathToFileURL(join(import.meta.dirname, '../../clients/typescript/client.js')).href;
const IMPORT = receiver.split('\n').filter((line) => /AdvocacyClient|process\.env/.test(line));

suite('the guide to events', {
  'has a receiver and a reader that work': async () => {
    const PORT = String(await findFreePort());
    await withProcess({ STORAGE: 'memory', WEBHOOK_NETWORKS: '127.0.0.1' }, async ({ url }) => {
      const call = async (method: string, path: string, body?: object) => {
        const { status, json, text } = await request(url + path, method, { key: DEMO_API_KEY, body });
        assert.ok(status < 300, text);
        return json;
      };
      const webhook = { url: `http://127.0.0.1:${PORT}/`, types: ['share.created'] };
      const { secret } = await call('POST', '/webhooks', webhook);
      const run = (code: string) => {
        const program = code
          .replace("'workspace-advocacy-client'", `'${CLIENT}'`)
          .replaceAll('http://127.0.0.1:3000', url);
        const env = { ...process.env, KEY: DEMO_API_KEY, SECRET: secret, PORT };
        const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
          env,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const output = { text: '' };
        child.stdout.on('data', (chunk) => (output.text += chunk));
        return { child, output };
      };
      const { child, output } = run(receiver);
      try {
        const isRejected = async () => (await fetch(webhook.url, { method: 'POST', body: '{}' })).status === 400;
        await waitUntil(() => isRejected().catch(() => false));
        const [campaign] = await call('GET', '/campaigns?search=Lisbon');
        await call('POST', `/campaigns/${campaign.id}/shares`);
        await waitUntil(() => output.text === `We hire in Lisbon: ${campaign.shares + 1} shares\n`);
      } finally {
        child.kill();
      }
      const read = run([...IMPORT, reader].join('\n'));
      await once(read.child, 'close');
      assert.match(read.output.text, /^1 [a-z]+\.[a-z]+\n(?:\d+ .*\n)*\d+ share\.created\n$/);
    });
  },
});
