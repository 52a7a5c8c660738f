import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../../adapters/api/version.ts';
import { bytesOf, fillPage } from '../support/concurrent-clients.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { repliesIn } from '../support/raw.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const ENDED_WITHIN_MS = 15_000;

/** Begins a request that the service waits for, and never goes on with it. */
async function dawdle({ url }: ServiceProcess): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => socket.destroy());
  const head = ['POST /tags HTTP/1.1', 'Host: x', `Authorization: Bearer ${DEMO_API_KEY}`, 'Content-Length: 15'];
  socket.write(`${[...head, 'Content-Type: application/json', 'Expect: 100-continue'].join('\r\n')}\r\n\r\n`);
  const [reply] = await once(socket, 'data');
  assert.match(String(reply), /^HTTP\/1\.1 100 /);
}

/** What it logged so far. */
function logOf({ printed }: ServiceProcess): Record<string, unknown>[] {
  return printed.stderr
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const isServing = ({ url }: ServiceProcess): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  );

suite('a service that is told to stop', {
  'exits with 0, by either signal': () =>
    Promise.all(
      (['SIGTERM', 'SIGINT'] as const).map((signal) =>
        withProcess({ METRICS_PORT: '0' }, async (service) => {
          service.child.kill(signal);
          assert.equal(await service.ended(), 0, signal);
          const [listening, begun, complete, ...others] = logOf(service);
          assert.deepEqual([listening?.msg, listening?.url], ['server listening', service.url]);
          assert.deepEqual([listening?.version, listening?.storage], [version, 'memory']);
          assert.match(String(listening?.metricsUrl), /^http:.*\/metrics$/);
          assert.deepEqual([begun?.msg, begun?.signal], ['shutdown started', signal]);
          assert.equal(complete?.msg, 'shutdown complete');
          assert.deepEqual(others, []);
        }),
      ),
    ),

  'exits with 0 before it listens too': async () => {
    const TELL_AS_SOON_AS_HEARD = `process.on('newListener', (event) => {
      if (event === 'SIGTERM') setImmediate(() => process.kill(process.pid, 'SIGTERM'));
    })`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(TELL_AS_SOON_AS_HEARD)}`;
    await assert.rejects(startProcess({ NODE_OPTIONS }), /^Error: ended with exit code 0: $/);
  },

  'does not wait for a connection over which nothing came': () =>
    withProcess({}, (patient) =>
      withProcess({}, async (hurried) => {
        await dawdle(patient);
        const socket = connect(Number(new URL(hurried.url).port), '127.0.0.1');
        socket.on('error', () => socket.destroy());
        await once(socket, 'connect');
        assert.ok(await isServing(hurried));
        for (const { child } of [patient, hurried]) child.kill('SIGTERM');
        const ends = [patient, hurried].map(async (service) => [service, await service.ended()] as const);
        assert.deepEqual(await Promise.race(ends), [hurried, 0]);
      }),
    ),

  'sends what is on its way, to clients that read late too': () =>
    withProcess({}, async ({ url, child, ended }) => {
      await fillPage(url);
      const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
      socket.write(Buffer.concat(Array(40).fill(bytesOf('GET', '/campaigns'))));
      await delay(500);
      child.kill('SIGTERM');
      await delay(2_500);
      const received: Buffer[] = [];
      socket.on('data', (chunk) => received.push(chunk)).resume();
      assert.equal(await ended(), 0);
      const replies = repliesIn(Buffer.concat(received));
      assert.ok(replies.length > 0 && replies.length < 40, `${replies.length}`);
    }),

  'exits with 0 after ten seconds at most while a client of CONNECT does not read': () =>
    withProcess({}, async ({ url, child, ended }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').pause();
      socket.on('error', () => socket.destroy());
      const list = bytesOf('GET', '/openapi.json');
      const connecting = Buffer.from('CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n');
      socket.write(Buffer.concat([...Array(100).fill(list), connecting]));
      await delay(500);
      const started = performance.now();
      child.kill('SIGTERM');
      assert.equal(await ended(), 0);
      assert.ok(performance.now() - started < ENDED_WITHIN_MS);
      socket.destroy();
    }),

  'exits with 0 after ten seconds at most while a request is open, and at once when it is told twice': () =>
    withProcess({}, (patient) =>
      withProcess({}, async (hurried) => {
        for (const service of [patient, hurried]) await dawdle(service);
        const started = performance.now();
        patient.child.kill('SIGTERM');
        while (await isServing(patient));
        hurried.child.kill('SIGTERM');
        hurried.child.kill('SIGINT');
        const ends = [patient, hurried].map(async (service) => [service, await service.ended()] as const);
        assert.deepEqual(await Promise.race(ends), [hurried, 0]);
        assert.equal(await patient.ended(), 0);
        assert.ok(performance.now() - started < ENDED_WITHIN_MS);
        assert.equal(logOf(hurried).at(-1)?.msg, 'shutdown aborted by a second signal');
        assert.equal(logOf(patient).at(-1)?.msg, 'shutdown timed out, the remaining connections were closed');
      }),
    ),
});
