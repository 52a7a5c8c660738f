import pino, { type DestinationStream, type Logger } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import sonicBoom from 'sonic-boom';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { replaceControlCharactersInLines } from './terminal-text.ts';

const STANDARD_ERROR = 2;
const FLUSH_INTERVAL_MS = 500;
/** A batch of at least this size is written at once. */
const BATCH_BYTES = 8_192;
/** While this many bytes wait, new lines are dropped. So the memory is limited, and no request waits for its log. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const EXIT_TIMEOUT_MS = 500;

/**
 * Returns a logger for standard error. On a terminal, it writes short lines. Otherwise, it writes lines of JSON in
 * batches.
 */
export async function createStandardErrorLog(level: string): Promise<Logger> {
  if (!process.stderr.isTTY) return pino({ level }, createBatchingStream());
  const { default: pretty } = await import('pino-pretty');
  const terminal = pretty({ ...terminalOptions, destination: STANDARD_ERROR, sync: true });
  return pino({ level }, { write: (line: string) => terminal.write(replaceControlCharactersInLogLine(line)) });
}

/**
 * Creates a stream that writes lines to standard error in batches. If the disk is full, or nobody reads the pipe, lines
 * are lost and nothing else happens (docs/adr/0001-build-and-packages.md).
 */
function createBatchingStream(): DestinationStream {
  // Until the process exits, writes to a full pipe are retried.
  let deadline = Number.POSITIVE_INFINITY;
  const stream = new sonicBoom.SonicBoom({
    fd: STANDARD_ERROR,
    minLength: BATCH_BYTES,
    maxLength: MAX_WAITING_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    retryEAGAIN: () => performance.now() < deadline,
  });
  stream.on('error', doNothing);
  process.once('exit', () => {
    deadline = performance.now() + EXIT_TIMEOUT_MS;
    try {
      stream.flushSync();
    } catch {
      // Standard error fails, so the lines are lost.
    }
  });
  return stream;
}

/**
 * Replaces the control characters in the texts of a log line, except newlines, because they could change the terminal.
 */
function replaceControlCharactersInLogLine(line: string): string {
  const clean = (_key: string, value: unknown) =>
    typeof value === 'string' ? replaceControlCharactersInLines(value) : value;
  return `${JSON.stringify(JSON.parse(line, clean))}\n`;
}

/**
 * Options of pino-pretty, for lines such as `12:00:00.123 INFO: GET /campaigns 200 1.2 ms`. Only errors take several
 * lines.
 */
const terminalOptions: PrettyOptions = {
  singleLine: true,
  translateTime: 'HH:MM:ss.l',
  customPrettifiers: { time: String },
  ignore: 'pid,hostname,requestId,method,route,path,workspaceId,keyId,memberId,recordId,status,milliseconds',
  messageFormat: (line) => formatTerminalMessage(line).replace(/\p{Cc}/gu, ' '),
};

function formatTerminalMessage({
  msg,
  method,
  route,
  path,
  status,
  milliseconds,
  requestId,
}: Record<string, unknown>): string {
  if (requestId === undefined) return String(msg);
  const request = [method, path ?? route].filter((part) => part !== '' && part !== undefined).join(' ');
  return status === undefined ? `${request} ${msg}, request ${requestId}` : `${request} ${status} ${milliseconds} ms`;
}
