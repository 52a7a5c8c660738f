import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
  'removes obsolete files, and fails if a type is wrong': () =>
    withCheckout({ isBuilt: true }, async (checkout) => {
      const contains = (file: string) => existsSync(join(checkout.folder, file));
      // The copied checkout has no sources of the tests, so their output is obsolete.
      assert.ok(contains('dist/test/support/run.js'));
      assert.equal((await checkout.run('npm run build')).code, 0);
      assert.deepEqual(['dist/test', 'dist/bootstrap/main.js', 'dist/bootstrap/cli.js'].map(contains), [
        false,
        true,
        true,
      ]);

      writeFileSync(join(checkout.folder, 'core/broken.ts'), 'export const broken: string = 1;\n');
      const { code, stdout } = await checkout.run('npm run build');
      assert.equal(code, 1);
      assert.match(stdout, /core\/broken\.ts.* error TS2322/);
    }),
});

suite('npm run dev', {
  'restarts the server when a source changes, and stops the server on SIGTERM': () =>
    withCheckout({}, async ({ folder, start }) => {
      const service = await start('npm run dev', { PORT: '0' });
      const file = join(folder, 'bootstrap/start-message.ts');
      const source = readFileSync(file, 'utf8');
      writeFileSync(file, source.replace('Workspace Advocacy listens', 'The changed service listens'));
      const changed = /The changed service listens on (http:\S+?),?\s/;
      await waitUntil(() => changed.test(service.output.stdout));
      const [, url = ''] = changed.exec(service.output.stdout) ?? [];
      assert.deepEqual([await canServe(url), await canServe(service.url)], [true, false]);
      service.child.kill('SIGTERM');
      await service.waitForExit();
      await waitUntil(async () => !(await canServe(url)));
    }),
});
