import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { usageOf } from '../bench/usage.ts';
import { bytesOf, Crowd } from '../support/crowd.ts';
import { quantile } from '../support/load.ts';
import { withProcess } from '../support/process.ts';
import { DEMO_API_KEY, serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const CUT_WITHIN_MS = 70_000;
const IDLE = 3_000;
const OTHERS = 16;
const OTHERS_FOR_MS = 10_000;
const P99_MS = 500;
const MOST_MORE_MIB = 200;
const KEY = `Authorization: Bearer ${DEMO_API_KEY}\r\nContent-Type: application/json`;

/** What each client sends at once, and what it then goes on to send, a piece each second. */
const clients: Readonly<Record<string, { readonly sends: string; readonly drips?: string }>> = {
  'sends nothing': { sends: '' },
  'sends half a head': { sends: 'GET /campaigns HTTP/1.1\r\nHost: x\r\n' },
  'never ends its head': { sends: 'GET /campaigns HTTP/1.1\r\nHost: x\r\nX: ', drips: 'a' },
  'sends half a body': { sends: 'POST /tags HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{' },
  'never ends its body': {
    sends: 'POST /tags HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
    drips: '1\r\n \r\n',
  },
  'sends half a body with a key': { sends: `POST /tags HTTP/1.1\r\nHost: x\r\n${KEY}\r\nContent-Length: 100\r\n\r\n{` },
  'sends half a second request': { sends: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /' },
  'keeps a connection that it does not use': { sends: 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n' },
};

suite('a client that is too slow', {
  'is cut within 70 seconds, with an error object or in silence': () =>
    serving(async ({ url }) => {
      await Promise.all(
        Object.entries(clients).map(async ([name, { sends, drips }]) => {
          const socket = connect(Number(new URL(url).port), '127.0.0.1');
          const started = Date.now();
          let reply = '';
          socket.on('data', (chunk) => (reply += chunk));
          socket.on('error', () => socket.destroy());
          socket.write(sends);
          const dripping = setInterval(() => drips && socket.writable && socket.write(drips), 1_000);
          await once(socket, 'close');
          clearInterval(dripping);
          assert.ok(Date.now() - started < CUT_WITHIN_MS, name);
          const statuses = [...reply.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => status);
          assert.ok(
            statuses.every((status) => ['200', '400', '401'].includes(status as string)),
            `${name}: ${statuses}`,
          );
        }),
      );
    }),

  'is one of three thousand, of whom others notice nothing, and all of whom are cut': () =>
    withProcess({ LOG_LEVEL: 'warn' }, async ({ url, child }) => {
      const { residentMiB } = usageOf(child.pid as number);
      const others = await Crowd.open(url, OTHERS);
      const ask = () => others.inTurns(bytesOf('GET', '/campaigns'), OTHERS_FOR_MS);
      await ask();
      const before = residentMiB();
      const sends = Object.values(clients).map((each) => each.sends);
      const started = Date.now();
      const idle = Array.from({ length: IDLE }, (_, i) => {
        const socket = connect(Number(new URL(url).port), '127.0.0.1');
        socket.on('error', () => socket.destroy()).resume();
        socket.write(sends[i % sends.length] as string);
        return once(socket, 'close');
      });
      const answers = await ask();
      const p99 = quantile(
        answers.map(({ milliseconds }) => milliseconds),
        0.99,
      );
      const moreMiB = residentMiB() - before;
      assert.ok(answers.every(({ status }) => status === 200));
      assert.ok(p99 < P99_MS && moreMiB < MOST_MORE_MIB, JSON.stringify({ p99, moreMiB }));
      others.close();
      await Promise.all(idle);
      assert.ok(Date.now() - started < CUT_WITHIN_MS, `${Date.now() - started} ms`);
    }),
});
