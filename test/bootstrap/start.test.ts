import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isApiKeySecret } from '../../core/access/api-key.ts';
import { each, texts } from '../support/each.ts';
import { type ServiceProcess, withProcess } from '../support/process.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const MAIN = join(import.meta.dirname, '../../bootstrap/main.js');
const run = promisify(execFile);

/** Leaves out a setting that processes of tests have otherwise. */
const LEFT_OUT = undefined as never;

/** What the line to paste prints when it is pasted. */
async function paste({ printed }: ServiceProcess): Promise<string> {
  const line = /^Try:\n {2}(curl .*)$/m.exec(printed.stdout)?.[1];
  const { stdout } = await run('sh', ['-c', line ?? 'false']);
  return stdout;
}

const keyIn = ({ printed }: ServiceProcess) => /^The demo's key: (.*)$/m.exec(printed.stdout)?.[1] ?? '';

async function statusWith(key: string, { url }: ServiceProcess): Promise<number> {
  return (await fetch(`${url}/domains`, { headers: { Authorization: `Bearer ${key}` } })).status;
}

suite('a start', {
  'prints where it listens, the key that it made, and a line that works as it is pasted': () =>
    withProcess({ DEMO_API_KEY: LEFT_OUT, LOG_LEVEL: 'warn' }, async (service) => {
      assert.match(service.printed.stdout, /^Workspace Advocacy listens at http:\/\/127\.0\.0\.1:[1-9]\d*, /);
      assert.ok(isApiKeySecret(keyIn(service)), service.printed.stdout);
      assert.equal(JSON.parse(await paste(service)).length, 7);
      assert.equal(await statusWith(keyIn(service), service), 200);
      assert.equal(await statusWith(DEMO_API_KEY, service), 401);
      assert.equal(service.printed.stdout.includes('Metrics'), false);
      assert.equal(service.printed.stderr, '');
    }),

  'makes another key each time': () =>
    withProcess({ DEMO_API_KEY: LEFT_OUT }, (one) =>
      withProcess({ DEMO_API_KEY: LEFT_OUT }, async (other) => {
        assert.notEqual(keyIn(one), keyIn(other));
        assert.equal(await statusWith(keyIn(one), other), 401);
      }),
    ),

  'takes the key that it is given, whatever is in its alphabet': () => {
    const key = '~demo-key.of_us+/~/+';
    return withProcess({ DEMO_API_KEY: key }, async (service) => {
      assert.equal(keyIn(service), key);
      assert.equal(await statusWith(key, service), 200);
      assert.equal(JSON.parse(await paste(service)).length, 7);
    });
  },

  'prints a line that works whatever it listens at': () =>
    each(texts('localhost', '0.0.0.0'), (HOST) =>
      withProcess({ HOST }, async (service) => {
        assert.ok(service.url.startsWith(`http://${HOST}:`), service.url);
        assert.equal(JSON.parse(await paste(service)).length, 7);
      }),
    ),

  'logs a warning about settings that are probably a mistake': () =>
    withProcess({ LOG_LEVEL: 'warn', STORGE: 'memory', REDIS_URL: 'redis://:hunter2@localhost' }, async (service) => {
      service.child.kill('SIGTERM');
      await service.ended();
      const lines = service.printed.stderr.trim().split('\n');
      assert.deepEqual(
        lines.map((line) => JSON.parse(line).msg),
        ['STORGE: not a setting, did you mean STORAGE?', 'REDIS_URL: has no effect without RATE_LIMITER=redis'],
      );
      assert.equal(service.printed.stderr.includes('hunter2'), false);
    }),

  'prints where the metrics are, if anywhere': () =>
    withProcess({ METRICS_PORT: '0' }, async ({ printed }) => {
      const metrics = /^Metrics: (http:\/\/127\.0\.0\.1:[1-9]\d*\/metrics)$/m.exec(printed.stdout)?.[1];
      assert.equal((await fetch(metrics ?? '')).status, 200, printed.stdout);
    }),
});

interface End {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a start ends that fails: it is stopped, and so without a code, where it does not end by itself. */
async function endOf(settings: Readonly<Record<string, string>>): Promise<End> {
  const env = { ...process.env, PORT: '0', ...settings };
  const options = { env, timeout: 10_000, killSignal: 'SIGKILL' } as const;
  const { code, stdout, stderr } = await run(process.execPath, [MAIN], options).then(
    (printed) => ({ code: 0, ...printed }),
    (error: End) => error,
  );
  return { code, stdout, stderr };
}

suite('a start that cannot be', {
  'says in one line that a port is taken, and exits with 1': async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    try {
      const port = String((taken.address() as AddressInfo).port);
      const stderr = `127.0.0.1:${port} cannot be listened at: something listens there already, so stop that or set another port\n`;
      for (const name of ['PORT', 'METRICS_PORT']) {
        assert.deepEqual(await endOf({ [name]: port }), { code: 1, stdout: '', stderr }, name);
      }
    } finally {
      taken.close();
    }
  },

  'says in one line that its host is none of this machine, and exits with 1': () =>
    each(texts('203.0.113.7', 'fe80::1', 'no..host'), async (host) => {
      const { code, stdout, stderr } = await endOf({ HOST: host });
      assert.equal(stderr.slice(0, stderr.indexOf(': ')), `${host}:0 cannot be listened at`);
      assert.match(stderr, /: [a-z][^\n]+, so set another host\n$/);
      assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    }),

  'has a line for each wrong setting, without a secret, and exits with 1': async () => {
    const settings = {
      PORT: 'eighty',
      REDIS_URL: 'user:hunter2@localhost',
      DEMO_API_KEY: 'hunter2',
      TRUST_PROXY: '::10.0.0.1',
      MONGODB_URL: 'mongodb://user:hunter2@localhost',
    };
    const { stderr, ...end } = await endOf(settings);
    assert.deepEqual(end, { code: 1, stdout: '' });
    assert.deepEqual(
      stderr.split('\n').map((line) => line.split(': ')[0]),
      ['PORT', 'REDIS_URL', 'DEMO_API_KEY', 'TRUST_PROXY', 'MONGODB_URL', ''],
    );
    assert.equal(stderr.includes('hunter2'), false);
  },
});
