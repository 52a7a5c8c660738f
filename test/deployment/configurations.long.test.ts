import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request as sendRequest } from 'node:https';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { readSettings } from '../../bootstrap/read-settings.ts';
import { CLI_PATH } from '../support/command-line.ts';
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
const guide = read('docs/operating.md');
const pages = [
  'README.md',
  'SECURITY.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** The languages of blocks that are no configurations. Other tests run these blocks. */
const NOT_CONFIGURATIONS = ['console', 'text', 'js', 'sh'];
/** The longest `Link` header and the longest URL of a redirect, in bytes. */
const [MAX_LINK_BYTES, MAX_LOCATION_BYTES] = [7_600, 2_048];

/** Returns the blocks of the operator's guide that contain a text, without their fences. */
function findBlocks(language: string, text = ''): string[] {
  return [...guide.matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, ownLanguage, block]) => ownLanguage === language && block?.includes(text))
    .map(([, , block]) => block as string);
}

function findBlock(language: string, text = ''): string {
  const [block, ...others] = findBlocks(language, text);
  assert.ok(block !== undefined && others.length === 0, `${others.length + 1} blocks of ${language} with "${text}"`);
  return block;
}

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

/** Runs nginx with a `server` block of the guide in front of a service, and passes its port to the test. */
function withNginx(block: string, serviceUrl: string, test: (port: number) => Promise<void>): Promise<void> {
  return withTemporaryFolder(async (folder) => {
    const certificate = ['-keyout', join(folder, 'key'), '-out', join(folder, 'pem'), '-subj', '/CN=test'];
    await runCommand(await findProgram('openssl'), 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...certificate);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
    const nginx = await startServerProcess(await findProgram('nginx'), (port) => {
      const server = block
        .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
        .replace(/127\.0\.0\.1:300\d;/, `${new URL(serviceUrl).host};`)
        .replace(/\/etc\/ssl\/\S+\.(pem|key);/g, `${folder}/$1;`);
      const http = `access_log off; ${temporary.join(' ')}\n${server}`;
      const config = `daemon off; master_process off; pid pid; error_log stderr;\nevents {}\nhttp {${http}}\n`;
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
  'are in languages that this file tests, or that other tests run': () => {
    const languages = pages.flatMap((page) => [...read(page).matchAll(/^```(\w+)$/gm)].map(([, name]) => name));
    const configurations = languages.filter((name) => !NOT_CONFIGURATIONS.includes(name as string));
    assert.deepEqual([...new Set(configurations)].sort(), ['caddyfile', 'cron', 'env', 'ini', 'nginx', 'yaml']);
    assert.deepEqual(
      pages.filter((page) => /^```(?:ini|env|nginx|cron|caddyfile|yaml)$/m.test(read(page))),
      ['docs/operating.md'],
    );
  },

  'are accepted by nginx, which passes the longest headers, and the errors for large bodies': () =>
    withProcess({ LINKS_PORT: '0', TRUST_PROXY: 'loopback' }, async ({ url, output }) => {
      await withNginx(findBlock('nginx', 'api.example.com'), url, async (port) => {
        const headers = { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' };
        const names = Array.from({ length: 37 }, (_, i) => `${i}`.padEnd(190, 'x'));
        const query = ['Launch', ...names].map((name) => `tagNames=${name}`).join('&');
        const list = await sendTls(port, { path: `/campaigns?pageSize=1&${query}`, headers });
        assert.equal(list.status, 200, list.text);
        assert.ok(String(list.headers.link).length > MAX_LINK_BYTES - 200, `${String(list.headers.link).length}`);
        const body = JSON.stringify({ name: 'x'.repeat(1.5 * 2 ** 20) });
        const large = await sendTls(port, { path: '/tags', method: 'POST', headers, body });
        assert.deepEqual([large.status, JSON.parse(large.text).error.code], [400, 'bad_request']);
      });
      const destinationUrl = 'https://example.com/'.padEnd(MAX_LOCATION_BYTES, 'x');
      const fields = { status: 'published', domain: 'go.northwind.example', destinationUrl };
      const campaign = await request(`${url}/campaigns`, 'POST', { body: { ...campaignBody, ...fields } });
      const { json: share } = await request(`${url}/campaigns/${campaign.json.id}/shares`, 'POST');
      const linksUrl = /^Short links: (.*)$/m.exec(output.stdout)?.[1] as string;
      await withNginx(findBlock('nginx', 'go.northwind.example'), linksUrl, async (port) => {
        const { host, pathname: path } = new URL(share.link);
        const { status, headers } = await sendTls(port, { path, headers: { Host: host } });
        assert.deepEqual([status, headers.location], [302, destinationUrl]);
      });
    }),

  'balance two processes with nginx and with HAProxy, and serve while one is killed': () =>
    withTemporaryFolder(async (folder) => {
      const [PORT, LINKS_PORT, linksPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
      const hosts = ['127.0.0.1', '127.0.0.2'] as const;
      const settings = { PORT: `${PORT}`, LINKS_PORT: `${LINKS_PORT}`, TRUST_PROXY: '1' };
      const nginxBlock = (findBlock('nginx', 'upstream') + findBlock('nginx', 'api.example.com'))
        .replace('127.0.0.1:3001', `${hosts[0]}:${PORT}`)
        .replace('127.0.0.1:3002', `${hosts[1]}:${PORT}`)
        .replace('http://127.0.0.1:3000', 'http://advocacy');
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
        await withNginx(nginxBlock, processes[0]?.url as string, async (nginxPort) => {
          const headers = { Authorization: `Bearer ${DEMO_API_KEY}` };
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
      const caddy = await findProgram('caddy');
      writeFileSync(join(folder, 'Caddyfile'), findBlock('caddyfile'));
      await runCommand('env', `HOME=${folder}`, caddy, 'validate', '--config', join(folder, 'Caddyfile'));
    }),

  'are accepted by systemd without a warning': () =>
    withTemporaryFolder(async (folder) => {
      const analyze = await findProgram('systemd-analyze');
      for (const unit of findBlocks('ini')) {
        const file = join(folder, `advocacy${unit.includes('%i') ? '@3001' : ''}.service`);
        writeFileSync(file, unit.replace('/usr/bin/node', process.execPath));
        const output = await runCommand('sh', '-c', '"$0" verify "$1" 2>&1', analyze, file);
        assert.deepEqual(
          output.split('\n').filter((line) => line.includes('advocacy')),
          [],
        );
      }
    }),

  'are valid settings of the service': () => {
    const lines = findBlock('env').trim().split('\n');
    const environment = Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
    assert.equal(readSettings(environment).SQLITE_FILE, '/var/lib/advocacy/advocacy.db');
  },

  'are accepted by Prometheus': () =>
    withTemporaryFolder(async (folder) => {
      const promtool = await findProgram('promtool');
      const rules = join(folder, 'rules.yml');
      writeFileSync(rules, findBlock('yaml', 'alert:'));
      assert.match(await runCommand(promtool, 'check', 'rules', rules), /SUCCESS: \d+ rules found/);
    }),

  'are probes of Kubernetes that the service has, and enough time to stop': () => {
    const { readinessProbe, livenessProbe, ...pod } = parse(findBlock('yaml', 'readinessProbe'));
    const port = readSettings({}).PORT;
    assert.deepEqual(
      [readinessProbe.httpGet, livenessProbe.httpGet],
      [
        { path: '/readyz', port },
        { path: '/healthz', port },
      ],
    );
    assert.ok(pod.terminationGracePeriodSeconds > pod.lifecycle.preStop.sleep.seconds + 11);
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

  'back up a file with cron, and restore it with the revocation of a key that the restore makes valid': () =>
    withTemporaryFolder(async (folder) => {
      const settings = { STORAGE: 'sqlite', SQLITE_FILE: join(folder, 'advocacy.db') };
      const strip =
        '#!/bin/sh\nfor arg do shift; [ "$arg" = --owner ] || [ "$arg" = advocacy ] || set -- "$@" "$arg"; done\n';
      const PATH = createPrograms(folder, {
        sudo: '#!/bin/sh\nshift 2\nexec "$@"\n',
        systemctl: '#!/bin/sh\n',
        install: `${strip}exec /usr/bin/install "$@"\n`,
      });
      writeFileSync(join(folder, 'advocacy.env'), `SQLITE_FILE=${settings.SQLITE_FILE}\n`);
      const run = (script: string) => {
        const local = script
          .replaceAll('/var/lib/advocacy', folder)
          .replaceAll('/var/backups/advocacy', `${folder}/backups`)
          .replaceAll('/etc/advocacy.env', `${folder}/advocacy.env`)
          .replaceAll('/opt/workspace-advocacy', root)
          .replaceAll('dist/bootstrap/cli.js', CLI_PATH);
        return runCommand('env', `PATH=${PATH}`, 'sh', '-ec', local);
      };
      const [command = ''] = findBlock('', 'advocacy workspace create --name Contoso').split(/^advocacy workspace/m);
      const [, , cron = ''] = /^(?:\S+ ){5}(\S+) (.*)$/m.exec(findBlock('cron')) ?? [];
      const [list = ''] = /^advocacy workspace list$/m.exec(findBlock('', 'KEY_ID\nsystemctl start')) ?? [];

      const service = await startProcess(settings);
      const [{ id: workspace }] = JSON.parse(await run(`${command}\n${list} --json`));
      const { id, key } = JSON.parse(await run(`${command}\nadvocacy key create --workspace ${workspace} --json`));
      await run(/`(install --directory [^`]*)`/.exec(guide)?.[1] ?? 'false');
      await run(cron.replaceAll('\\%', '%'));
      await run(`${command}\nadvocacy key delete --workspace ${workspace} ${id}`);
      service.child.kill('SIGTERM');
      await service.waitForExit();

      const [name = ''] = readdirSync(join(folder, 'backups'));
      await run(findBlock('', 'mktemp').replace('2026-01-31.db', name));
      const statuses: number[] = [];
      const addStatus = () =>
        withProcess(settings, async ({ url }) => {
          statuses.push((await request(`${url}/campaigns`, 'GET', { key })).status);
        });
      await addStatus();
      await run(
        `${command}\n${findBlock('', 'KEY_ID\nsystemctl start').replaceAll('WORKSPACE', workspace).replace('KEY_ID', id)}`,
      );
      await addStatus();
      assert.deepEqual(statuses, [200, 401]);
    }),
});
