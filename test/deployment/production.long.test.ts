import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, withCheckout } from '../support/checkout.ts';
import { root } from '../support/compose.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const page = readFileSync(join(root, 'docs/operating.md'), 'utf8');
const [, block = ''] = /^### Install\n.*?^```sh\n(.*?)^```$/ms.exec(page) ?? [];
const [install = '', prune = ''] = block
  .split('\n')
  .filter((line) => line.startsWith('npm '))
  .map((line) => line.replace(/ *#.*/, ''));
const [, start = ''] =
  /^ExecStart=\/usr\/bin\/(.*)$/m.exec(readFileSync(join(root, 'deployment/advocacy.service'), 'utf8')) ?? [];

const environments = { 'NODE_ENV is unset': {}, 'NODE_ENV is production': { NODE_ENV: 'production' } };

const hasCompilers = ({ folder }: Checkout) => existsSync(join(folder, 'node_modules/typescript'));

suite('docs/operating.md', {
  'has commands that install, build and start the service': () =>
    each(environments, (env) =>
      withCheckout({ packages: 'none' }, async (checkout) => {
        for (const command of [install, prune]) {
          const { code, stderr } = await checkout.run(command, env);
          assert.equal(code, 0, stderr);
        }
        assert.equal(hasCompilers(checkout), false);
        for (const command of [start, 'npm start']) {
          const { url } = await checkout.start(command, env);
          assert.equal((await fetch(`${url}/docs`)).status, 200);
        }
      }),
    ),

  'can be followed with a copied dist, which needs only the production packages': () =>
    withCheckout({ packages: 'none' }, async (checkout) => {
      const { code, stderr } = await checkout.run('npm ci --omit=dev');
      assert.equal(code, 0, stderr);
      assert.match(stderr, /Nothing is built, because the compilers are not installed\. /);
      assert.equal(hasCompilers(checkout), false);
      await cp(join(root, 'dist'), join(checkout.folder, 'dist'), { recursive: true });
      const { url } = await checkout.start('npm start');
      assert.equal((await fetch(`${url}/docs`)).status, 200);
    }),
});
