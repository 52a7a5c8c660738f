import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createLargePage, requestBytes } from '../support/concurrent-clients.ts';
import { SMALL_HEAP, withProcess } from '../support/process.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';
import { usageOf } from '../support/usage.ts';

/**
 * The number of unread responses. Each has a quarter of a megabyte, so that they do not fit into the buffers of a
 * connection.
 */
const UNREAD_COUNT = 40;
/** The maximum number of waiting requests of a connection (adapters/http/protection/pipelining.ts). */
const MAX_WAITING_COUNT = 100;
/**
 * How much the memory of the service may grow while clients send as much as they can. It is 128 MB of heap, and
 * buffers.
 */
const MAX_GROWTH_MIB = 200;
const TINY_CHUNKS_HEAD = `POST /tags HTTP/1.1\r\nHost:\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
const createCampaignBytes = (i: number) =>
  requestBytes('POST', '/campaigns', JSON.stringify({ ...createCampaignBody(), name: `pipelined ${i}` }));
const SEARCH_PATH = '/campaigns?search=pipelined';
/** The request after which the service closes the connection. */
const last = Buffer.from('GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n');

/** Opens a connection and sends requests. The client reads no response until it calls `resume`. */
async function sendUnread(url: string, requests: readonly Buffer[]) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  socket.write(Buffer.concat(requests));
  return socket;
}

const countCreated = async ({ call }: Api): Promise<number> =>
  ((await call('GET', SEARCH_PATH)).json as unknown[]).length;

suite('requests of one connection', {
  'are served one after another': () =>
    withService(async ({ url }) => {
      const requests = Array.from({ length: 20 }, (_, i) => [
        createCampaignBytes(i),
        requestBytes('GET', SEARCH_PATH),
      ]).flat();
      const responses = await sendRaw(url, [Buffer.concat([...requests, last])], false);
      const counts = responses.filter((_, i) => i % 2 === 1).map(({ body }) => JSON.parse(body).length);
      assert.deepEqual(
        counts,
        Array.from({ length: 20 }, (_, i) => i + 1),
      );
    }),

  'wait while their client does not read, and are served when it reads again': () =>
    withService(async (api) => {
      await createLargePage(api.url);
      const socket = await sendUnread(api.url, [
        ...Array(UNREAD_COUNT).fill(requestBytes('GET', '/campaigns')),
        createCampaignBytes(0),
        last,
      ]);
      await delay(500);
      assert.equal(await countCreated(api), 0);
      socket.resume();
      await once(socket, 'close');
      assert.equal(await countCreated(api), 1);
    }),

  'are discarded when the connection closes': () =>
    withService(async (api) => {
      await createLargePage(api.url);
      const socket = await sendUnread(api.url, [
        ...Array(UNREAD_COUNT).fill(requestBytes('GET', '/campaigns')),
        createCampaignBytes(0),
      ]);
      await delay(500);
      socket.destroy();
      await delay(500);
      assert.equal(await countCreated(api), 0);
    }),

  'are all served even if they exceed the maximum, because the service reads no more while a request waits': () =>
    withService(async ({ url, app }) => {
      Object.assign(app, { checkReady: () => delay(500) });
      const socket = await sendUnread(url, [Buffer.from('GET /readyz HTTP/1.1\r\nHost:\r\n\r\n')]);
      let received = '';
      socket.on('data', (chunk) => (received += chunk)).resume();
      await delay(20);
      // A read of the server has at most 64 KiB, so it contains fewer than 70 of these requests.
      const some = `GET /${'a'.repeat(1_000)} HTTP/1.1\r\nHost:\r\n\r\n`.repeat(2 * MAX_WAITING_COUNT);
      socket.write(Buffer.concat([Buffer.from(some), last]));
      await once(socket, 'close');
      assert.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 2 * MAX_WAITING_COUNT);
    }),

  'are served if they arrive at the same time, up to the maximum, beyond which the connection is closed': () =>
    withService(async ({ url }) => {
      const request = 'GET /a HTTP/1.1\r\nHost:\r\n\r\n';
      const responses = await sendRaw(url, [request.repeat(MAX_WAITING_COUNT), last], false);
      assert.equal(responses.length, MAX_WAITING_COUNT + 1);
      const socket = await sendUnread(url, [Buffer.from(request.repeat(MAX_WAITING_COUNT + 2))]);
      await once(socket.resume(), 'close');
    }),

  'do not fill the memory, whether they wait or have bodies in tiny chunks': () =>
    withProcess({ LOG_LEVEL: 'warn', ...SMALL_HEAP }, async ({ url, child }) => {
      await createLargePage(url);
      const { residentMiB } = usageOf(child.pid as number);
      const before = residentMiB();
      const unread = Array(UNREAD_COUNT).fill(requestBytes('GET', '/campaigns'));
      const floods = {
        'many requests': Buffer.from('GET /a HTTP/1.1\r\nHost:\r\n\r\n'.repeat(1_000)),
        'tiny chunks': Buffer.from(`${TINY_CHUNKS_HEAD}${'1\r\n \r\n'.repeat(20_000)}`),
      };
      for (const [name, flood] of Object.entries(floods)) {
        for (const requests of [[...unread, flood], [flood]]) {
          const sockets = await Promise.all(Array.from({ length: 250 }, () => sendUnread(url, [])));
          for (const socket of sockets) socket.write(Buffer.concat(requests));
          await delay(1_000);
          const growth = residentMiB() - before;
          assert.ok(growth < MAX_GROWTH_MIB, `${name}: ${growth} MiB`);
          for (const socket of sockets) socket.destroy();
        }
      }
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    }),

  'are read no further than the buffers of their connections while their bodies are not needed': () =>
    withService(async ({ url, app }) => {
      Object.assign(app.apiKeys, { authenticate: () => delay(3_000).then(() => Promise.reject(new Error())) });
      const chunk = Buffer.from(`10000\r\n${' '.repeat(0x10000)}\r\n`);
      const socket = await sendUnread(url, [Buffer.from(TINY_CHUNKS_HEAD), ...Array<Buffer>(1_000).fill(chunk)]);
      await delay(2_000);
      assert.ok(socket.writableLength > 0);
      socket.destroy();
    }),

  'do not fill the memory on the port of the metrics, where each response is larger than its request': () =>
    withProcess({ LOG_LEVEL: 'warn', METRICS_PORT: '0', ...SMALL_HEAP }, async ({ url, output, child }) => {
      const metricsUrl = /Metrics: (\S+)/.exec(output.stdout)?.[1] as string;
      const { residentMiB } = usageOf(child.pid as number);
      const before = residentMiB();
      const flood = Buffer.from('GET /metrics HTTP/1.1\r\nHost:\r\n\r\n'.repeat(1_500));
      const sockets = await Promise.all(Array.from({ length: 20 }, () => sendUnread(metricsUrl, [flood])));
      await delay(3_000);
      const growth = residentMiB() - before;
      for (const socket of sockets) socket.destroy();
      assert.ok(growth < MAX_GROWTH_MIB, `${growth} MiB`);
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    }),

  'do not block other connections if they are rejected while they wait': () =>
    withService(async ({ url, call }) => {
      const head = 'POST /tags HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
      const broken = `GET /a HTTP/1.1\r\nHost:\r\n\r\n${head}`;
      for (let sent = 0; sent < 600; sent += 50) {
        await Promise.all(Array.from({ length: 50 }, () => sendRaw(url, [broken], false)));
      }
      await delay(600);
      assert.equal((await call('GET', '/campaigns')).status, 200);
    }),
});
