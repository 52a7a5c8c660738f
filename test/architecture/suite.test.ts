import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { suite } from '../support/suite.ts';

const SUITE_URL = new URL('../support/suite.js', import.meta.url).href;

/** Runs the lines as a test file, in a process of its own. */
function runFile(...lines: readonly string[]) {
  const source = [`import { suite } from '${SUITE_URL}';`, 'const pass = () => undefined;', ...lines].join('\n');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
    env: { ...process.env, TEST_TIMEOUT_MS: '100' },
  });
  return { status, passed: Number(/"passed":(\d+)/.exec(stdout)?.[1]), stdout, stderr };
}

suite('A suite', {
  'runs the tests of all its arguments': () => {
    const { status, passed } = runFile(
      "suite('one', { a: pass, b: pass }, [['c', pass]]);",
      "suite('two', { d: pass });",
    );
    assert.deepEqual([status, passed], [0, 4]);
  },

  'fails a test that hangs, names it, and runs the other tests': () => {
    const { status, passed, stdout } = runFile("suite('one', { hangs: () => new Promise(pass), b: pass });");
    assert.deepEqual([status, passed], [1, 1]);
    assert.match(stdout, /FAIL +one +"hangs"\s+did not end within 100 ms/);
    const hang = '() => new Promise(pass)';
    const many = runFile(`suite('two', { a: ${hang}, b: ${hang}, c: ${hang}, d: pass });`);
    assert.deepEqual([many.status, many.passed], [1, 0]);
    assert.match(many.stdout, /FAIL +two +"d"\s+not run, because 3 other tests hang/);
  },

  'makes its file fail before any test runs if two tests of the file have the same title': () => {
    const repeated = [
      "suite('one', { a: pass }, { a: pass });",
      "suite('one', { a: pass }, [['a', pass]]);",
      "suite('one', [['a', pass], ['a', pass]]);",
      "suite('one', { a: pass }); suite('two', { a: pass });",
    ];
    for (const line of repeated) {
      const { status, passed, stderr } = runFile(line);
      assert.deepEqual([status, passed], [1, 0], line);
      assert.match(stderr, /suite "(?:one|two)": this file has two tests with the title "a"/);
    }
  },
});
