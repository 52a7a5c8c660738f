import assert from 'node:assert/strict';
import { withCheckout } from '../support/checkout.ts';
import type { ServiceProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

/** Longer than a graceful shutdown takes. */
const STOPPED_WITHIN_MS = 20_000;

const statusOf = async ({ url }: ServiceProcess): Promise<number | undefined> =>
  fetch(`${url}/healthz`, { headers: { Connection: 'close' } }).then(
    ({ status }) => status,
    () => undefined,
  );

/** The commands that start the server, the shells of npm, and the signals that stop the server. */
const stops = [
  ['npm start', 'sh', 'SIGTERM'],
  ['npm start', 'sh', 'SIGINT'],
  ['npm start', 'bash', 'SIGTERM'],
  // With dash, only SIGTERM: on SIGINT, dash waits for the command to end by itself.
  ['npx advocacy serve', 'sh', 'SIGTERM'],
  ['npx advocacy serve', 'bash', 'SIGINT'],
] as const;

suite('a signal to npm', {
  'stops the server that it started': () =>
    withCheckout({ packages: 'production', isBuilt: true }, async ({ start }) => {
      await Promise.all(
        stops.map(async ([command, shell, signal]) => {
          const service = await start(command, { npm_config_script_shell: shell });
          assert.equal(await statusOf(service), 200);
          service.child.kill(signal);
          const end = performance.now() + STOPPED_WITHIN_MS;
          await until(async () => performance.now() > end || (await statusOf(service)) === undefined);
          assert.equal(await statusOf(service), undefined, `${command}, ${shell}, ${signal}`);
        }),
      );
    }),
});
