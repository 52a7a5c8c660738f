import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { quickOrLong } from '../support/scale.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { startBalancer } from './balancer.ts';

const CLIENT_COUNT = quickOrLong(20, 60);
const headers = { Authorization: `Bearer ${DEMO_API_KEY}`, 'Content-Type': 'application/json' };

suite('a graceful shutdown', {
  [`loses no request of ${CLIENT_COUNT} clients while two instances behind a load balancer restart one after the other`]:
    async () => {
      const balancer = await startBalancer();
      const instances = [await startProcess(), await startProcess()];
      for (const { url } of instances) await balancer.add(url);
      let isRunning = true;
      const failures: string[] = [];
      let servedCount = 0;
      const runClient = async (number: number) => {
        for (let i = 0; isRunning; i++) {
          const question = `What is ${number}-${i}?`;
          const requests = [
            fetch(`${balancer.url}/campaigns`, { headers }),
            fetch(`${balancer.url}/inspiration-questions`, {
              headers,
              method: 'POST',
              body: JSON.stringify({ question }),
            }),
          ];
          for (const response of await Promise.all(requests)) {
            const text = await response.text();
            if (response.status === 200 || response.status === 201) servedCount++;
            else failures.push(`${response.status} ${text}`);
          }
        }
      };
      try {
        const clients = Promise.all(Array.from({ length: CLIENT_COUNT }, (_, number) => runClient(number)));
        for (let restart = 0; restart < quickOrLong(2, 20); restart++) {
          const [oldest] = instances.splice(0, 1) as [ServiceProcess];
          oldest.child.kill('SIGTERM');
          assert.equal(await oldest.waitForExit(), 0);
          balancer.remove(oldest.url);
          const replacement = await startProcess();
          instances.push(replacement);
          await balancer.add(replacement.url);
        }
        isRunning = false;
        await clients;
      } finally {
        isRunning = false;
        balancer.close();
        for (const { child } of instances) child.kill('SIGKILL');
      }
      assert.deepEqual(failures.slice(0, 5), []);
      assert.ok(servedCount > CLIENT_COUNT, `${servedCount} requests were served`);
    },

  'immediately makes the server not ready, and closes each connection after its next response': () =>
    withProcess({}, async ({ url, child, waitForExit }) => {
      assert.equal((await fetch(`${url}/readyz`)).status, 200);
      child.kill('SIGTERM');
      const readiness = await waitForStatus(`${url}/readyz`, 503);
      assert.deepEqual(await readiness.json(), { status: 'unavailable', missing: 'stopping' });
      assert.equal(readiness.headers.get('connection'), 'close');
      const responses = await Promise.all(
        ['/healthz', '/campaigns', '/nothing'].map((path) => fetch(url + path, { headers })),
      );
      assert.deepEqual(
        responses.map(({ status }) => status),
        [200, 200, 404],
      );
      for (const response of responses) assert.equal(response.headers.get('connection'), 'close');
      assert.equal(await waitForExit(), 0);
      await assert.rejects(fetch(`${url}/healthz`));
    }),

  'finishes the requests in flight': () =>
    withProcess({}, async ({ url, child, waitForExit }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      let response = '';
      socket.on('data', (chunk) => (response += chunk));
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(
        `POST /tags HTTP/1.1\r\nHost: x\r\n${lines.join('')}Content-Length: 15\r\nExpect: 100-continue\r\n\r\n`,
      );
      while (!response.includes('100 Continue')) await once(socket, 'data');
      child.kill('SIGTERM');
      await waitForStatus(`${url}/readyz`, 503);
      while (
        await fetch(`${url}/healthz`).then(
          () => true,
          () => false,
        )
      );
      socket.write('{"name":"late"}');
      await once(socket, 'close');
      assert.match(response, /HTTP\/1\.1 201 Created/);
      assert.match(response, /Connection: close/);
      assert.equal(await waitForExit(), 0);
    }),
});

async function waitForStatus(url: string, status: number): Promise<Response> {
  for (;;) {
    const response = await fetch(url);
    if (response.status === status) return response;
    await response.text();
  }
}
