import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startBalancer } from '../support/balancer.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { scale } from '../support/scale.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const CLIENTS = 60;
const headers = { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' };

suite('stopping', {
  'loses no request of 60 clients while two instances behind a balancer are started anew, one after another':
    async () => {
      const balancer = await startBalancer();
      const instances = [await startProcess(), await startProcess()];
      for (const { url } of instances) await balancer.add(url);
      let serving = true;
      const failures: string[] = [];
      let served = 0;
      const client = async (number: number) => {
        for (let i = 0; serving; i++) {
          const name = `${number}-${i}`;
          const replies = [
            fetch(`${balancer.url}/campaigns`, { headers }),
            fetch(`${balancer.url}/tags`, { headers, method: 'POST', body: JSON.stringify({ name }) }),
          ];
          for (const reply of await Promise.all(replies)) {
            const text = await reply.text();
            if (reply.status === 200 || reply.status === 201) served++;
            else failures.push(`${reply.status} ${text}`);
          }
        }
      };
      try {
        const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));
        for (let restart = 0; restart < scale(2, 20); restart++) {
          const [old] = instances.splice(0, 1) as [ServiceProcess];
          old.child.kill('SIGTERM');
          assert.equal(await old.ended(), 0);
          balancer.remove(old.url);
          const fresh = await startProcess();
          instances.push(fresh);
          await balancer.add(fresh.url);
        }
        serving = false;
        await clients;
      } finally {
        serving = false;
        balancer.close();
        for (const { child } of instances) child.kill('SIGKILL');
      }
      assert.deepEqual(failures.slice(0, 5), []);
      assert.ok(served > CLIENTS, `${served} requests were served`);
    },

  'says at once that it is not ready, and ends each connection with its next reply': () =>
    withProcess({}, async ({ url, child, ended }) => {
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
      child.kill('SIGTERM');
      const ready = await untilStatus(`${url}/readyz`, 503);
      assert.deepEqual(await ready.json(), { status: 'unavailable', missing: 'stopping' });
      assert.equal(ready.headers.get('connection'), 'close');
      const replies = await Promise.all(
        ['/healthz', '/campaigns', '/nothing'].map((path) => fetch(url + path, { headers })),
      );
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 404],
      );
      for (const reply of replies) assert.equal(reply.headers.get('connection'), 'close');
      assert.equal(await ended(), 0);
      await assert.rejects(fetch(`${url}/healthz`));
    }),

  'finishes what is under way': () =>
    withProcess({}, async ({ url, child, ended }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let reply = '';
      socket.on('data', (chunk) => (reply += chunk));
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `POST /tags HTTP/1.1\r\nHost: x\r\n${lines.join('')}Content-Length: 15\r\nExpect: 100-continue\r\n\r\n`,
      );
      while (!reply.includes('100 Continue')) await once(socket, 'data');
      child.kill('SIGTERM');
      await untilStatus(`${url}/readyz`, 503);
      while (
        await fetch(`${url}/healthz`).then(
          () => true,
          () => false,
        )
      );
      socket.write('{"name":"late"}');
      await once(socket, 'close');
      assert.match(reply, /HTTP\/1\.1 201 Created/);
      assert.match(reply, /Connection: close/);
      assert.equal(await ended(), 0);
    }),

  'is ended by a second signal, whatever is under way': () =>
    withProcess({}, async ({ url, child, ended }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => socket.destroy());
      socket.write('POST /tags HTTP/1.1\r\nHost: x\r\nContent-Length: 15\r\nExpect: 100-continue\r\n\r\n');
      await once(socket, 'data');
      child.kill('SIGTERM');
      await untilStatus(`${url}/readyz`, 503);
      child.kill('SIGTERM');
      assert.equal(await ended(), 0);
    }),
});

async function untilStatus(url: string, status: number): Promise<Response> {
  for (;;) {
    const reply = await fetch(url);
    if (reply.status === status) return reply;
    await reply.text();
  }
}
