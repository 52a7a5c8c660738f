import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request as sendRequest } from 'node:https';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { parse, parseAllDocuments } from 'yaml';
import { getSettingWarnings, readSettings } from '../../bootstrap/read-settings.ts';
import { interpolate, parseCompose, root } from '../support/compose.ts';
import { send } from '../support/load.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { startProcess, withProcess } from '../support/process.ts';
import { redisSource } from '../support/redis.ts';
import { findMongod } from '../support/replica-set.ts';
import { DEMO_API_KEY, request } from '../support/request.ts';
import { campaignBody } from '../support/samples.ts';
import { findFreePort, startServerProcess } from '../support/server-process.ts';
import { findProgram, runCommand } from '../support/server-program.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const read = (page: string) => readFileSync(join(root, page), 'utf8');
const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** The languages of examples, which are not configurations. */
const NOT_CONFIGURATIONS = ['console', 'text', 'js', 'json', 'sh'];
/** The file in this folder that tests a file of the folder `deployment`. */
const testedBy: Readonly<Record<string, string>> = {
  'advocacy-backup.service': 'guide.long.test.ts',
  'advocacy-backup.timer': 'guide.long.test.ts',
  'advocacy-ports.conf': 'guide.long.test.ts',
  'advocacy.service': 'guide.long.test.ts',
  'advocacy.sh': 'guide.long.test.ts',
  'alerts.yml': 'metrics.test.ts',
  'backup.sh': 'guide.long.test.ts',
  Caddyfile: 'configurations.long.test.ts',
  'grafana-dashboard.json': 'metrics.test.ts',
  'haproxy.cfg': 'configurations.long.test.ts',
  'kubernetes.yaml': 'configurations.long.test.ts',
  'mongodb-health.js': 'compose.test.ts',
  'mongodb-user.js': 'compose.test.ts',
  'nginx.conf': 'configurations.long.test.ts',
  'prometheus.yml': 'configurations.long.test.ts',
  'shard.js': 'shard.test.ts',
};
/** The longest `Link` header, the longest URL of a redirect, and the longest headers of a request, in bytes. */
const [MAX_LINK_BYTES, MAX_LOCATION_BYTES, MAX_HEADER_BYTES] = [7_600, 2_048, 16_384];
/** The verified domain of the demo workspace. */
const LINKS_DOMAIN = 'go.northwind.example';

/** For each alert, series of half an hour, with a value for each minute, after which it fires. */
const alarming: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  AdvocacyDown: { 'up{job="advocacy"}': '0x30' },
  AdvocacyStorageUnavailable: { storage_up: '0x30' },
  AdvocacyErrors: {
    'http_request_duration_seconds_count{status="500"}': '0+1x30',
    'http_request_duration_seconds_count{status="200"}': '0+900x30',
  },
  AdvocacySlow: {
    'http_request_duration_seconds_bucket{le="0.5"}': '0+98x30',
    'http_request_duration_seconds_bucket{le="1"}': '0+100x30',
    'http_request_duration_seconds_bucket{le="+Inf"}': '0+100x30',
  },
  AdvocacyOverloaded: { 'http_requests_rejected_total{reason="service"}': '0+70x30' },
  AdvocacyLimitsNotShared: { rate_limit_shared: '0x30' },
  AdvocacyKeysGuessed: { 'http_request_duration_seconds_count{status="401"}': '0+70x30' },
  AdvocacyLinksUnavailable: { 'link_request_duration_seconds_count{outcome="unavailable"}': '0+1x30' },
  AdvocacyClicksLost: { 'link_clicks_total{result="full"}': '0x28 1 1' },
  AdvocacyWebhookDisabled: { webhook_disabled_total: '0x28 1 1' },
  AdvocacyWebhooksLate: {
    'webhook_lag_seconds_bucket{le="60"}': '0+9x30',
    'webhook_lag_seconds_bucket{le="300"}': '0+10x30',
    'webhook_lag_seconds_bucket{le="+Inf"}': '0+10x30',
  },
};

/** Creates a folder with programs, for the PATH. A program is a path to link to, or a script. */
function createPrograms(folder: string, programs: Readonly<Record<string, string>>): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, program] of Object.entries(programs)) {
    const file = join(bin, name);
    if (!program.startsWith('#!')) symlinkSync(program, file);
    else writeFileSync(file, program);
    if (program.startsWith('#!')) chmodSync(file, 0o755);
  }
  return `${bin}:${process.env.PATH}`;
}

/**
 * Runs nginx with deployment/nginx.conf in front of two addresses of the API and one of short links. Passes its port
 * for TLS to the test.
 */
function withNginx(
  [firstHost, secondHost]: readonly string[],
  linksHost: string,
  test: (port: number) => Promise<void>,
): Promise<void> {
  return withTemporaryFolder(async (folder) => {
    const certificate = ['-keyout', join(folder, 'privkey'), '-out', join(folder, 'fullchain'), '-subj', '/CN=test'];
    await runCommand(await findProgram('openssl'), 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...certificate);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
    const httpPort = await findFreePort();
    const nginx = await startServerProcess(await findProgram('nginx'), (port) => {
      const servers = read('deployment/nginx.conf')
        .replace(/ {4}listen \[::\].*\n/g, '')
        .replaceAll('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace('listen 80', `listen 127.0.0.1:${httpPort}`)
        .replace('server 127.0.0.1:3000;', `server ${firstHost}; server ${secondHost ?? firstHost};`)
        .replace('127.0.0.1:3001', linksHost)
        .replaceAll('go.example.com', LINKS_DOMAIN)
        .replace(/\/etc\/letsencrypt\/\S*\/(privkey|fullchain)\.pem/g, `${folder}/$1`);
      const config = `daemon off; master_process off; pid pid; error_log stderr;\nevents {}\nhttp {${temporary.join(' ')}\n${servers}}\n`;
      writeFileSync(join(folder, 'nginx.conf'), config);
      return ['-p', folder, '-c', join(folder, 'nginx.conf')];
    });
    try {
      await test(nginx.port);
    } finally {
      await nginx.stop();
    }
  });
}

/** Sends a request with TLS, and accepts any certificate. */
function sendTls(
  port: number,
  { body, ...options }: RequestOptions & { readonly body?: string },
): Promise<{ readonly status: number; readonly headers: Readonly<Record<string, unknown>>; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = sendRequest({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Starts a server of DNS that resolves each name to IPv4 addresses, as the one of Docker does. */
async function startNameServer(addresses: readonly string[]): Promise<Socket> {
  const records = addresses.map((it) =>
    Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...it.split('.').map(Number)]),
  );
  const server = createSocket('udp4').on('message', (query, { port, address }) => {
    const questionEnd = query.indexOf(0, 12) + 5;
    const answers = query.readUInt16BE(questionEnd - 4) === 1 ? records : [];
    const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, answers.length, 0, 0, 0, 0]);
    server.send(Buffer.concat([header, query.subarray(12, questionEnd), ...answers]), port, address);
  });
  await once(server.bind(0, '127.0.0.1'), 'listening');
  return server;
}

suite('the configurations in the documents', {
  'are files of the folder deployment, each with a test, and not blocks of the documents': () => {
    const languages = pages.flatMap((page) => [...read(page).matchAll(/^```(\w+)$/gm)].map(([, name]) => name));
    const configurations = languages.filter((name) => !NOT_CONFIGURATIONS.includes(name as string));
    assert.deepEqual(configurations, []);
    assert.deepEqual(readdirSync(join(root, 'deployment')).sort(), Object.keys(testedBy).sort());
    for (const test of Object.values(testedBy)) assert.ok(existsSync(join(root, 'test/deployment', test)), test);
  },

  'are accepted by nginx, which passes the longest headers, and the errors for large bodies and headers': () =>
    withProcess({ LINKS_PORT: '0', TRUST_PROXY: 'loopback' }, async ({ url, output }) => {
      const linksUrl = /^Short links: (.*)$/m.exec(output.stdout)?.[1] as string;
      await withNginx([new URL(url).host], new URL(linksUrl).host, async (port) => {
        const headers = { Host: 'api.example.com', Authorization: `Bearer ${DEMO_API_KEY}` };
        const names = Array.from({ length: 37 }, (_, i) => `${i}`.padEnd(190, 'x'));
        const query = ['Launch', ...names].map((name) => `tagNames=${name}`).join('&');
        const list = await sendTls(port, { path: `/campaigns?pageSize=1&${query}`, headers });
        assert.equal(list.status, 200, list.text);
        assert.ok(String(list.headers.link).length > MAX_LINK_BYTES - 200, `${String(list.headers.link).length}`);
        assert.equal(list.headers['strict-transport-security'], 'max-age=31536000');
        const longest = `search=${'x'.repeat(MAX_HEADER_BYTES - 500)}`;
        assert.equal((await sendTls(port, { path: `/campaigns?${longest}`, headers })).status, 422);
        const post = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' } };
        const body = JSON.stringify({ name: 'x'.repeat(1.5 * 2 ** 20) });
        for (const request of [
          { path: '/tags', ...post, body },
          { path: `/${'x'.repeat(MAX_HEADER_BYTES)}`, headers },
        ]) {
          const { status, text } = await sendTls(port, request);
          assert.deepEqual([status, JSON.parse(text).error.code], [400, 'bad_request']);
        }

        const destinationUrl = 'https://example.com/'.padEnd(MAX_LOCATION_BYTES, 'x');
        const fields = { status: 'published', domain: LINKS_DOMAIN, destinationUrl };
        const campaign = await request(`${url}/campaigns`, 'POST', { body: { ...campaignBody, ...fields } });
        const { json: share } = await request(`${url}/campaigns/${campaign.json.id}/shares`, 'POST');
        const { host, pathname: path } = new URL(share.link);
        const visit = await sendTls(port, { path, headers: { Host: host } });
        assert.deepEqual([visit.status, visit.headers.location], [302, destinationUrl]);
      });
    }),

  'balance two processes with nginx and with HAProxy, and serve while one is killed': () =>
    withTemporaryFolder(async (folder) => {
      const [PORT, LINKS_PORT, linksPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
      const hosts = ['127.0.0.1', '127.0.0.2'] as const;
      const settings = { PORT: `${PORT}`, LINKS_PORT: `${LINKS_PORT}`, TRUST_PROXY: '1' };
      const dns = await startNameServer(hosts);
      const createHaproxyConfig = (port: number) =>
        read('deployment/haproxy.cfg')
          .replace('127.0.0.11:53', `127.0.0.1:${dns.address().port}`)
          .replace('bind :3000', `bind 127.0.0.1:${port}`)
          .replace('bind :3001', `bind 127.0.0.1:${linksPort}`)
          .replace('check port 3000', `check port ${PORT}`)
          .replace('advocacy:3000', `advocacy:${PORT}`)
          .replace('advocacy:3001', `advocacy:${LINKS_PORT}`);
      const haproxyPath = await findProgram('haproxy');
      const processes = await Promise.all(hosts.map((HOST) => startProcess({ ...settings, HOST })));
      const haproxy = await startServerProcess(haproxyPath, (port) => {
        writeFileSync(join(folder, 'haproxy.cfg'), createHaproxyConfig(port));
        return ['-db', '-f', join(folder, 'haproxy.cfg')];
      });
      try {
        const addresses = hosts.map((host) => `${host}:${PORT}`);
        await withNginx(addresses, `${hosts[0]}:${LINKS_PORT}`, async (nginxPort) => {
          const headers = { Host: 'api.example.com', Authorization: `Bearer ${DEMO_API_KEY}` };
          const throughNginx = () => sendTls(nginxPort, { path: '/me', headers });
          const throughHaproxy = () => send(`http://127.0.0.1:${haproxy.port}`, { path: '/me', headers });
          for (const get of [throughNginx, throughHaproxy]) {
            const workspaces = new Set<string>();
            await waitUntil(async () => {
              const { status, text } = await get();
              if (status === 200) workspaces.add(JSON.parse(text).workspace.id);
              return workspaces.size === 2;
            });
          }
          await processes[0]?.kill();
          for (const get of [throughNginx, throughHaproxy]) {
            const statuses = (await Promise.all(Array.from({ length: 20 }, get))).map(({ status }) => status);
            assert.deepEqual([...new Set(statuses)], [200]);
          }
          assert.equal((await send(`http://127.0.0.1:${linksPort}`, { path: '/unknown1' })).status, 404);
        });
      } finally {
        dns.close();
        await Promise.all([haproxy.stop(), ...processes.map((it) => it.kill())]);
      }
    }),

  'are accepted by Caddy': () =>
    withTemporaryFolder(async (folder) => {
      const file = join(root, 'deployment/Caddyfile');
      await runCommand('env', `HOME=${folder}`, await findProgram('caddy'), 'validate', '--config', file);
    }),

  'are accepted by systemd without a warning, and give the services few rights': () =>
    withTemporaryFolder(async (folder) => {
      const analyze = await findProgram('systemd-analyze');
      const units = ['advocacy.service', 'advocacy-backup.service', 'advocacy-backup.timer'];
      for (const unit of units) writeFileSync(join(folder, unit), read(`deployment/${unit}`));
      writeFileSync(join(folder, 'advocacy@.service'), read('deployment/advocacy.service'));
      mkdirSync(join(folder, 'advocacy@.service.d'));
      writeFileSync(join(folder, 'advocacy@.service.d/ports.conf'), read('deployment/advocacy-ports.conf'));
      const environment = `SYSTEMD_UNIT_PATH=${folder}:`;
      const script = 'for unit do "$0" verify "$unit" 2>&1; done';
      const output = await runCommand(
        'env',
        environment,
        'sh',
        '-c',
        script,
        analyze,
        ...units,
        'advocacy@3001.service',
      );
      const hasProblem = (line: string) => line.includes('advocacy') && !/not executable|not exist/.test(line);
      assert.deepEqual(output.split('\n').filter(hasProblem), []);
      for (const unit of units.slice(0, 2)) {
        await runCommand(analyze, 'security', '--offline=true', '--threshold=30', join(folder, unit));
      }
    }),

  'are valid settings of the service without a warning': () => {
    const blocks = [...read('docs/operating.md').matchAll(/<<'END'\n((?:[A-Z_]+=.*\n)+)END$/gm)];
    assert.equal(blocks.length, 2);
    for (const [, block] of blocks) {
      const lines = (block as string).trim().split('\n');
      const environment = Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
      assert.equal(readSettings(environment).LINKS_URL, 'https://go.example.com');
      assert.deepEqual(getSettingWarnings(environment), []);
    }
  },

  'are accepted by Prometheus, and each alert fires': () =>
    withTemporaryFolder(async (folder) => {
      const promtool = await findProgram('promtool');
      await runCommand(promtool, 'check', 'config', join(root, 'deployment/prometheus.yml'));
      const { rules } = parse(read('deployment/alerts.yml')).groups[0];
      assert.deepEqual(
        rules.map(({ alert }: { alert: string }) => alert),
        Object.keys(alarming),
      );
      const tests = Object.entries(alarming).map(([alertname, series]) => ({
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertname="${alertname}", alertstate="firing"})`,
            eval_time: '30m',
            exp_samples: [{ labels: '{}', value: 1 }],
          },
        ],
      }));
      const file = join(folder, 'test.yml');
      writeFileSync(file, JSON.stringify({ rule_files: [join(root, 'deployment/alerts.yml')], tests }));
      await runCommand(promtool, 'test', 'rules', file);
    }),

  'are a deployment for Kubernetes with valid settings, existing probes, and enough time to stop': () => {
    const [deployment] = parseAllDocuments(read('deployment/kubernetes.yaml')).map((it) => it.toJS());
    const { containers, terminationGracePeriodSeconds } = deployment.spec.template.spec;
    const [{ readinessProbe, livenessProbe, lifecycle, ports, env }] = containers;
    assert.deepEqual([readinessProbe.httpGet.path, livenessProbe.httpGet.path], ['/readyz', '/healthz']);
    assert.ok(terminationGracePeriodSeconds > lifecycle.preStop.sleep.seconds + 11);
    const environment = Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value]));
    const { PORT, LINKS_PORT, METRICS_PORT } = readSettings(environment);
    const containerPorts = ports.map(({ containerPort }: { containerPort: number }) => containerPort);
    assert.deepEqual(containerPorts, [PORT, LINKS_PORT, METRICS_PORT]);
    assert.deepEqual(getSettingWarnings(environment), []);
  },

  'are a command of docker-compose.yml that redis-server accepts': () =>
    withTemporaryFolder(async (folder) => {
      const PATH = createPrograms(folder, { 'redis-server': await findProgram('redis-server', [redisSource]) });
      const [shell, option, script] = parseCompose().services.redis.command as [string, string, string];
      const server = await startServerProcess('env', (port) => [
        ...[`PATH=${PATH}`, 'REDISCLI_AUTH=secret', shell, option],
        `${interpolate(script, {}).replaceAll('/tmp/', `${folder}/`).trim()} --port ${port} --dir ${folder}`,
      ]);
      const redis = new Redis(server.port, '127.0.0.1', { password: 'secret' });
      try {
        assert.equal(await redis.ping(), 'PONG');
      } finally {
        redis.disconnect();
        await server.stop();
      }
    }),

  'are a command of docker-compose.yml that mongod accepts': () =>
    withTemporaryFolder(async (folder) => {
      const [shell, option, script] = parseCompose().services.mongodb.command as [string, string, string];
      const mongod = await findMongod();
      const server = await startServerProcess('env', (port) => {
        const entrypoint = `exec "$@" --port ${port} --dbpath ${folder} --bind_ip 127.0.0.1 --nounixsocket`;
        const PATH = createPrograms(folder, { mongod, 'docker-entrypoint.sh': `#!/bin/sh\n${entrypoint}\n` });
        return [
          `PATH=${PATH}`,
          'CACHE_GB=0.25',
          shell,
          option,
          interpolate(script, {}).replaceAll('/tmp/', `${folder}/`),
        ];
      });
      try {
        await withMongoClient(`mongodb://127.0.0.1:${server.port}/?directConnection=true`, async (client) => {
          assert.equal((await client.db('admin').command({ hello: 1 })).isreplicaset, true);
        });
      } finally {
        await server.stop();
      }
    }),
});
