import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConcurrentClients, requestBytes } from '../support/concurrent-clients.ts';
import { MissingDependencyError } from '../support/missing-dependency-error.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { CONTROL_C, PseudoTerminal } from './pseudo-terminal.ts';

const LOG_MODULE = join(import.meta.dirname, '../../adapters/logging/standard-error-log.js');
const MAIN_PATH = join(import.meta.dirname, '../../bootstrap/main.js');

/** A device of Linux. Every write to it fails, as on a full disk. */
const FULL_DEVICE = '/dev/full';
const CONNECTION_COUNT = 20;
/** The number of rounds of requests. The log of all rounds is many times larger than the buffer of a pipe. */
const ROUND_COUNT = 200;
const SHUTDOWN_TIMEOUT_MS = 5_000;

suite('a log on a terminal', {
  'has one line for each request and for the shutdown, after a message for people': async () => {
    const terminal = await PseudoTerminal.open(`exec ${process.execPath} ${MAIN_PATH}`, {
      STORAGE: 'memory',
      PORT: '0',
      NO_COLOR: '1',
    });
    const url = await terminal.waitForText(/^Workspace Advocacy listens on (http:\S+)\s/);
    await fetch(`${url}/healthz`);
    await fetch(`${url}/nothing?of=this`);
    await fetch(`${url}/campaigns/none`);
    // Ctrl-C discards output that the terminal has not shown yet, so wait for the output.
    await terminal.waitForText(/(campaigns\/\{id\} 401)/);
    const interruptedAt = performance.now();
    terminal.type(CONTROL_C);
    await terminal.exited;
    assert.ok(performance.now() - interruptedAt < SHUTDOWN_TIMEOUT_MS);
    const lines = terminal.text
      .replace('^C', '')
      .split(/\r?\n/)
      .filter((line) => /^\d\d:/.test(line));
    const patterns = [
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
    const shownLines = terminal.text.slice(terminal.text.indexOf(lines[0] as string)).split(/\r?\n/);
    assert.deepEqual(
      shownLines.filter((line) => / {4}\w+: /.test(line)),
      [],
      'no field has a line of its own',
    );
  },

  'contains no control characters from the text of an error': async () => {
    const script = `
      process.stderr.isTTY = true;
      const { createStandardErrorLog } = await import(${JSON.stringify(LOG_MODULE)});
      const text = 'a\\x1b[2Jb\\x9b31mc\\u202ed\\x7fe';
      (await createStandardErrorLog('info')).error({ err: new Error(text), note: text }, text);`;
    const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const cleaned = 'a\ufffd[2Jb\ufffd31mc\ufffdd\ufffde';
    assert.equal(
      stderr.split(cleaned).length - 1,
      4,
      'the text is in the message, in the message and the stack of the error, and in the field `note`',
    );
    const withoutColors = stderr.replaceAll(/\p{Cc}\[\d+m/gu, '');
    assert.doesNotMatch(withoutColors, /(?!\n)[\p{Cc}\u202e]/u);
  },
});

suite('a log that is not on a terminal', {
  'contains the last lines before a crash': async () => {
    const script = `
      const { createStandardErrorLog } = await import(${JSON.stringify(LOG_MODULE)});
      const log = await createStandardErrorLog('info');
      log.info('first line');
      log.error('last line');
      throw new Error('crash');`;
    const failing = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    const { stderr } = await failing.catch((error) => error);
    const lines: string[] = stderr.split('\n').filter((line: string) => line.startsWith('{'));
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['first line', 'last line'],
    );
    assert.match(stderr, /^Error: crash$/m);
  },
});

suite('a log that cannot be written', {
  'because the disk is full, loses lines and has no other effect': async () => {
    if (!existsSync(FULL_DEVICE)) throw new MissingDependencyError(`There is no ${FULL_DEVICE} here.`);
    const full = openSync(FULL_DEVICE, 'w');
    try {
      await assertServesAndStops(await startProcess({}, full));
    } finally {
      closeSync(full);
    }
  },

  'because its reader has exited, loses lines and has no other effect': async () => {
    const service = await startProcess();
    service.child.stderr?.destroy();
    await assertServesAndStops(service);
  },

  'because nobody reads it, loses lines and has no other effect': async () => {
    const service = await startProcess();
    service.child.stderr?.pause();
    await assertServesAndStops(service);
  },
});

async function assertServesAndStops({ url, child, waitForExit }: ServiceProcess): Promise<void> {
  try {
    const clients = await ConcurrentClients.open(url, CONNECTION_COUNT);
    for (let round = 0; round < ROUND_COUNT; round++) {
      const responses = await clients.sendOnAll(requestBytes('GET', '/nothing'));
      assert.ok(responses.every(({ status }) => status === 404));
    }
    clients.close();
    const stoppedAt = performance.now();
    child.kill('SIGTERM');
    child.once('exit', () => child.stderr?.resume());
    assert.equal(await waitForExit(), 0);
    assert.ok(performance.now() - stoppedAt < SHUTDOWN_TIMEOUT_MS);
  } finally {
    child.kill('SIGKILL');
  }
}
