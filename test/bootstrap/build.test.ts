import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, withCheckout } from '../support/checkout.ts';
import type { ServiceProcess } from '../support/process.ts';
import { quickOrLong } from '../support/scale.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const START_COUNT = quickOrLong(2, 4);

const readBuiltAt = ({ folder }: Checkout): number =>
  JSON.parse(readFileSync(join(folder, 'dist/build.json'), 'utf8')).builtAt;

/** Returns the names of the temporary files and folders of a build. */
const findTemporaryFiles = ({ folder }: Checkout) => readdirSync(folder).filter((name) => name.startsWith('dist.'));

async function getStatus(service: ServiceProcess, path: string): Promise<number> {
  return (await fetch(service.url + path, { headers: { Connection: 'close' } })).status;
}

suite('npm start', {
  'builds once if several processes start at the same time, and builds again only if a source has changed': () =>
    withCheckout({}, async (checkout) => {
      const services = await Promise.all(Array.from({ length: START_COUNT }, () => checkout.start('npm start')));
      for (const service of services) assert.equal(await getStatus(service, '/docs'), 200);
      assert.ok(services.some(({ output }) => output.stderr.includes('Another process is building')));
      assert.deepEqual(findTemporaryFiles(checkout), []);

      const before = readBuiltAt(checkout);
      const broken = join(checkout.folder, 'core/broken.ts');
      writeFileSync(broken, 'export const broken: string = 1;\n');
      const { code, stdout } = await checkout.run('npm start');
      assert.equal(code, 1);
      assert.match(stdout, /core\/broken\.ts.* error TS2322/);
      assert.deepEqual([readBuiltAt(checkout), findTemporaryFiles(checkout)], [before, []]);

      await rm(broken);
      await checkout.start('npm start');
      assert.equal(readBuiltAt(checkout), before);
    }),
});

suite('a build', {
  'starts if a source was touched, does not disturb commands, and removes obsolete files': () =>
    withCheckout({ isBuilt: true }, async (checkout) => {
      const before = readBuiltAt(checkout);
      // The copied checkout has no sources of the tests, so their output is obsolete.
      assert.ok(existsSync(join(checkout.folder, 'dist/test/support/run.js')));
      await utimes(join(checkout.folder, 'core/application.ts'), new Date(), new Date());
      let isBuilding = true;
      const building = checkout.run('npm run pretest').finally(() => (isBuilding = false));
      while (isBuilding) {
        const { code, stdout, stderr } = await checkout.run('node dist/bootstrap/cli.js --help');
        assert.equal(code, 0, stderr);
        assert.match(stdout, /^Usage: advocacy /);
      }
      assert.equal((await building).code, 0);
      assert.ok(readBuiltAt(checkout) > before);
      assert.equal(existsSync(join(checkout.folder, 'dist/test/support/run.js')), false);
    }),
});

suite('npm run dev', {
  'restarts the server when a source changes, and stops the server on SIGTERM': () =>
    withCheckout({}, async (checkout) => {
      const service = await checkout.start('npm run dev', { PORT: '0' });
      const file = join(checkout.folder, 'bootstrap/start-message.ts');
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace('Workspace Advocacy listens', 'The changed service listens'),
      );
      const changed = /The changed service listens on (http:\S+?),?\s/;
      await waitUntil(() => changed.test(service.output.stdout));
      const [, url = ''] = changed.exec(service.output.stdout) ?? [];
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      await assert.rejects(fetch(`${service.url}/healthz`));
      service.child.kill('SIGTERM');
      assert.equal(await service.waitForExit(), 0);
      await assert.rejects(fetch(`${url}/healthz`));
      assert.deepEqual(findTemporaryFiles(checkout), []);
    }),
});

const MISSING_COMPILERS =
  /The compilers are not installed, so nothing is built\. Run `npm ci --include=dev`, or copy a built dist here\.\n$/;

suite('without the compilers', {
  'npm start explains what to do if nothing is built, and an installation succeeds': () =>
    withCheckout({ packages: 'production' }, async (checkout) => {
      for (const [command, code] of [
        ['start', 1],
        ['run build', 1],
        ['run prepare', 0],
      ] as const) {
        const result = await checkout.run(`npm ${command}`);
        assert.equal(result.code, code, command);
        assert.match(result.stderr, MISSING_COMPILERS);
      }
    }),

  'npm start starts a copied dist and leaves it unchanged': () =>
    withCheckout({ packages: 'production', isBuilt: true }, async (checkout) => {
      await rm(join(checkout.folder, 'core'), { recursive: true });
      const before = readBuiltAt(checkout);
      const service = await checkout.start('npm start', { NODE_ENV: 'production' });
      assert.equal(await getStatus(service, '/docs'), 200);
      assert.equal(service.output.stderr.includes('compilers'), false);
      assert.equal(readBuiltAt(checkout), before);
    }),
});
