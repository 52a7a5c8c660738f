import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createLargePage, requestBytes } from '../support/concurrent-clients.ts';
import { assertError } from '../support/expected-responses.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody, createTenant } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The number of unread responses. Each has half a megabyte, so that they do not fit into the buffers of a connection. */
const UNREAD_COUNT = 40;
/** The maximum number of waiting requests of all connections (adapters/http/protection/pipelining.ts). */
const MAX_PIPELINED_COUNT = 4_000;
/** The number of small requests that are sent in one write. */
const BATCH_SIZE = 2_000;
/** The number of questions on a page. If they have the longest descriptions, the page has three megabytes. */
const QUESTION_COUNT = 100;
const CONNECTION_COUNT = 10;

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

  'wait while their client does not read, and are served when it does': () =>
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

  'are not read while one of them waits, so that they do not exceed the maximum': () =>
    withService(async ({ url, app }) => {
      Object.assign(app, { checkReady: () => delay(1_500) });
      const some = 'GET /a HTTP/1.1\r\nHost:\r\n\r\n'.repeat(BATCH_SIZE);
      const socket = await sendUnread(url, [Buffer.from('GET /readyz HTTP/1.1\r\nHost:\r\n\r\n')]);
      let received = '';
      socket.on('data', (chunk) => (received += chunk)).resume();
      for (let sent = 0; sent < 2 * MAX_PIPELINED_COUNT; sent += BATCH_SIZE) {
        socket.write(some);
        await delay(20);
      }
      socket.write(last);
      await once(socket, 'close');
      assert.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 2 * MAX_PIPELINED_COUNT);
    }),

  'do not block later requests if they are rejected while they wait': () =>
    withService(async ({ url, call }) => {
      const head = 'POST /tags HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
      const broken = `GET /a HTTP/1.1\r\nHost:\r\n\r\n${head}`;
      for (let sent = 0; sent < 600; sent += 50) {
        await Promise.all(Array.from({ length: 50 }, () => sendRaw(url, [broken], false)));
      }
      await delay(600);
      assert.equal((await call('GET', '/campaigns')).status, 200);
    }),

  'cause their connection to be closed if too many wait, without affecting other connections': () =>
    withService(
      async (api) => {
        await createLargePage(api.url);
        const requests = [
          ...Array(UNREAD_COUNT).fill(requestBytes('GET', '/campaigns')),
          ...Array(BATCH_SIZE).fill(Buffer.from('GET /a HTTP/1.1\r\nHost:\r\n\r\n')),
        ];
        for (const round of [1, 2]) {
          const sockets: Socket[] = [];
          for (let i = 0; i < CONNECTION_COUNT; i++) sockets.push(await sendUnread(api.url, requests));
          await delay(500);
          // A client that does not read notices only by writing that its connection was closed.
          for (const _ of [1, 2, 3, 4]) {
            for (const socket of sockets) socket.write('GET');
            await delay(100);
          }
          const openCount = sockets.filter(({ destroyed }) => !destroyed).length;
          assert.ok(
            openCount >= Math.floor(MAX_PIPELINED_COUNT / (UNREAD_COUNT + BATCH_SIZE)) && openCount < CONNECTION_COUNT,
            `round ${round}: ${openCount}`,
          );
          assert.equal((await api.call('GET', '/campaigns')).status, 200);
          for (const socket of sockets) socket.destroy();
        }
        const metrics = await (await fetch(api.metricsUrl as string)).text();
        assert.match(metrics, /^http_connections_cut_total\{reason="too_many_pipelined"\} [1-9]/m);
      },
      { settings: { METRICS_PORT: '0' } },
    ),
});

suite('responses that clients do not read', {
  'cause a 429 for reads of their workspace if they take too much memory, without affecting other workspaces': () =>
    withService(async (api) => {
      const { url, call } = api;
      const { key } = await createTenant(api, 'other');
      for (let i = 0; i < QUESTION_COUNT; i++) {
        const body = { question: `What is ${i}?`, description: '\u0001'.repeat(4_998) };
        assert.equal((await call('POST', '/inspiration-questions', { body })).status, 201);
      }
      const page = `/inspiration-questions?pageSize=${QUESTION_COUNT}`;
      const sockets: Socket[] = [];
      while (sockets.length < UNREAD_COUNT)
        sockets.push(await sendUnread(url, Array(UNREAD_COUNT).fill(requestBytes('GET', page))));
      let rejected = await call('GET', page);
      await waitUntil(async () => {
        rejected = await call('GET', page);
        return rejected.status === 429 && /have not been read/.test(rejected.text);
      });
      assertError(rejected, 429, /have not been read/);
      assert.equal(rejected.headers.get('retry-after'), '1');
      assert.equal((await call('POST', '/tags', { body: { name: 'created meanwhile' } })).status, 201);
      assert.equal((await call('GET', page, { key })).status, 200);
      for (const socket of sockets) socket.destroy();
      await waitUntil(async () => (await call('GET', page)).status === 200);
    }),
});
