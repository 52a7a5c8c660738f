import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bytesOf, fillPage } from '../support/concurrent-clients.ts';
import { assertRefused } from '../support/expected-responses.ts';
import { converse } from '../support/raw.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createTenant } from '../support/tenants.ts';
import { until } from '../support/until.ts';

/** More than the buffers of a connection hold, in replies of half a megabyte each. */
const UNREAD = 40;
const MOST_PIPELINED = 4_000;
const MANY = 2_000;
/** A page of so many with the dearest descriptions has three megabytes. */
const QUESTIONS = 100;
const CONNECTIONS = 10;

const creating = (i: number) =>
  bytesOf('POST', '/campaigns', JSON.stringify({ ...campaignBody(), name: `pipelined ${i}` }));
const COUNTING = '/campaigns?search=pipelined';
const last = Buffer.from('GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n');

/** A connection that sends at once, and reads nothing until it is told to. */
async function unread(url: string, requests: readonly Buffer[]) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
  socket.on('error', () => socket.destroy());
  await once(socket, 'connect');
  socket.write(Buffer.concat(requests));
  return socket;
}

const created = async ({ call }: Api): Promise<number> => ((await call('GET', COUNTING)).json as unknown[]).length;

suite('requests of one connection', {
  'are done one after another': () =>
    withService(async ({ url }) => {
      const requests = Array.from({ length: 20 }, (_, i) => [creating(i), bytesOf('GET', COUNTING)]).flat();
      const responder = await converse(url, [Buffer.concat([...requests, last])], false);
      const counts = responder.filter((_, i) => i % 2 === 1).map(({ body }) => JSON.parse(body).length);
      assert.deepEqual(
        counts,
        Array.from({ length: 20 }, (_, i) => i + 1),
      );
    }),

  'wait while their client does not read, and are done when it does': () =>
    withService(async (api) => {
      await fillPage(api.url);
      const socket = await unread(api.url, [...Array(UNREAD).fill(bytesOf('GET', '/campaigns')), creating(0), last]);
      await delay(500);
      assert.equal(await created(api), 0);
      socket.resume();
      await once(socket, 'close');
      assert.equal(await created(api), 1);
    }),

  'are forgotten when it ends': () =>
    withService(async (api) => {
      await fillPage(api.url);
      const socket = await unread(api.url, [...Array(UNREAD).fill(bytesOf('GET', '/campaigns')), creating(0)]);
      await delay(500);
      socket.destroy();
      await delay(500);
      assert.equal(await created(api), 0);
    }),

  'are read no further while one of them waits': () =>
    withService(async ({ url, app }) => {
      Object.assign(app, { ready: () => delay(1_500) });
      const some = 'GET /a HTTP/1.1\r\nHost:\r\n\r\n'.repeat(MANY);
      const socket = await unread(url, [Buffer.from('GET /readyz HTTP/1.1\r\nHost:\r\n\r\n')]);
      let received = '';
      socket.on('data', (chunk) => (received += chunk)).resume();
      for (let sent = 0; sent < 2 * MOST_PIPELINED; sent += MANY) {
        socket.write(some);
        await delay(20);
      }
      socket.write(last);
      await once(socket, 'close');
      assert.equal(received.match(/HTTP\/1\.1 404 /g)?.length, 2 * MOST_PIPELINED);
    }),

  'that were refused before their turn leave nothing behind': () =>
    withService(async ({ url, call }) => {
      const head = 'POST /tags HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
      const broken = `GET /a HTTP/1.1\r\nHost:\r\n\r\n${head}`;
      for (let sent = 0; sent < 600; sent += 50) {
        await Promise.all(Array.from({ length: 50 }, () => converse(url, [broken], false)));
      }
      await delay(600);
      assert.equal((await call('GET', '/campaigns')).status, 200);
    }),

  'cost their connection where they are too many of all, and no other': () =>
    withService(
      async (api) => {
        await fillPage(api.url);
        const requests = [
          ...Array(UNREAD).fill(bytesOf('GET', '/campaigns')),
          ...Array(MANY).fill(Buffer.from('GET /a HTTP/1.1\r\nHost:\r\n\r\n')),
        ];
        for (const round of [1, 2]) {
          const sockets: Socket[] = [];
          for (let i = 0; i < CONNECTIONS; i++) sockets.push(await unread(api.url, requests));
          await delay(500);
          // A client that does not read learns by writing again that its connection is gone.
          for (const _ of [1, 2, 3, 4]) {
            for (const socket of sockets) socket.write('GET');
            await delay(100);
          }
          const kept = sockets.filter(({ destroyed }) => !destroyed).length;
          assert.ok(
            kept >= Math.floor(MOST_PIPELINED / (UNREAD + MANY)) && kept < CONNECTIONS,
            `round ${round}: ${kept}`,
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

suite('replies that their clients do not read', {
  'are made no more where those of a workspace hold too much, and no other workspace notices': () =>
    withService(async (api) => {
      const { url, call } = api;
      const { key } = await createTenant(api, 'other');
      for (let i = 0; i < QUESTIONS; i++) {
        const body = { question: `What is ${i}?`, description: '\u0001'.repeat(4_998) };
        assert.equal((await call('POST', '/inspiration-questions', { body })).status, 201);
      }
      const page = `/inspiration-questions?pageSize=${QUESTIONS}`;
      const sockets: Socket[] = [];
      while (sockets.length < UNREAD) sockets.push(await unread(url, Array(UNREAD).fill(bytesOf('GET', page))));
      let refused = await call('GET', page);
      await until(async () => {
        refused = await call('GET', page);
        return refused.status === 429 && /have not been read/.test(refused.text);
      });
      assertRefused(refused, 429, /have not been read/);
      assert.equal(refused.headers.get('retry-after'), '1');
      assert.equal((await call('POST', '/tags', { body: { name: 'made meanwhile' } })).status, 201);
      assert.equal((await call('GET', page, { key })).status, 200);
      for (const socket of sockets) socket.destroy();
      await until(async () => (await call('GET', page)).status === 200);
    }),
});
