import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { RESULTS } from '../support/results.ts';
import { suite } from '../support/suite.ts';

const TEST_FILE = `
  import { MissingDependencyError } from ${toModuleSpecifier('missing-dependency-error')};
  import { suite } from ${toModuleSpecifier('suite')};
  suite('Some', {
    'needs a server': () => Promise.reject(new MissingDependencyError('no server')),
    'needs another': () => { throw new MissingDependencyError('no server'); },
    'needs an optional one': () => { throw new MissingDependencyError('no compiler', { isOptional: true }); },
    'needs nothing': () => {},
  });`;

suite('A test that needs a missing program', {
  'is skipped and counted, with the reason': () => {
    const { status, results } = runFile({});
    assert.deepEqual(results, { passed: 1, failed: 0, skipped: 3, reasons: ['no server', 'no compiler'] });
    assert.equal(status, 0);
  },

  'fails if CI is set and the program is not optional': () => {
    const { status, results } = runFile({ CI: 'true' });
    assert.deepEqual(results, { passed: 1, failed: 2, skipped: 1, reasons: ['no compiler'] });
    assert.equal(status, 1);
  },
});

function toModuleSpecifier(name: string): string {
  return JSON.stringify(join(import.meta.dirname, `../support/${name}.js`));
}

function runFile(variables: Record<string, string>) {
  const { CI: _, ...env } = process.env;
  const options = { env: { ...env, ...variables }, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', TEST_FILE], options);
  const line = stdout.split('\n').findLast((text) => text.startsWith(RESULTS)) as string;
  return { status, results: JSON.parse(line.slice(RESULTS.length)) };
}
