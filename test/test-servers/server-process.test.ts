import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';

/** A server that writes a dot to a file at each start, and sends the file to each client. */
const PROGRAM = `
  const [port, folder] = process.argv.slice(1);
  const file = folder + '/starts';
  fs.appendFileSync(file, '.');
  net.createServer((socket) => socket.on('error', () => {}).end(fs.readFileSync(file))).listen(port, '127.0.0.1');`;
const createArguments = (port: number, folder: string) => ['--eval', PROGRAM, String(port), folder];

suite('A server process of the tests', {
  'keeps its port and its data when it is killed and restarted': async () => {
    const server = await startServer(process.execPath, createArguments);
    try {
      assert.equal(await readText(server.port), '.');
      const oldPid = server.pid;
      await server.kill();
      await assert.rejects(readText(server.port), /ECONNREFUSED/);
      await server.start();
      assert.notEqual(server.pid, oldPid);
      assert.equal(await readText(server.port), '..');
    } finally {
      await server.stop();
    }
  },

  'does not respond while it is frozen, and continues afterwards': async () => {
    const server = await startServer(process.execPath, createArguments);
    try {
      server.freeze();
      const response = readText(server.port);
      assert.equal(await Promise.race([response, delay(300, 'nothing')]), 'nothing');
      server.thaw();
      assert.equal(await response, '.');
    } finally {
      await server.stop();
    }
  },

  'fails to start with the output of the program, or with the error of a missing program': async () => {
    const failing = startServer(process.execPath, () => ['--eval', "throw new Error('no such data')"]);
    await assert.rejects(failing, /did not start: .*no such data/s);
    await assert.rejects(
      startServer('/no/such/program', () => []),
      /ENOENT/,
    );
  },

  'ends, and its data is deleted, when the process that started it is killed': async () => {
    const module = JSON.stringify(join(import.meta.dirname, '../support/server-process.js'));
    const script = `
      import { startServer } from ${module};
      let data;
      const server = await startServer(process.execPath, (port, folder) => {
        data = folder;
        return ['--eval', ${JSON.stringify(PROGRAM)}, String(port), folder];
      });
      console.log(JSON.stringify({ pid: server.pid, port: server.port, data }));
      setInterval(() => {}, 1000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    let pid: number, data: string;
    try {
      const [line] = await once(starter.stdout, 'data');
      const started = JSON.parse(line);
      ({ pid, data } = started);
      assert.equal(await readText(started.port), '.');
      assert.ok(existsSync(data));
    } finally {
      starter.kill('SIGKILL');
    }
    while (isAlive(pid) || existsSync(data)) await delay(50);
  },
});

/** Connects to a server, and resolves to the text that it sends. */
async function readText(port: number): Promise<string> {
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
