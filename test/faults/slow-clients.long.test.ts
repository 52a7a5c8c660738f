import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ConcurrentClients, createLargePage, requestBytes } from '../support/concurrent-clients.ts';
import { quantile } from '../support/load.ts';
import { SMALL_HEAP, withProcess } from '../support/process.ts';
import { parseResponses } from '../support/raw-requests.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { usageOf } from '../support/usage.ts';

const MAX_SLOW_DURATION_MS = 70_000;
/**
 * The number of responses that a client does not read. Each is 250 KB, so together they exceed the buffers of a
 * connection.
 */
const UNREAD_RESPONSE_COUNT = 40;
const SLOW_CLIENT_COUNT = 3_000;
/**
 * The number of clients that connect at the same time. The operating system would drop connections that exceed its
 * listen backlog. One client of each batch does not read.
 */
const BATCH_SIZE = 100;
const OTHER_CLIENT_COUNT = 16;
const OTHER_CLIENTS_DURATION_MS = 10_000;
const MAX_P99_MS = 500;
const MAX_MEMORY_GROWTH_MIB = 200;
const HEADERS = `Authorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json`;

interface SlowClient {
  /** The bytes that the client sends immediately. */
  readonly firstBytes: string;
  /** The bytes that the client sends every second after that. */
  readonly nextBytes?: string;
  /** The client does not read the responses. */
  readonly isNotReading?: true;
  /**
   * After how many seconds the service closes the connection: later than the timeout, which the service checks at an
   * interval.
   */
  readonly closesAfter: readonly [from: number, to: number];
}

/**
 * The values of `closesAfter` for an incomplete head, an incomplete request, an idle connection, and unread responses.
 */
const HEAD_SECONDS = [20, 27] as const;
const REQUEST_SECONDS = [50, 57] as const;
const IDLE_SECONDS = [65, 70] as const;
const READ_SECONDS = [60, 70] as const;

const NOT_READING: SlowClient = {
  firstBytes: `GET /campaigns HTTP/1.1\r\nHost: x\r\n${HEADERS}\r\n\r\n`.repeat(UNREAD_RESPONSE_COUNT),
  isNotReading: true,
  // A client that does not read notices a closed connection only when it writes.
  nextBytes: '\r\n',
  closesAfter: READ_SECONDS,
};

const clients: Readonly<Record<string, SlowClient>> = {
  'sends nothing': { firstBytes: '', closesAfter: HEAD_SECONDS },
  'sends an incomplete head': { firstBytes: 'GET /campaigns HTTP/1.1\r\nHost: x\r\n', closesAfter: HEAD_SECONDS },
  'sends an incomplete head of many headers': {
    firstBytes: `GET /campaigns HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(16_000)}`,
    closesAfter: HEAD_SECONDS,
  },
  'never ends its head': {
    firstBytes: 'GET /campaigns HTTP/1.1\r\nHost: x\r\nX: ',
    nextBytes: 'a',
    closesAfter: HEAD_SECONDS,
  },
  'sends an incomplete body': {
    firstBytes: 'POST /tags HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{',
    closesAfter: REQUEST_SECONDS,
  },
  'never ends its body': {
    firstBytes: 'POST /tags HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    nextBytes: '1\r\n \r\n',
    closesAfter: REQUEST_SECONDS,
  },
  'sends an API key and an incomplete body': {
    firstBytes: `POST /tags HTTP/1.1\r\nHost: x\r\n${HEADERS}\r\nContent-Length: 100\r\n\r\n{`,
    closesAfter: REQUEST_SECONDS,
  },
  'sends an incomplete second request': {
    firstBytes: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /',
    closesAfter: HEAD_SECONDS,
  },
  'keeps an idle connection': {
    firstBytes: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    closesAfter: IDLE_SECONDS,
  },
  'does not read the responses': NOT_READING,
};

suite('a client that is too slow', {
  'loses its connection after the timeout, and gets no error other than 400 or 401': () =>
    withProcess({ LOG_LEVEL: 'warn' }, async (service) => {
      await createLargePage(service.url);
      await Promise.all(
        Object.entries(clients).map(async ([name, client]) => {
          const startedAt = Date.now();
          const received = await runSlowClient(service.url, client);
          const seconds = (Date.now() - startedAt) / 1_000;
          const [from, to] = client.closesAfter;
          assert.ok(seconds > from - 1 && seconds < to, `${name}: ${seconds}`);
          for (const { status, headers, body } of parseResponses(received)) {
            assert.ok([200, 400, 401].includes(status), `${name}: ${status}`);
            assert.equal(headers.get('retry-after'), status === 400 ? '1' : undefined, name);
            if (status === 400) assert.match(body, /#bad-request-too-slow"/, name);
          }
        }),
      );
    }),

  'gets its unread responses and then 400 if it completes its last request too late, and the service keeps running':
    () =>
      withProcess({ LOG_LEVEL: 'warn' }, async ({ url }) => {
        await createLargePage(url);
        await Promise.all(
          ['GET /healthz', 'CONNECT a:1'].map(async (late) => {
            const socket = connect(Number(new URL(url).port), '127.0.0.1');
            const received: Buffer[] = [];
            socket.on('data', (chunk) => received.push(chunk)).pause();
            socket.write(`${NOT_READING.firstBytes}${late} HTTP/1.1\r\nHost: x\r\n`);
            await delay(HEAD_SECONDS[1] * 1_000);
            socket.write('\r\n');
            socket.resume();
            await once(socket, 'close');
            const statuses = parseResponses(Buffer.concat(received)).map(({ status }) => status);
            assert.deepEqual(statuses, [...Array(UNREAD_RESPONSE_COUNT).fill(200), 400], late);
          }),
        );
        assert.equal((await fetch(`${url}/healthz`)).status, 200);
      }),

  'does not disturb other clients, even as one of three thousand slow clients, which all lose their connections': () =>
    withProcess({ LOG_LEVEL: 'warn', ...SMALL_HEAP }, async ({ url, child }) => {
      await createLargePage(url);
      const { residentMiB } = usageOf(child.pid as number);
      const others = await ConcurrentClients.open(url, OTHER_CLIENT_COUNT);
      const sendRequests = () => others.sendInLoop(requestBytes('GET', '/campaigns?page=2'), OTHER_CLIENTS_DURATION_MS);
      await sendRequests();
      const before = residentMiB();
      const readers = Object.values(clients).filter(({ isNotReading }) => !isNotReading);
      const startedAt = Date.now();
      const slow: Promise<unknown>[] = [];
      for (let i = 0; i < SLOW_CLIENT_COUNT; i++) {
        if (i % BATCH_SIZE === 0) await delay(10);
        slow.push(runSlowClient(url, i % BATCH_SIZE === 0 ? NOT_READING : (readers[i % readers.length] as SlowClient)));
      }
      const responses = await sendRequests();
      const p99 = quantile(
        responses.map(({ milliseconds }) => milliseconds),
        0.99,
      );
      const memoryGrowthMiB = residentMiB() - before;
      assert.ok(responses.every(({ status }) => status === 200));
      assert.ok(p99 < MAX_P99_MS && memoryGrowthMiB < MAX_MEMORY_GROWTH_MIB, JSON.stringify({ p99, memoryGrowthMiB }));
      others.close();
      await Promise.all(slow);
      assert.ok(Date.now() - startedAt < MAX_SLOW_DURATION_MS, `${Date.now() - startedAt} ms`);
    }),
});

/** Runs a slow client. Resolves with the received bytes when its connection is closed, also by an error. */
async function runSlowClient(url: string, { firstBytes, nextBytes, isNotReading }: SlowClient): Promise<Buffer> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const received: Buffer[] = [];
  if (isNotReading) socket.pause();
  else socket.on('data', (chunk) => received.push(chunk));
  socket.on('error', () => socket.destroy());
  socket.write(firstBytes);
  const sending = setInterval(() => nextBytes && socket.writable && socket.write(nextBytes), 1_000);
  const timeout = setTimeout(() => socket.destroy(), MAX_SLOW_DURATION_MS + 1_000);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(sending);
  clearTimeout(timeout);
  return Buffer.concat(received);
}
