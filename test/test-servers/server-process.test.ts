import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';

const PROGRAM = "net.createServer().listen(process.argv[1], '127.0.0.1')";

suite('A server process of the tests', {
  'that cannot start reports the output of the program, or that the program is missing': async () => {
    const failing = startServerProcess(process.execPath, () => ['--eval', "throw new Error('no such data')"]);
    await assert.rejects(failing, /did not start: .*no such data/s);
    await assert.rejects(
      startServerProcess('/no/such/program', () => []),
      /ENOENT/,
    );
  },

  'ends, and its data is deleted, when the process that started it is killed': async () => {
    const module = JSON.stringify(join(import.meta.dirname, '../support/server-process.js'));
    const script = `
      import { startServerProcess } from ${module};
      let data;
      const server = await startServerProcess(process.execPath, (port, folder) => {
        data = folder;
        return ['--eval', ${JSON.stringify(PROGRAM)}, String(port)];
      });
      console.log(JSON.stringify({ pid: server.pid, data }));
      setInterval(() => {}, 1000);`;
    const starter = spawn(process.execPath, ['--input-type=module', '--eval', script]);
    let pid: number, data: string;
    try {
      const [line] = await once(starter.stdout, 'data');
      ({ pid, data } = JSON.parse(line));
      assert.ok(existsSync(data));
    } finally {
      starter.kill('SIGKILL');
    }
    while (isAlive(pid) || existsSync(data)) await delay(50);
  },
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
