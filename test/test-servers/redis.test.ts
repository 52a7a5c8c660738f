import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { getRedis, startRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';

suite('The Redis of the tests', {
  'responds at its URL': async () => {
    const { url, stop } = await getRedis();
    try {
      assert.equal(await sendCommand(Number(new URL(url).port), 'PING'), '+PONG\r\n');
    } finally {
      await stop();
    }
  },

  'is empty, and can be killed and restarted': async () => {
    const server = await startRedis();
    try {
      await server.kill();
      await assert.rejects(sendCommand(server.port, 'PING'), /ECONNREFUSED/);
      await server.start();
      assert.equal(await sendCommand(server.port, 'DBSIZE'), ':0\r\n');
    } finally {
      await server.stop();
    }
  },
});

async function sendCommand(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(`${command}\r\n`);
  for await (const response of socket) return response;
  throw new Error('no response');
}
