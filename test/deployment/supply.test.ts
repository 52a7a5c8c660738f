import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../support/compose.ts';
import { readDockerfile } from '../support/dockerfile.ts';
import { each, texts } from '../support/each.ts';
import { suite } from '../support/suite.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const security = read('SECURITY.md');

/** What a lock file says of a package. */
interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** The packages of a folder's lock file, by their names. */
function lockedIn(folder: string): [name: string, locked: Locked][] {
  const { packages } = JSON.parse(read(join(folder, 'package-lock.json')));
  const { '': _root, ...others } = packages as Record<string, Locked>;
  return Object.entries(others).map(([path, locked]) => [path.split('node_modules/').at(-1) as string, locked]);
}

const service = lockedIn('.').filter(([, { dev, devOptional }]) => !dev && !devOptional);

suite('the lock files', {
  'fix each package by its hash, and take none from elsewhere than the public registry': () =>
    each(texts('.', 'test/client', 'test/openapi', 'test/bench/peers'), (folder) =>
      each(lockedIn(folder), ({ integrity = '', resolved }) => {
        assert.match(integrity, /^sha512-[\w+/]{86}==$/);
        // Where a lock file names no place, npm asks the registry that it is set to.
        if (resolved !== undefined) assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//);
      }),
    ),

  'have no package whose install script runs': async () => {
    const { allowScripts } = JSON.parse(read('package.json'));
    const withScript = lockedIn('.')
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([name]) => name);
    assert.deepEqual(Object.fromEntries(withScript.map((name) => [name, false])), allowScripts);
    const installs = (await readDockerfile()).filter(({ rest }) => rest.includes('npm ci'));
    assert.equal(installs.length, 2);
    for (const { rest } of installs) assert.match(rest, / --ignore-scripts$/);
  },
});

suite('the bill of materials', {
  'names what the service is made of, and marks what only builds or tests it': async () => {
    const [, command = ''] = /```\n(npm sbom .*) > sbom\.json\n```/.exec(security) ?? [];
    const { code, output } = await running('sh', ['-c', command], { npm_config_offline: 'true' });
    assert.equal(code, 0, output);
    const { bomFormat, components } = JSON.parse(output);
    assert.equal(bomFormat, 'CycloneDX');
    const isOfService = ({ properties }: Component) =>
      !properties.some(({ name }) => name === 'cdx:npm:package:development');
    assert.deepEqual(
      (components as Component[])
        .filter(isOfService)
        .map(({ name, version }) => `${name}@${version}`)
        .sort(),
      [...new Set(service.map(([name, { version }]) => `${name}@${version}`))].sort(),
    );
  },
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly properties: readonly { readonly name: string }[];
}

/** What `npm audit` says, and whether the run goes on. */
const audits = {
  'a weakness': { says: 'brace  <=1.0.0\nSeverity: high', goesOn: false },
  'no answer': { says: 'npm error audit endpoint returned an error', goesOn: true },
  nothing: { says: '', goesOn: true },
} as const;

suite('.ci/run', {
  'ends where npm audit finds a weakness of the level that SECURITY.md names': () =>
    each(audits, async ({ says, goesOn }) => {
      const folder = mkdtempSync(join(tmpdir(), 'advocacy-test-'));
      try {
        const calls = join(folder, 'calls');
        const standIn = join(folder, 'bin/npm');
        for (const path of ['.ci', 'bin', 'test/openapi']) mkdirSync(join(folder, path), { recursive: true });
        copyFileSync(join(root, '.ci/run'), join(folder, '.ci/run'));
        writeFileSync(standIn, STAND_IN);
        chmodSync(standIn, 0o755);
        for (const path of ['bin/node', 'bin/apt-get', 'test/openapi/schemathesis.sh']) {
          symlinkSync(standIn, join(folder, path));
        }
        const PATH = `${dirname(standIn)}:${process.env.PATH}`;
        const { code, output } = await running(join(folder, '.ci/run'), [], { PATH, CALLS: calls, SAYS: says });
        const called = readFileSync(calls, 'utf8').trim().split('\n');
        const audit = called.findIndex((call) => call.startsWith('npm audit'));
        assert.ok(security.includes(`\`${called[audit]}\``), called[audit]);
        assert.equal(code === 0, goesOn, output);
        assert.equal(called.length > audit + 1, goesOn, called.join('\n'));
        assert.equal(output.includes('SKIPPED: npm audit'), goesOn && says !== '', output);
      } finally {
        rmSync(folder, { recursive: true });
      }
    }),
});

/** Notes how it is called, and does nothing; an audit says what it is told to, and fails where that is something. */
const STAND_IN = `#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
[ "$1" != audit ] || [ -z "$SAYS" ] || { echo "$SAYS"; exit 1; }
`;

function running(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: root, env: { ...process.env, ...env }, maxBuffer: 2 ** 24 }, (error, stdout) =>
      resolve({ code: error ? 1 : 0, output: stdout }),
    );
  });
}
