import pino, { type Logger } from 'pino';
import { replaceControlCharactersInLines } from './terminal-text.ts';

/** Returns a logger for the command line. It writes the message of each warning and error as a line of text. */
export function createMessageLog(output: { write(text: string): unknown }): Logger {
  const write = (line: string) => output.write(`${replaceControlCharactersInLines(JSON.parse(line).msg)}\n`);
  return pino({ level: 'warn' }, { write });
}

/**
 * Returns a logger for what commands have written. Its lines are JSON, as those of the server. On a terminal, they are
 * short texts.
 */
export function createWriteLog(
  output: { readonly isTTY?: boolean; write(text: string): unknown },
  level: string,
): Logger {
  const toText = (line: string) => {
    const { command, recordId } = JSON.parse(line);
    return `INFO: ${command} ${recordId ?? ''}`.trimEnd();
  };
  return pino({ level }, { write: (line: string) => output.write(output.isTTY ? `${toText(line)}\n` : line) });
}
