import pino, { type Logger } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { BufferedLogStream } from './buffered-log-stream.ts';
import { replaceControlCharactersInLines } from './terminal-text.ts';

const STANDARD_ERROR = 2;

/** Returns a logger for standard error. On a terminal, it writes short lines. Otherwise, it writes lines of JSON in batches. */
export async function createStandardErrorLog(level: string): Promise<Logger> {
  if (!process.stderr.isTTY) return pino({ level }, new BufferedLogStream(STANDARD_ERROR));
  const { default: pretty } = await import('pino-pretty');
  const terminal = pretty({ ...terminalOptions, destination: STANDARD_ERROR, sync: true });
  return pino({ level }, { write: (line: string) => terminal.write(replaceControlCharactersInLogLine(line)) });
}

/** Replaces the control characters in the texts of a log line, except newlines, because they could change the terminal. */
function replaceControlCharactersInLogLine(line: string): string {
  const clean = (_key: string, value: unknown) =>
    typeof value === 'string' ? replaceControlCharactersInLines(value) : value;
  return `${JSON.stringify(JSON.parse(line, clean))}\n`;
}

/** Options of pino-pretty, for lines such as `12:00:00.123 INFO: GET /campaigns 200 1.2 ms`. Only errors take several lines. */
const terminalOptions: PrettyOptions = {
  singleLine: true,
  translateTime: 'HH:MM:ss.l',
  customPrettifiers: { time: String },
  ignore: 'pid,hostname,requestId,method,traceparent,route,path,workspaceId,keyId,status,milliseconds',
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
