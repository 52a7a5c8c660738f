import assert from 'node:assert/strict';
import { withCheckout } from '../support/checkout.ts';
import type { ServiceProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Longer than a graceful shutdown takes. */
const STOP_TIMEOUT_MS = 20_000;

const getStatus = async ({ url }: ServiceProcess): Promise<number | undefined> =>
  fetch(`${url}/healthz`, { headers: { Connection: 'close' } }).then(
    ({ status }) => status,
    () => undefined,
  );

/** The commands that start the server, the shells of npm, and the signals that stop the server. */
const cases = [
  ['npm start', 'sh', 'SIGTERM'],
  ['npm start', 'sh', 'SIGINT'],
  ['npm start', 'bash', 'SIGTERM'],
  // SIGINT to npx with sh is not tested: if sh is dash, the shell ignores the signal until the server exits.
  ['npx advocacy serve', 'sh', 'SIGTERM'],
  ['npx advocacy serve', 'bash', 'SIGINT'],
] as const;

suite('a signal to npm', {
  'stops the server that npm has started': () =>
    withCheckout({ packages: 'production', isBuilt: true }, async ({ start }) => {
      await Promise.all(
        cases.map(async ([command, shell, signal]) => {
          const service = await start(command, { npm_config_script_shell: shell });
          assert.equal(await getStatus(service), 200);
          service.child.kill(signal);
          const deadline = performance.now() + STOP_TIMEOUT_MS;
          await waitUntil(async () => performance.now() > deadline || (await getStatus(service)) === undefined);
          assert.equal(await getStatus(service), undefined, `${command}, ${shell}, ${signal}`);
        }),
      );
    }),
});
