import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { withProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';

suite('stopping, with a request that never ends', {
  'ends after ten seconds, whatever is under way': () =>
    withProcess({}, async ({ url, child, ended }) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.on('error', () => socket.destroy());
      socket.write('GET /campaigns HTTP/1.1\r\nHost: x\r\n');
      const started = Date.now();
      child.kill('SIGTERM');
      assert.equal(await ended(), 0);
      assert.ok(Date.now() - started < 12_000);
    }),
});
