import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../../adapters/api/version.ts';
import { createLargePage, requestBytes } from '../support/concurrent-clients.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { parseResponses } from '../support/raw-requests.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const EXIT_TIMEOUT_MS = 15_000;

function connectTo({ url }: ServiceProcess): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  return socket.on('error', () => socket.destroy());
}

/** Sends the head of a request, but never its body, so that the service waits for it. */
async function startUnfinishedRequest(service: ServiceProcess): Promise<void> {
  const socket = connectTo(service);
  const head = ['POST /tags HTTP/1.1', 'Host: x', `Authorization: Bearer ${DEMO_API_KEY}`, 'Content-Length: 15'];
  socket.write(`${[...head, 'Content-Type: application/json', 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`);
  const [response] = await once(socket, 'data');
  assert.match(String(response), /^HTTP\/1\.1 100 /);
}

/** Parses the log so far. */
function parseLog({ output }: ServiceProcess): Record<string, unknown>[] {
  return output.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const canServe = ({ url }: ServiceProcess): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );

suite('a service that gets a stop signal', {
  'exits with 0 on SIGTERM and on SIGINT, and does not wait for a connection without a request': () =>
    Promise.all(
      (['SIGTERM', 'SIGINT'] as const).map((signal) =>
        withProcess({ METRICS_PORT: '0' }, async (service) => {
          await once(connectTo(service), 'connect');
          service.child.kill(signal);
          assert.equal(await service.waitForExit(), 0, signal);
          const [listening, started, complete, ...others] = parseLog(service);
          assert.deepEqual([listening?.msg, listening?.url], ['server listening', service.url]);
          assert.deepEqual([listening?.version, listening?.storage], [version, 'memory']);
          assert.match(String(listening?.metricsUrl), /^http:.*\/metrics$/);
          assert.deepEqual([started?.msg, started?.signal], ['shutdown started', signal]);
          assert.equal(complete?.msg, 'shutdown complete');
          assert.deepEqual(others, []);
        }),
      ),
    ),

  'exits with 0 if it does not listen yet': async () => {
    const SIGNAL_WHEN_HANDLED = `process.on('newListener', (event) => {
      if (event === 'SIGTERM') setImmediate(() => process.kill(process.pid, 'SIGTERM'));
    })`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(SIGNAL_WHEN_HANDLED)}`;
    await assert.rejects(startProcess({ NODE_OPTIONS }), /^Error: ended with exit code 0: $/);
  },

  'sends the responses to the requests in flight, even to a client that reads late': () =>
    withProcess({}, async ({ url, child, waitForExit }) => {
      await createLargePage(url);
      const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
      socket.write(Buffer.concat(Array(40).fill(requestBytes('GET', '/campaigns'))));
      // On a busy machine, the first response takes a while.
      await delay(1_500);
      child.kill('SIGTERM');
      await delay(2_500);
      const received: Buffer[] = [];
      socket.on('data', (chunk) => received.push(chunk)).resume();
      // The process can exit before this client has read all that the operating system has received.
      await Promise.all([once(socket, 'close'), waitForExit()]);
      assert.equal(child.exitCode, 0);
      const responses = parseResponses(Buffer.concat(received));
      assert.ok(responses.length > 0 && responses.length < 40, `${responses.length}`);
    }),

  'exits with 0 within the shutdown timeout if a request is unfinished or responses are not read, and at once on a second signal':
    () =>
      withProcess({}, (waiting) =>
        withProcess({}, async (exiting) => {
          for (const service of [waiting, exiting]) await startUnfinishedRequest(service);
          connectTo(waiting).write('GET /campaigns HTTP/1.1\r\nHost: x\r\n');
          const connectRequest = Buffer.from('CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n');
          connectTo(waiting)
            .pause()
            .write(Buffer.concat([...Array(100).fill(requestBytes('GET', '/openapi.json')), connectRequest]));
          await delay(500);
          const stoppedAt = performance.now();
          waiting.child.kill('SIGTERM');
          while (await canServe(waiting));
          exiting.child.kill('SIGTERM');
          exiting.child.kill('SIGINT');
          const exits = [waiting, exiting].map(async (service) => [service, await service.waitForExit()] as const);
          assert.deepEqual(await Promise.race(exits), [exiting, 0]);
          assert.equal(await waiting.waitForExit(), 0);
          assert.ok(performance.now() - stoppedAt < EXIT_TIMEOUT_MS);
          assert.equal(parseLog(exiting).at(-1)?.msg, 'second signal, exiting at once');
          assert.equal(parseLog(waiting).at(-1)?.msg, 'shutdown timed out, the remaining connections were closed');
        }),
      ),
});
