import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { isApiKeySecret } from '../../core/access/api-key.ts';
import { each, textCases } from '../support/each.ts';
import { MAIN_PATH, type ServiceProcess, UNSET, withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';

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
      assert.equal(await getStatusWithKey(readDemoKey(service), service), 200);
      assert.equal(await getStatusWithKey(DEMO_API_KEY, service), 401);
      assert.equal(service.output.stdout.includes('Metrics'), false);
      assert.equal(service.output.stderr, '');
      await withProcess({ DEMO_API_KEY: UNSET }, async (other) => {
        assert.equal(await getStatusWithKey(readDemoKey(service), other), 401);
      });
    }),

  'accepts a demo key with every allowed punctuation character, and prints the addresses of short links and of metrics':
    () => {
      const key = '~demo-key.of_us+/~/+';
      return withProcess({ DEMO_API_KEY: key, LINKS_PORT: '0', METRICS_PORT: '0' }, async (service) => {
        assert.equal(readDemoKey(service), key);
        assert.equal(await getStatusWithKey(key, service), 200);
        assert.equal(JSON.parse(await runExample(service)).length, 7);
        const { stdout } = service.output;
        const links = /^Short links: (http:\/\/127\.0\.0\.1:[1-9]\d*)$/m.exec(stdout)?.[1];
        assert.equal((await fetch(`${links}/unknown1`)).status, 404, stdout);
        const metrics = /^Metrics: (http:\/\/127\.0\.0\.1:[1-9]\d*\/metrics)$/m.exec(stdout)?.[1];
        assert.equal((await fetch(metrics ?? '')).status, 200, stdout);
      });
    },

  'prints an example request that works, also if HOST is not the default': () =>
    each(textCases('localhost', '0.0.0.0'), (HOST) =>
      withProcess({ HOST }, async (service) => {
        assert.ok(service.url.startsWith(`http://${HOST}:`), service.url);
        assert.equal(JSON.parse(await runExample(service)).length, 7);
      }),
    ),

  'logs a warning for each setting that is probably a mistake': () =>
    withProcess({ LOG_LEVEL: 'warn', REDIS_URL: 'redis://:hunter2@localhost' }, async (service) => {
      service.child.kill('SIGTERM');
      await service.waitForExit();
      const lines = service.output.stderr.trim().split('\n');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).msg),
        ['REDIS_URL: has no effect without RATE_LIMITER=redis'],
      );
      assert.equal(service.output.stderr.includes('hunter2'), false);
    }),
});

interface ExitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the service, and returns its exit code and output when it exits. Kills the service if it does not exit in time. */
async function runUntilExit(settings: Readonly<Record<string, string>>): Promise<ExitResult> {
  const env = { ...process.env, STORAGE: 'memory', PORT: '0', ...settings };
  const options = { env, timeout: 30_000, killSignal: 'SIGKILL' } as const;
  const { code, stdout, stderr } = await run(process.execPath, [MAIN_PATH], options).then(
    (output) => ({ code: 0, ...output }),
    (error: ExitResult) => error,
  );
  return { code, stdout, stderr };
}

suite('a start that fails', {
  'prints one line if a port is in use, and exits with 1': async () => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    try {
      const port = String((occupied.address() as AddressInfo).port);
      for (const name of ['PORT', 'METRICS_PORT', 'LINKS_PORT']) {
        const stderr = `${name}: cannot listen on 127.0.0.1:${port}, the port is in use, stop the other program or set another port\n`;
        assert.deepEqual(await runUntilExit({ [name]: port }), { code: 1, stdout: '', stderr }, name);
      }
    } finally {
      occupied.close();
    }
  },

  'prints one line if it cannot listen on the host, and exits with 1': () =>
    each(textCases('203.0.113.7', 'fe80::1', 'no..host'), async (host) => {
      const { code, stdout, stderr } = await runUntilExit({ HOST: host });
      const beginning = `HOST: cannot listen on ${host}:0, `;
      assert.equal(stderr.slice(0, beginning.length), beginning);
      assert.match(stderr.slice(beginning.length), /^[a-z][^\n]+, set another host\n$/);
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    }),

  'prints one line if it has arguments, and exits with 1': () =>
    each(textCases('--help', '-h', 'serve'), async (argument) => {
      const stderr = 'The server takes no arguments. For commands, run `npx advocacy --help`.\n';
      const failed = run(process.execPath, [MAIN_PATH, argument], { env: { ...process.env, PORT: '0' } });
      await assert.rejects(failed, { code: 1, stdout: '', stderr });
    }),

  'prints a line for each invalid setting, without a secret, and exits with 1': async () => {
    const settings = {
      PORT: 'eighty',
      REDIS_URL: 'user:hunter2@localhost',
      DEMO_API_KEY: 'hunter2',
      TRUST_PROXY: '::10.0.0.1',
      MONGODB_URL: 'mongodb://user:hunter2@localhost',
    };
    const { stderr, ...result } = await runUntilExit(settings);
    assert.deepEqual(result, { code: 1, stdout: '' });
    assert.deepEqual(
      stderr.split('\n').map((line) => line.split(': ')[0]),
      ['PORT', 'REDIS_URL', 'DEMO_API_KEY', 'TRUST_PROXY', 'MONGODB_URL', ''],
    );
    assert.equal(stderr.includes('hunter2'), false);
  },
});
