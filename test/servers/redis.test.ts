import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { redis, startRedis } from '../support/redis.ts';
import { suite } from '../support/suite.ts';

suite('The Redis of the tests', {
  'is reached at its URL': async () => {
    const { url, stop } = await redis();
    try {
      assert.equal(await ask(Number(new URL(url).port), 'PING'), '+PONG\r\n');
    } finally {
      await stop();
    }
  },

  'is empty, and can be killed and started again': async () => {
    const server = await startRedis();
    try {
      await server.kill();
      await assert.rejects(ask(server.port, 'PING'), /ECONNREFUSED/);
      await server.start();
      assert.equal(await ask(server.port, 'DBSIZE'), ':0\r\n');
    } finally {
      await server.stop();
    }
  },
});

async function ask(port: number, command: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(`${command}\r\n`);
  for await (const answer of socket) return answer;
  throw new Error('no answer');
}
