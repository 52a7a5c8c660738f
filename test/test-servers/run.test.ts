import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';

const RUNNER = join(import.meta.dirname, '../support/run.js');
const TEST_FILE = 'core/tag.test';

suite('The runner of the tests', {
  'prints only the counts if it is fast': () => {
    const { status, stdout, stderr } = startRunner({});
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^[1-9]\d* passed, 0 failed\n$/);
  },

  'prints its progress to standard error if it is slow, and then the counts': () => {
    const { status, stdout, stderr } = startRunner({ TEST_PROGRESS_INTERVAL_MS: '20' });
    assert.equal(status, 0);
    assert.match(stderr, /^(?:… 0 of 1 files, \d+ s\n)+$/);
    assert.match(stdout, /^[1-9]\d* passed, 0 failed\n$/);
  },

  'kills a process that starts no test for a long time, and reports what the process was running': () => {
    const { status, stdout } = startRunner({ TEST_TIMEOUT_MS: '1' });
    assert.equal(status, 1);
    assert.match(stdout, /^the code of core\/tag\.test\.js before its first test did not end within 3 ms$/m);
  },

  'counts a process that ends without results as a failure': () => {
    const program = encodeURIComponent('process.argv[1].endsWith("run-files.js") && process.exit(0)');
    const { status, stdout } = startRunner({ NODE_OPTIONS: `--import=data:text/javascript,${program}` });
    assert.equal(status, 1);
    assert.match(stdout, /^0 passed, 1 failed$/m);
  },

  'prints the time of each file with the option --times': () => {
    assert.match(
      startRunner({}, '--times').stdout,
      /^ +\d+\.\d s {2}core\/tag\.test\.js\n[1-9]\d* passed, 0 failed\n$/,
    );
  },

  'runs several files of some folders in one process, and counts the tests of all these files': () => {
    const countPassed = (stdout: string) => Number(/(\d+) passed/.exec(stdout)?.[1]);
    const { stdout } = startRunner({}, 'core/amount.test', '--times');
    assert.match(stdout, /^ +\d+\.\d s {2}core\/tag\.test\.js core\/amount\.test\.js\n/);
    assert.ok(countPassed(stdout) > countPassed(startRunner({}).stdout));
  },
});

function startRunner(env: Readonly<Record<string, string>>, ...args: readonly string[]) {
  return spawnSync(process.execPath, [RUNNER, TEST_FILE, ...args], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
}
