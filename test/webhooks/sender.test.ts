import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createWebhookSender, type FindAddresses } from '../../adapters/webhooks/sender.ts';
import { WEBHOOK_TIMEOUT_MS } from '../../core/limits.ts';
import { NOON } from '../support/core.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { startReceiver, verify, type WebhookReceiver } from '../support/webhook-receiver.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

const MESSAGE = {
  id: '0199c3a4-5b7e-7c10-9a41-3f0f5c1d2e05',
  sequence: 7,
  type: 'share.created',
  createdAt: new Date(NOON).toISOString(),
  data: { campaignId: 'a', memberId: 'é' },
} as const;

/** Names that resolve to fixed addresses. Other names do not exist. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'loopback.example': ['127.0.0.1'],
  'private.example': ['10.0.0.1'],
  'mixed.example': ['203.0.113.1', '127.0.0.1'],
  'public-and-loopback.example': ['8.8.8.8', '127.0.0.1'],
  'mapped.example': ['::ffff:127.0.0.1'],
};

const findAddresses: FindAddresses = async (name) => {
  const addresses = NAMES[name];
  if (!addresses) throw Object.assign(new Error(name), { code: 'NAME_NOT_FOUND' });
  return addresses;
};

const secret = createWebhookSender().createSecret();

/** Sends the message to a URL. Returns the outcome without the duration. */
async function send(url: string, networks = LOOPBACK) {
  const { durationMs, ...outcome } = await createWebhookSender(networks, findAddresses).send({ url, secret }, MESSAGE);
  assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
  return outcome;
}

/** Runs a test with a receiver that responds in some way. */
async function withReceiver(
  respond: RequestListener,
  test: (receiver: WebhookReceiver) => Promise<void>,
  isSecure = false,
): Promise<void> {
  const receiver = await startReceiver((_request, ...args) => respond(...args), isSecure);
  try {
    await test(receiver);
  } finally {
    await receiver.close();
  }
}

/** Runs a test with a server that handles connections. */
async function withSocketServer(onConnection: (socket: Socket) => void, test: (port: number) => Promise<void>) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => socket.destroy()));
    onConnection(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await test((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
}

suite('a message to a webhook', {
  'is a signed POST with the event alone': () =>
    withReceiver(
      (_message, response) => response.writeHead(200).end('ok'),
      async ({ url, requests }) => {
        const event = { ...MESSAGE, workspaceId: 'own', expiresAt: 9 };
        const before = Math.floor(Date.now() / 1000);
        const outcome = await createWebhookSender(LOOPBACK).send({ url: `${url}?a=b`, secret }, event);
        assert.deepEqual([outcome.status, outcome.problem, outcome.retryAfterMs], [200, '', undefined]);
        const [request] = requests;
        assert.ok(request && requests.length === 1);
        assert.deepEqual(verify(secret, request), MESSAGE);
        assert.equal(request.path, '/hook?a=b');
        assert.equal(request.headers['content-type'], 'application/json');
        assert.ok(Number(request.headers['webhook-timestamp']) >= before);
        assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
        assert.notEqual(createWebhookSender().createSecret(), secret);
      },
    ),

  'is delivered with any 2xx, and follows no redirect': async () => {
    for (const [status, problem] of [
      [200, ''],
      [204, ''],
      [299, ''],
      [301, 'status'],
      [307, 'status'],
      [400, 'status'],
      [410, 'status'],
      [503, 'status'],
    ] as const) {
      await withReceiver(
        (_message, response) => response.writeHead(status, { Location: '/other' }).end(),
        async ({ url, requests }) => {
          assert.deepEqual(await send(url), { status, problem, retryAfterMs: undefined });
          assert.equal(requests.length, 1);
        },
      );
    }
  },

  'is delivered before the body of the response ends': () =>
    withReceiver(
      (_message, response) => response.writeHead(200).write('x'),
      async ({ url }) => assert.equal((await send(url)).problem, ''),
    ),

  'returns the Retry-After of the response': async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString();
    const cases = [
      ['0', 0, 0],
      ['7', 7_000, 7_000],
      [inAMinute, 50_000, 60_000],
      [new Date(0).toUTCString(), 0, 0],
      ['-1', 0, 0],
      ['soon', 0, 0],
    ] as const;
    for (const [text, min, max] of cases) {
      await withReceiver(
        (_message, response) => response.writeHead(503, { 'Retry-After': text }).end(),
        async ({ url }) => {
          const { retryAfterMs = 0 } = await send(url);
          assert.ok(retryAfterMs >= min && retryAfterMs <= max, `${text}: ${retryAfterMs}`);
        },
      );
    }
  },

  'fails if the server resets the connection, or responds with something else': async () => {
    const answers: Readonly<Record<string, (socket: Socket) => void>> = {
      reset: (socket) => socket.resetAndDestroy(),
      'close without a response': (socket) => socket.end(),
      'reset after the request': (socket) => socket.once('data', () => socket.resetAndDestroy()),
      garbage: (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
      'no status': (socket) => socket.end('HTTP/1.1 000 None\r\n\r\n'),
      'large headers': (socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`),
      'another protocol': (socket) => socket.end('HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n'),
    };
    await each(answers, (answer) =>
      withSocketServer(answer, async (port) =>
        assert.deepEqual(await send(`http://127.0.0.1:${port}`), { status: null, problem: 'connection reset' }),
      ),
    );
  },

  'fails if nothing listens': async () => {
    const receiver = await startReceiver();
    await receiver.close();
    assert.deepEqual(await send(receiver.url), { status: null, problem: 'connection refused' });
  },

  'fails after 15 seconds, also if bytes arrive or the name servers are slow': () =>
    withSocketServer(
      (socket) => {
        const timer = setInterval(() => socket.write('x'), 10);
        socket.on('close', () => clearInterval(timer)).write('HTTP/1.1 200 OK\r\nX: ');
      },
      async (port) => {
        assert.equal(WEBHOOK_TIMEOUT_MS, 15_000);
        const urls = [`http://127.0.0.1:${port}`, 'https://slow.example'];
        const slowNames: FindAddresses = () => new Promise(() => undefined);
        for (const url of urls) {
          const sender = createWebhookSender(LOOPBACK, slowNames, 100);
          const { status, problem } = await sender.send({ url, secret }, MESSAGE);
          assert.deepEqual([status, problem], [null, 'timeout'], url);
        }
      },
    ),

  'fails if the certificate is not trusted, or the server does not speak TLS': async () => {
    const ok: RequestListener = (_message, response) => response.end();
    const expected = { status: null, problem: 'tls' };
    await withReceiver(
      ok,
      async ({ url, requests }) => {
        assert.deepEqual(await send(url), expected);
        assert.equal(requests.length, 0);
      },
      true,
    );
    await withReceiver(ok, async ({ port }) => assert.deepEqual(await send(`https://127.0.0.1:${port}`), expected));
  },

  'fails if the name is unknown': async () => {
    assert.deepEqual(await send('https://unknown.example'), { status: null, problem: 'name not found' });
  },

  'finds local names as the operating system does': () =>
    withReceiver(
      (_message, response) => response.end(),
      async ({ port }) => {
        const url = `http://localhost:${port}`;
        assert.equal((await createWebhookSender(LOOPBACK).send({ url, secret }, MESSAGE)).problem, '');
      },
    ),

  'is sent only to addresses that are public or allowed': () =>
    withReceiver(
      (_message, response) => response.end(),
      async ({ port, requests }) => {
        const cases: Readonly<Record<string, readonly [url: string, networks: string[]]>> = {
          'a literal private address': [`https://127.0.0.1:${port}`, []],
          'a literal IPv6 address': [`https://[::1]:${port}`, []],
          'a mapped address': [`https://[::ffff:127.0.0.1]:${port}`, []],
          'an address of IPv4 in IPv6': [`https://[::127.0.0.1]:${port}`, []],
          'a name of a private address': ['https://private.example', []],
          'a name of a mapped address': ['https://mapped.example', []],
          'a name of a private address, and of a public one': ['https://public-and-loopback.example', []],
          'a public address without TLS': ['http://8.8.8.8', LOOPBACK],
          'a name of an allowed and a public address, without TLS': ['http://public-and-loopback.example', LOOPBACK],
          'a name of an allowed and a private address, without TLS': ['http://mixed.example', LOOPBACK],
          'another network': [`http://127.0.0.1:${port}`, ['10.0.0.0/8', 'fd00::/8']],
        };
        await each(cases, async ([url, networks]) =>
          assert.deepEqual(await send(url, networks), { status: null, problem: 'address not allowed' }),
        );
        assert.equal(requests.length, 0);
        const { problem } = await send(`http://loopback.example:${port}`, ['10.0.0.0/8', '::1', '127.0.0.1']);
        assert.equal(problem, '');
        assert.equal((await send(`http://mapped.example:${port}`)).problem, '');
      },
    ),
});

suite('the URL of a webhook', {
  'has https, and a name or a public address': () => {
    const { findUrlProblem } = createWebhookSender();
    const allowed = ['example.com', 'localhost', '8.8.8.8', '[2606:4700::1111]', 'example.com:8443/a?b=c', 'intranet'];
    for (const rest of allowed) assert.equal(findUrlProblem(`https://${rest}`), undefined, rest);
    for (const rest of allowed) assert.match(findUrlProblem(`http://${rest}`) ?? '', /begins with https:\/\//, rest);
  },

  'has no address that is not public, in any form': () => {
    const hosts = [
      ...['127.0.0.1', '127.1', '127.0.0.1.', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '１２７.0.0.1'],
      ...['0.0.0.0', '0', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '198.18.0.1'],
      ...['192.0.2.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '192.0.0.1'],
      ...['[::1]', '[::]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:8.8.8.8]', '[::ffff:7f00:1]', '[fe80::1]'],
      ...['[fc00::1]', '[fd12::1]', '[ff02::1]', '[2001:db8::1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fec0::1]'],
      ...['[4000::1]', '[2001::1]', '[100::1]'],
    ];
    const { findUrlProblem } = createWebhookSender();
    for (const host of hosts) assert.match(findUrlProblem(`https://${host}/a`) ?? '', /public address/, host);
  },

  'has an address of the allowed networks, also without https': () => {
    const { findUrlProblem } = createWebhookSender(['10.0.0.0/8', '192.168.1.1', 'fd00::/8']);
    for (const host of ['10.1.2.3', '192.168.1.1', '[fd12::1]', '0xa000001', '[::ffff:10.0.0.1]', 'intranet.example'])
      for (const scheme of ['http', 'https']) assert.equal(findUrlProblem(`${scheme}://${host}`), undefined, host);
    for (const host of ['11.0.0.1', '8.8.8.8', '192.168.1.2', '[fe80::1]'])
      assert.match(findUrlProblem(`http://${host}`) ?? '', /public address/, host);
  },
});
