import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withCheckout } from '../support/checkout.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const canServe = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`, { headers: { Connection: 'close' } }).then(
    ({ ok }) => ok,
    () => false,
  );

suite('npm run build', {
  'fails without the compilers, but an installation succeeds': () =>
    withCheckout({ packages: 'production' }, async (checkout) => {
      for (const [command, code] of [['run build', 1] as const, ['run prepare', 0] as const]) {
        const result = await checkout.run(`npm ${command}`);
        assert.equal(result.code, code, command);
        assert.match(
          result.stderr,
          /^Nothing is built, because the compilers are not installed\. Run `npm ci --include=dev`\.$/m,
        );
      }
    }),
});

suite('npm start', {
  'starts what is built, also without sources and compilers, and stops on a signal to npm': () =>
    withCheckout({ packages: 'production', isBuilt: true }, async ({ folder, start }) => {
      await rm(join(folder, 'core'), { recursive: true });
      // dash, which is `sh` on many systems, does not forward signals.
      const cases = [['sh', 'SIGTERM'] as const, ['sh', 'SIGINT'] as const, ['bash', 'SIGTERM'] as const];
      for (const [shell, signal] of cases) {
        const { url, child } = await start('npm start', { npm_config_script_shell: shell });
        assert.ok(await canServe(url));
        child.kill(signal);
        await waitUntil(async () => !(await canServe(url)));
      }
    }),
});
