import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, withCheckout } from '../support/checkout.ts';
import type { ServiceProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const STARTS = 4;

const builtAt = ({ folder }: Checkout): number =>
  JSON.parse(readFileSync(join(folder, 'dist/build.json'), 'utf8')).builtAt;

/** What a build leaves beside `dist` while it runs. */
const leftovers = ({ folder }: Checkout) => readdirSync(folder).filter((name) => name.startsWith('dist.'));

async function statusOf(service: ServiceProcess, path: string): Promise<number> {
  return (await fetch(service.url + path, { headers: { Connection: 'close' } })).status;
}

suite('npm start', {
  'builds once if nothing is built, also if four start at once, and then only if the sources have changed': () =>
    withCheckout({}, async (checkout) => {
      const services = await Promise.all(Array.from({ length: STARTS }, () => checkout.start('npm start')));
      for (const service of services) assert.equal(await statusOf(service, '/docs'), 200);
      assert.ok(services.some(({ printed }) => printed.stderr.includes('Another process is building')));
      assert.deepEqual(leftovers(checkout), []);

      const before = builtAt(checkout);
      const broken = join(checkout.folder, 'core/broken.ts');
      writeFileSync(broken, 'export const broken: string = 1;\n');
      const { code, stdout } = await checkout.run('npm start');
      assert.equal(code, 1);
      assert.match(stdout, /core\/broken\.ts.* error TS2322/);
      assert.deepEqual([builtAt(checkout), leftovers(checkout)], [before, []]);

      await rm(broken);
      await checkout.start('npm start');
      assert.equal(builtAt(checkout), before);
    }),
});

suite('a build', {
  'starts after a source was touched, does not disturb commands, and removes obsolete files': () =>
    withCheckout({ isBuilt: true }, async (checkout) => {
      const before = builtAt(checkout);
      // This copy does not have the tests.
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
      assert.ok(builtAt(checkout) > before);
      assert.equal(existsSync(join(checkout.folder, 'dist/test/support/run.js')), false);
    }),
});

suite('npm run dev', {
  'restarts the server after a change of a source, and stops with it': () =>
    withCheckout({}, async (checkout) => {
      const service = await checkout.start('npm run dev', { PORT: '0' });
      const file = join(checkout.folder, 'bootstrap/run-server.ts');
      writeFileSync(
        file,
        readFileSync(file, 'utf8').replace('Workspace Advocacy listens', 'The changed service listens'),
      );
      const changed = /The changed service listens at (http:\S+?),?\s/;
      await until(() => changed.test(service.printed.stdout));
      const [, url = ''] = changed.exec(service.printed.stdout) ?? [];
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      await assert.rejects(fetch(`${service.url}/healthz`));
      service.child.kill('SIGTERM');
      assert.equal(await service.ended(), 0);
      await assert.rejects(fetch(`${url}/healthz`));
      assert.deepEqual(leftovers(checkout), []);
    }),
});

const HELP =
  /The compilers are not installed, so nothing is built: run `npm ci --include=dev`, or copy a built dist here\.\n$/;

suite('without the compilers', {
  'npm start says what to do if nothing is built, and an installation succeeds': () =>
    withCheckout({ packages: 'production' }, async (checkout) => {
      for (const [command, code] of [
        ['start', 1],
        ['run build', 1],
        ['run prepare', 0],
      ] as const) {
        const result = await checkout.run(`npm ${command}`);
        assert.equal(result.code, code, command);
        assert.match(result.stderr, HELP);
      }
    }),

  'npm start starts a copied dist and leaves it unchanged': () =>
    withCheckout({ packages: 'production', isBuilt: true }, async (checkout) => {
      await rm(join(checkout.folder, 'core'), { recursive: true });
      const before = builtAt(checkout);
      const service = await checkout.start('npm start', { NODE_ENV: 'production' });
      assert.equal(await statusOf(service, '/docs'), 200);
      assert.equal(service.printed.stderr.includes('compilers'), false);
      assert.equal(builtAt(checkout), before);
    }),
});
