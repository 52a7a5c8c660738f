import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { usageOf } from '../bench/usage.ts';
import { bytesOf, Crowd, fillPage } from '../support/concurrent-clients.ts';
import { quantile } from '../support/load.ts';
import { SMALL_HEAP, withProcess } from '../support/process.ts';
import { repliesIn } from '../support/raw.ts';
import { scrape } from '../support/scrape.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const CUT_WITHIN_MS = 70_000;
/** Of half a megabyte each: more than the buffers of a connection hold. */
const UNREAD = 40;
const SLOW = 3_000;
/** So many connect at once: more than wait to be accepted would be dropped by the system. One of them does not read. */
const AT_ONCE = 100;
const OTHERS = 16;
const OTHERS_FOR_MS = 10_000;
const P99_MS = 500;
const MOST_MORE_MIB = 200;
const KEY = `Authorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json`;

interface Slow {
  /** What it sends at once. */
  readonly sends: string;
  /** What it then goes on to send, each second. */
  readonly drips?: string;
  /** It reads nothing of what it is answered. */
  readonly doesNotRead?: true;
  /** When it is cut, in seconds: a moment after its time, as they are looked for now and then. */
  readonly cutWithin: readonly [from: number, to: number];
}

const A_HEAD = [20, 27] as const;
const A_REQUEST = [50, 57] as const;
const IDLE_FOR = [65, 70] as const;
const READING = [60, 70] as const;

const NOT_READING: Slow = {
  sends: `GET /campaigns HTTP/1.1\r\nHost: x\r\n${KEY}\r\n\r\n`.repeat(UNREAD),
  doesNotRead: true,
  // By writing, a client that does not read learns that its connection is gone.
  drips: '\r\n',
  cutWithin: READING,
};

const clients: Readonly<Record<string, Slow>> = {
  'sends nothing': { sends: '', cutWithin: A_HEAD },
  'sends half a head': { sends: 'GET /campaigns HTTP/1.1\r\nHost: x\r\n', cutWithin: A_HEAD },
  'sends half a head of many headers': {
    sends: `GET /campaigns HTTP/1.1\r\nHost: x\r\n${'a:\r\n'.repeat(16_000)}`,
    cutWithin: A_HEAD,
  },
  'never ends its head': { sends: 'GET /campaigns HTTP/1.1\r\nHost: x\r\nX: ', drips: 'a', cutWithin: A_HEAD },
  'sends half a body': {
    sends: 'POST /tags HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{',
    cutWithin: A_REQUEST,
  },
  'never ends its body': {
    sends: 'POST /tags HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    drips: '1\r\n \r\n',
    cutWithin: A_REQUEST,
  },
  'sends half a body with a key': {
    sends: `POST /tags HTTP/1.1\r\nHost: x\r\n${KEY}\r\nContent-Length: 100\r\n\r\n{`,
    cutWithin: A_REQUEST,
  },
  'sends half a second request': {
    sends: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /',
    cutWithin: A_HEAD,
  },
  'keeps a connection that it does not use': {
    sends: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    cutWithin: IDLE_FOR,
  },
  'keeps a connection by empty lines': {
    sends: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n',
    drips: '\r\n',
    cutWithin: IDLE_FOR,
  },
  'does not read its answers': NOT_READING,
};

suite('a client that is too slow', {
  'is cut in its time, with an error object or in silence': () =>
    withProcess({ METRICS_PORT: '0', LOG_LEVEL: 'warn' }, async (service) => {
      await fillPage(service.url);
      await Promise.all(
        Object.entries(clients).map(async ([name, client]) => {
          const started = Date.now();
          const replies = await beSlow(service.url, client);
          const seconds = (Date.now() - started) / 1_000;
          const [from, to] = client.cutWithin;
          assert.ok(seconds > from - 1 && seconds < to, `${name}: ${seconds}`);
          for (const { status } of repliesIn(replies)) {
            assert.ok([200, 400, 401].includes(status), `${name}: ${status}`);
          }
        }),
      );
      assert.equal((await scrape(service)).get('http_connections_cut_total{reason="reply_not_read"}'), 1);
    }),

  'ends nothing but its connection where it goes on after its time, behind replies that it had not read': () =>
    withProcess({ LOG_LEVEL: 'warn' }, async ({ url }) => {
      await fillPage(url);
      await Promise.all(
        ['GET /healthz', 'CONNECT a:1'].map(async (late) => {
          const socket = connect(Number(new URL(url).port), '127.0.0.1');
          const received: Buffer[] = [];
          socket.on('data', (chunk) => received.push(chunk)).pause();
          socket.write(`${NOT_READING.sends}${late} HTTP/1.1\r\nHost: x\r\n`);
          await delay(A_HEAD[1] * 1_000);
          socket.write('\r\n');
          socket.resume();
          await once(socket, 'close');
          const statuses = repliesIn(Buffer.concat(received)).map(({ status }) => status);
          assert.deepEqual(statuses, [...Array(UNREAD).fill(200), 400], late);
        }),
      );
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    }),

  'is one of three thousand, of whom others notice nothing, and all of whom are cut': () =>
    withProcess({ LOG_LEVEL: 'warn', ...SMALL_HEAP }, async ({ url, child }) => {
      await fillPage(url);
      const { residentMiB } = usageOf(child.pid as number);
      const others = await Crowd.open(url, OTHERS);
      const ask = () => others.inTurns(bytesOf('GET', '/campaigns?page=2'), OTHERS_FOR_MS);
      await ask();
      const before = residentMiB();
      const readers = Object.values(clients).filter(({ doesNotRead }) => !doesNotRead);
      const started = Date.now();
      const slow: Promise<unknown>[] = [];
      for (let i = 0; i < SLOW; i++) {
        if (i % AT_ONCE === 0) await delay(10);
        slow.push(beSlow(url, i % AT_ONCE === 0 ? NOT_READING : (readers[i % readers.length] as Slow)));
      }
      const answers = await ask();
      const p99 = quantile(
        answers.map(({ milliseconds }) => milliseconds),
        0.99,
      );
      const moreMiB = residentMiB() - before;
      assert.ok(answers.every(({ status }) => status === 200));
      assert.ok(p99 < P99_MS && moreMiB < MOST_MORE_MIB, JSON.stringify({ p99, moreMiB }));
      others.close();
      await Promise.all(slow);
      assert.ok(Date.now() - started < CUT_WITHIN_MS, `${Date.now() - started} ms`);
    }),
});

/** Resolves with what it was answered when its connection is closed, be it by an error. */
async function beSlow(url: string, { sends, drips, doesNotRead }: Slow): Promise<Buffer> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const received: Buffer[] = [];
  if (doesNotRead) socket.pause();
  else socket.on('data', (chunk) => received.push(chunk));
  socket.on('error', () => socket.destroy());
  socket.write(sends);
  const dripping = setInterval(() => drips && socket.writable && socket.write(drips), 1_000);
  const givingUp = setTimeout(() => socket.destroy(), CUT_WITHIN_MS + 1_000);
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(dripping);
  clearTimeout(givingUp);
  return Buffer.concat(received);
}
