import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const CUT_WITHIN_MS = 70_000;

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
});
