import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createLargePage, requestBytes } from '../support/concurrent-clients.ts';
import { sendRaw } from '../support/raw-requests.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';

/** The number of unread responses. Each has a quarter of a megabyte, so that they do not fit into the buffers of a connection. */
const UNREAD_COUNT = 40;
/** The maximum number of waiting requests of a connection (adapters/http/protection/pipelining.ts). */
const MAX_WAITING_COUNT = 1_000;
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
      // A read of the server has at most 64 KiB, so it contains fewer than 100 of these requests.
      const some = `GET /${'a'.repeat(1_000)} HTTP/1.1\r\nHost:\r\n\r\n`.repeat(2 * MAX_WAITING_COUNT);
      socket.write(Buffer.concat([Buffer.from(some), last]));
      await once(socket, 'close');
      assert.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 2 * MAX_WAITING_COUNT);
    }),

  'that arrive at the same time are discarded beyond the maximum, and the connection closes after the other responses':
    () =>
      withService(async ({ url }) => {
        const requests = 'GET /a HTTP/1.1\r\nHost:\r\n\r\n'.repeat(4 * MAX_WAITING_COUNT);
        const responses = await sendRaw(url, [requests], false);
        assert.equal(responses.length, 1 + MAX_WAITING_COUNT);
        const closing = responses.filter(({ headers }) => headers.get('connection') === 'close');
        assert.deepEqual(closing, [responses.at(-1)]);
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
