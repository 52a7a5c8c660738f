import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bytesOf, Crowd } from '../support/concurrent-clients.ts';
import { Missing } from '../support/missing.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { CONTROL_C, Terminal } from '../support/terminal.ts';

const MAIN = join(import.meta.dirname, '../../bootstrap/main.js');

/** Every write to it fails as on a disk that is full; Linux alone has it. */
const FULL = '/dev/full';
const CONNECTIONS = 20;
/** Requests whose lines are many times what a pipe holds. */
const ROUNDS = 200;
const ENDS_WITHIN_MS = 5_000;

suite('a log on a terminal', {
  'has one line for each request, and lines for the start and the shutdown': async () => {
    const terminal = await Terminal.open(`exec ${process.execPath} ${MAIN}`, { PORT: '0', NO_COLOR: '1' });
    const url = await terminal.shows(/INFO: server listening \{"url":"(http:[^"]+)"/);
    await fetch(`${url}/healthz`);
    await fetch(`${url}/nothing?of=this`);
    await fetch(`${url}/campaigns/none`);
    const typed = performance.now();
    terminal.type(CONTROL_C);
    await terminal.ended;
    assert.ok(performance.now() - typed < ENDS_WITHIN_MS);
    const lines = terminal.text
      .replace('^C', '')
      .split(/\r?\n/)
      .filter((line) => /^\d\d:/.test(line));
    const patterns = [
      /server listening \{"url":.*"version":"\d.*"storage":"memory".*\}/,
      /GET \/healthz 200 [\d.]+ ms/,
      /GET \/nothing 404 [\d.]+ ms/,
      /GET \/campaigns\/\{id\} 401 [\d.]+ ms/,
      /shutdown started \{"signal":"SIGINT"\}/,
      /shutdown complete/,
    ];
    assert.equal(lines.length, patterns.length, terminal.text);
    for (const [i, pattern] of patterns.entries()) {
      assert.match(lines[i] as string, new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3} INFO: ${pattern.source}\\s*$`));
    }
    const shown = terminal.text.slice(terminal.text.indexOf(lines[0] as string)).split(/\r?\n/);
    assert.deepEqual(
      shown.filter((line) => / {4}\w+: /.test(line)),
      [],
      'no field has a line of its own',
    );
  },

  'has no control characters of an error': async () => {
    const module = join(import.meta.dirname, '../../bootstrap/log.js');
    const script = `
      process.stderr.isTTY = true;
      const { standardErrorLog } = await import(${JSON.stringify(module)});
      const text = 'a\\x1b[2Jb\\x9b31mc\\u202ed\\x7fe';
      (await standardErrorLog('info')).error({ err: new Error(text), note: text }, text);`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const harmless = 'a\ufffd[2Jb\ufffd31mc\ufffdd\ufffde';
    assert.equal(stderr.split(harmless).length - 1, 4, 'the message, that of the error, its stack and another field');
    const withoutColors = stderr.replaceAll(/\p{Cc}\[\d+m/gu, '');
    assert.doesNotMatch(withoutColors, /(?!\n)[\p{Cc}\u202e]/u);
  },
});

suite('a log that cannot be written', {
  'because its disk is full, costs lines and nothing else': async () => {
    if (!existsSync(FULL)) throw new Missing(`There is no ${FULL} here.`);
    const full = openSync(FULL, 'w');
    try {
      await assertServesAndEnds(await startProcess({}, full));
    } finally {
      closeSync(full);
    }
  },

  'because nobody reads it, costs lines and nothing else': async () => {
    const service = await startProcess();
    service.child.stderr?.pause();
    await assertServesAndEnds(service);
  },
});

async function assertServesAndEnds({ url, child, ended }: ServiceProcess): Promise<void> {
  try {
    const crowd = await Crowd.open(url, CONNECTIONS);
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await crowd.atOnce(bytesOf('GET', '/tags/none'));
      assert.ok(answers.every(({ status }) => status === 404));
    }
    crowd.close();
    const start = performance.now();
    child.kill('SIGTERM');
    child.once('exit', () => child.stderr?.resume());
    assert.equal(await ended(), 0);
    assert.ok(performance.now() - start < ENDS_WITHIN_MS);
  } finally {
    child.kill('SIGKILL');
  }
}
