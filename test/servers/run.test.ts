import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from '../support/suite.ts';

const RUNNER = join(import.meta.dirname, '../support/run.js');
const FILE = 'core/tag.test';

suite('The runner of the tests', {
  'prints only the counts if it is quick': () => {
    const { status, stdout, stderr } = run({});
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, /^[1-9]\d* passed, 0 failed\n$/);
  },

  'prints its progress on standard error if it takes long, and then the counts': () => {
    const { status, stdout, stderr } = run({ TEST_PROGRESS_INTERVAL_MS: '20' });
    assert.equal(status, 0);
    assert.match(stderr, /^(?:… 0 of 1 files, \d+ s\n)+$/);
    assert.match(stdout, /^[1-9]\d* passed, 0 failed\n$/);
  },
});

function run(env: Readonly<Record<string, string>>) {
  return spawnSync(process.execPath, [RUNNER, FILE], { env: { ...process.env, ...env }, encoding: 'utf8' });
}
