import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { isApiKeySecret } from '../../core/access/api-key.ts';
import { each, textCases } from '../support/each.ts';
import { MAIN_PATH, type ServiceProcess, startProcess, UNSET, withProcess } from '../support/process.ts';
import { request } from '../support/request.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { getStartErrors } from '../support/start-errors.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const run = promisify(execFile);

/** Runs the example request that the service has printed, and returns its output. */
async function runExample({ output }: ServiceProcess): Promise<string> {
  const line = /^Try:\n {2}(curl .*)$/m.exec(output.stdout)?.[1];
  const { stdout } = await run('sh', ['-c', line ?? 'false']);
  return stdout;
}

const readDemoKey = ({ output }: ServiceProcess) => /^Demo API key: (.*)$/m.exec(output.stdout)?.[1] ?? '';

async function getStatusWithKey(key: string, { url }: ServiceProcess): Promise<number> {
  return (await fetch(`${url}/domains`, { headers: { Authorization: `Bearer ${key}` } })).status;
}

suite('a start', {
  'prints the address, the new demo key, and an example request that works': () =>
    withProcess({ DEMO_API_KEY: UNSET, LOG_LEVEL: 'warn' }, async (service) => {
      assert.match(
        service.output.stdout,
        /^Workspace Advocacy listens on http:\/\/127\.0\.0\.1:[1-9]\d*\n\nThe data is in memory\. All changes are lost when the server stops\.\n\nDemo API key: adv_\w+\n\nTry:\n/,
      );
      assert.ok(isApiKeySecret(readDemoKey(service)), service.output.stdout);
      assert.equal(JSON.parse(await runExample(service)).length, 7);
      assert.equal(await getStatusWithKey(DEMO_API_KEY, service), 401);
      assert.equal(service.output.stdout.includes('Metrics'), false);
      assert.equal(service.output.stderr, '');
    }),

  'accepts a demo key with all punctuation and another host, prints all addresses, and warns of a setting without effect':
    async () => {
      const settings = { HOST: 'localhost', LINKS_PORT: '0', METRICS_PORT: '0', LOG_LEVEL: 'warn' };
      const DEMO_API_KEY = '~demo-key.of_us+/~/+';
      const REDIS_URL = 'redis://:hunter2@localhost';
      await withProcess({ ...settings, DEMO_API_KEY, REDIS_URL }, async (service) => {
        assert.equal(readDemoKey(service), DEMO_API_KEY);
        assert.ok(service.url.startsWith('http://localhost:'), service.url);
        assert.equal(JSON.parse(await runExample(service)).length, 7);
        const { stdout } = service.output;
        const links = /^Short links: (http:\/\/localhost:[1-9]\d*)$/m.exec(stdout)?.[1];
        assert.equal((await fetch(`${links}/unknown1`)).status, 404, stdout);
        const metrics = /^Metrics: (http:\/\/127\.0\.0\.1:[1-9]\d*\/metrics)$/m.exec(stdout)?.[1];
        assert.equal((await fetch(metrics ?? '')).status, 200, stdout);
        await waitUntil(() => service.output.stderr.endsWith('\n'));
        const { msg } = JSON.parse(service.output.stderr);
        assert.equal(msg, 'REDIS_URL: has no effect without RATE_LIMITER=redis');
        assert.equal(service.output.stderr.includes('hunter2'), false);
      });
    },
});

suite('short links without a domain', {
  'lead to their listener if it is on a loopback address, and otherwise do not exist': async () => {
    const destinationUrl = 'https://example.com/jobs';
    const campaign = { ...createCampaignBody(), status: 'published', destinationUrl };
    const share = async (settings: Readonly<Record<string, string>>, check: (link: string | null) => Promise<void>) =>
      withProcess({ LINKS_PORT: '0', ...settings }, async ({ url }) => {
        const create = (path: string, body: object) => request(url + path, 'POST', { key: DEMO_API_KEY, body });
        const { id } = (await create('/campaigns', campaign)).json;
        await check((await create(`/campaigns/${id}/shares`, {})).json.link);
      });
    for (const LINKS_HOST of ['127.0.0.1', 'localhost', '::1']) {
      await share({ LINKS_HOST }, async (link) => {
        const { status, headers } = await fetch(`${link}`, { redirect: 'manual' });
        assert.deepEqual([status, headers.get('location')], [302, campaign.destinationUrl], `${link}`);
      });
    }
    await share({ LINKS_HOST: '0.0.0.0' }, async (link) => assert.equal(link, null));
  },
});

suite('a start that fails', {
  'has one line that names the port that is in use': async () => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    try {
      const { port } = occupied.address() as AddressInfo;
      for (const name of ['PORT', 'METRICS_PORT', 'LINKS_PORT']) {
        assert.deepEqual(await getStartErrors({ STORAGE: 'memory', [name]: String(port) }), [
          `${name}: cannot listen on 127.0.0.1:${port}, the port is in use, stop the other program or set another port`,
        ]);
      }
    } finally {
      occupied.close();
    }
  },

  'has one line that names the host on which it cannot listen': () =>
    each(textCases('203.0.113.7', 'fe80::1', 'no..host'), async (host) => {
      const [line = '', ...others] = await getStartErrors({ STORAGE: 'memory', HOST: host });
      const beginning = `HOST: cannot listen on ${host}:0, `;
      assert.equal(line.slice(0, beginning.length), beginning);
      assert.match(line.slice(beginning.length), /^[a-z][^\n]+, set another host$/);
      assert.deepEqual(others, []);
    }),

  'prints one line if it has arguments, and exits with 1': async () => {
    const stderr = 'The server takes no arguments. For commands, run `npx advocacy --help`.\n';
    const failed = run(process.execPath, [MAIN_PATH, '--help'], { env: { ...process.env, PORT: '0' } });
    await assert.rejects(failed, { code: 1, stdout: '', stderr });
  },

  'prints a line for each invalid setting, without a secret, and exits with 1': async () => {
    const settings = {
      PORT: 'eighty',
      REDIS_URL: 'user:hunter2@localhost',
      DEMO_API_KEY: 'hunter2',
      TRUST_PROXY: '::10.0.0.1',
      MONGODB_URL: 'mongodb://user:hunter2@localhost',
    };
    await assert.rejects(startProcess(settings), ({ message }: Error) => {
      assert.match(
        message,
        /^ended with exit code 1: PORT: .*\nREDIS_URL: .*\nDEMO_API_KEY: .*\nTRUST_PROXY: .*\nMONGODB_URL: .*\n$/,
      );
      assert.equal(message.includes('hunter2'), false);
      return true;
    });
  },
});
