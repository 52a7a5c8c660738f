import pino, { type Logger } from 'pino';
import { replaceControlCharactersInLines } from './terminal-text.ts';

/** Returns a logger for the command line. It writes the message of each warning and error as a line of text. */
export function createMessageLog(output: { write(text: string): unknown }): Logger {
  const write = (line: string) => output.write(`${replaceControlCharactersInLines(JSON.parse(line).msg)}\n`);
  return pino({ level: 'warn' }, { write });
}

/** Returns a logger for what commands have written. Its lines are JSON, as those of the server. */
export function createWriteLog(output: { write(text: string): unknown }, level: string): Logger {
  return pino({ level }, { write: (line: string) => output.write(line) });
}
