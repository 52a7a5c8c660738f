import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { withProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';

suite('a graceful shutdown with an unfinished request', {
  'ends at the shutdown timeout of ten seconds at the latest': () =>
    withProcess({}, async ({ url, child, waitForExit }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => socket.destroy());
      socket.write('GET /campaigns HTTP/1.1\r\nHost: x\r\n');
      const stoppedAt = Date.now();
      child.kill('SIGTERM');
      assert.equal(await waitForExit(), 0);
      assert.ok(Date.now() - stoppedAt < 12_000);
    }),
});
