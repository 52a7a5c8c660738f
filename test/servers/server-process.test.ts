import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';

/** Says how many starts its data remember, which is in its folder, to whoever connects. */
const PROGRAM = `
  const [port, folder] = process.argv.slice(1);
  const file = folder + '/starts';
  fs.appendFileSync(file, '.');
  net.createServer((socket) => socket.on('error', () => {}).end(fs.readFileSync(file))).listen(port, '127.0.0.1');`;
const argumentsOf = (port: number, folder: string) => ['--eval', PROGRAM, String(port), folder];

suite('A server process of the tests', {
  'comes back on its port with its data when it is killed and started': async () => {
    const server = await startServer(process.execPath, argumentsOf);
    try {
      assert.equal(await said(server.port), '.');
      const before = server.pid;
      await server.kill();
      await assert.rejects(said(server.port), /ECONNREFUSED/);
      await server.start();
      assert.notEqual(server.pid, before);
      assert.equal(await said(server.port), '..');
    } finally {
      await server.stop();
    }
  },

  'says nothing while it is frozen, and goes on afterwards': async () => {
    const server = await startServer(process.execPath, argumentsOf);
    try {
      server.freeze();
      const answer = said(server.port);
      assert.equal(await Promise.race([answer, delay(300, 'nothing')]), 'nothing');
      server.thaw();
      assert.equal(await answer, '.');
    } finally {
      await server.stop();
    }
  },

  'tells what it printed when it ends at its start, and that there is no such program': async () => {
    const failing = startServer(process.execPath, () => ['--eval', "throw new Error('no such data')"]);
    await assert.rejects(failing, /did not start: .*no such data/s);
    await assert.rejects(
      startServer('/no/such/program', () => []),
      /ENOENT/,
    );
  },

  'is gone with its data when who started it is killed': async () => {
    const module = JSON.stringify(join(import.meta.dirname, '../support/server-process.js'));
    const starting = `
      import { startServer } from ${module};
      let data;
      const server = await startServer(process.execPath, (port, folder) => {
        data = folder;
        return ['--eval', ${JSON.stringify(PROGRAM)}, String(port), folder];
      });
      console.log(JSON.stringify({ pid: server.pid, port: server.port, data }));
      setInterval(() => {}, 1000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', starting]);
    let pid: number, data: string;
    try {
      const [line] = await once(starter.stdout, 'data');
      const started = JSON.parse(line);
      ({ pid, data } = started);
      assert.equal(await said(started.port), '.');
      assert.ok(existsSync(data));
    } finally {
      starter.kill('SIGKILL');
    }
    while (isAlive(pid) || existsSync(data)) await delay(50);
  },
});

/** What a server says to who connects. */
async function said(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let text = '';
  for await (const chunk of socket) text += chunk;
  return text;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
