import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../support/compose.ts';
import { readDockerfile } from '../support/dockerfile.ts';
import { each, textCases } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const security = read('SECURITY.md');

/** The entry of a package in a lock file. */
interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
}

/** Returns the packages in the lock file of a folder, by name. */
function readLockFile(folder: string): [name: string, locked: LockedPackage][] {
  const { packages } = JSON.parse(read(join(folder, 'package-lock.json')));
  const { '': _root, ...others } = packages as Record<string, LockedPackage>;
  return Object.entries(others).map(([path, locked]) => [path.split('node_modules/').at(-1) as string, locked]);
}

const servicePackages = readLockFile('.').filter(([, { dev, devOptional }]) => !dev && !devOptional);

suite('the lock files', {
  'have a hash for each package, and contain no registry except registry.npmjs.org': () =>
    each(textCases('.', 'test/client', 'test/openapi', 'test/bench/peers'), (folder) =>
      each(readLockFile(folder), ({ integrity = '', resolved }) => {
        assert.match(integrity, /^sha512-[\w+/]{86}==$/);
        // Without a URL in the lock file, npm uses the configured registry.
        if (resolved !== undefined) assert.match(resolved, /^https:\/\/registry\.npmjs\.org\//);
      }),
    ),

  'contain no package whose install script may run': async () => {
    const { allowScripts } = JSON.parse(read('package.json'));
    const withScript = readLockFile('.')
      .filter(([, { hasInstallScript }]) => hasInstallScript)
      .map(([name]) => name);
    assert.deepEqual(Object.fromEntries(withScript.map((name) => [name, false])), allowScripts);
    for (const { args } of (await readDockerfile()).filter(({ args }) => /npm (ci|prune)/.test(args)))
      assert.match(args, / --ignore-scripts$/);
  },
});

suite('the bill of materials', {
  'lists the packages of the service, and marks packages that only build or test the service': async () => {
    const [, command = ''] = /```\n(npm sbom .*) > sbom\.json\n```/.exec(security) ?? [];
    const { code, output } = await runCommand('sh', ['-c', command], { npm_config_offline: 'true' });
    assert.equal(code, 0, output);
    const { bomFormat, components } = JSON.parse(output);
    assert.equal(bomFormat, 'CycloneDX');
    const isProductionComponent = ({ properties }: Component) =>
      !properties.some(({ name }) => name === 'cdx:npm:package:development');
    assert.deepEqual(
      (components as Component[])
        .filter(isProductionComponent)
        .map(({ name, version }) => `${name}@${version}`)
        .sort(),
      [...new Set(servicePackages.map(([name, { version }]) => `${name}@${version}`))].sort(),
    );
  },
});

interface Component {
  readonly name: string;
  readonly version: string;
  readonly properties: readonly { readonly name: string }[];
}

/** The output of `npm audit`, and whether `.ci/run` continues after it. */
const audits = {
  'a vulnerability': { text: 'brace  <=1.0.0\nSeverity: high', shouldContinue: false },
  'a registry without audits': { text: 'npm error audit endpoint returned an error', shouldContinue: true },
  'no findings': { text: '', shouldContinue: true },
} as const;

suite('.ci/run', {
  'runs npm audit with the options in SECURITY.md, and fails only if npm audit finds a vulnerability': () =>
    each(audits, ({ text, shouldContinue }) =>
      withTemporaryFolder(async (folder) => {
        const calls = join(folder, 'calls');
        const fakeCommand = join(folder, 'bin/npm');
        for (const path of ['.ci', 'bin', 'test/openapi']) mkdirSync(join(folder, path), { recursive: true });
        copyFileSync(join(root, '.ci/run'), join(folder, '.ci/run'));
        writeFileSync(fakeCommand, FAKE_COMMAND);
        chmodSync(fakeCommand, 0o755);
        for (const path of ['bin/node', 'bin/apt-get', 'test/openapi/schemathesis.sh']) {
          symlinkSync(fakeCommand, join(folder, path));
        }
        const PATH = `${dirname(fakeCommand)}:${process.env.PATH}`;
        const { code, output } = await runCommand(join(folder, '.ci/run'), [], {
          PATH,
          CALLS: calls,
          AUDIT_OUTPUT: text,
        });
        const called = readFileSync(calls, 'utf8').trim().split('\n');
        const auditIndex = called.findIndex((call) => call.startsWith('npm audit'));
        assert.ok(security.includes(`\`${called[auditIndex]}\``), called[auditIndex]);
        assert.equal(code === 0, shouldContinue, output);
        assert.equal(called.length > auditIndex + 1, shouldContinue, called.join('\n'));
        assert.equal(output.includes('SKIPPED: npm audit'), shouldContinue && text !== '', output);
      }),
    ),
});

/** Logs its name and arguments. As `npm audit`, it also prints AUDIT_OUTPUT, and fails unless AUDIT_OUTPUT is empty. */
const FAKE_COMMAND = `#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
[ "$1" != audit ] || [ -z "$AUDIT_OUTPUT" ] || { echo "$AUDIT_OUTPUT"; exit 1; }
`;

function runCommand(
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
