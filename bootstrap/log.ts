import { write, writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';
import type { PrettyOptions } from 'pino-pretty';
import { version } from '../adapters/api/version.ts';
import { replaceControlCharactersInLines } from '../adapters/cli/terminal-text.ts';
import type { Settings } from './settings.ts';

const STANDARD_ERROR = 2;
const FLUSH_INTERVAL_MS = 500;
/** A buffer of at least this length, in UTF-16 units, is written immediately. */
const BATCH_LENGTH = 8_192;
/**
 * The maximum length of the buffer, in UTF-16 units. While the buffer is longer, new lines are dropped, so that no request waits
 * for its log.
 */
const MAX_BUFFERED_LENGTH = 8 * 1024 * 1024;
const RETRY_DELAY_MS = 100;
const EXIT_TIMEOUT_MS = 500;

/** Returns a logger for standard error. On a terminal, it writes short lines. Otherwise, it writes lines of JSON in batches. */
export async function createStandardErrorLog(level: string): Promise<Logger> {
  if (!process.stderr.isTTY) return pino({ level }, new BufferedLogStream(STANDARD_ERROR));
  const { default: pretty } = await import('pino-pretty');
  const terminal = pretty({ ...terminalOptions, destination: STANDARD_ERROR, sync: true });
  return pino({ level }, { write: (line: string) => terminal.write(removeControlCharacters(line)) });
}

/** Returns a line of the log without control characters, which could change the terminal. */
function removeControlCharacters(line: string): string {
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

/** Returns the fields of the log line `server listening`. */
export function getListeningFields(
  { STORAGE, RATE_LIMITER, WORKERS }: Settings,
  { url, metricsUrl }: { readonly url: string; readonly metricsUrl: string | undefined },
): object {
  return { url, metricsUrl, version, storage: STORAGE, rateLimiter: RATE_LIMITER, workers: WORKERS };
}

/**
 * Collects lines and writes them to a file descriptor in batches. If the disk is full, or nobody reads the pipe, lines are
 * lost and nothing else happens (docs/adr/0012-logs-in-batches.md).
 */
class BufferedLogStream {
  private buffer = '';
  private isWriting = false;

  constructor(private readonly fd: number) {
    setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
    process.once('exit', () => this.writeRemaining());
  }

  write(line: string): void {
    if (this.buffer.length >= MAX_BUFFERED_LENGTH) return;
    this.buffer += line;
    if (this.buffer.length >= BATCH_LENGTH) this.flush();
  }

  private flush(): void {
    if (this.isWriting || this.buffer === '') return;
    this.isWriting = true;
    const batch = Buffer.from(this.buffer);
    this.buffer = '';
    this.writeBatch(batch);
  }

  private writeBatch(batch: Buffer): void {
    write(this.fd, batch, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.writeBatch(batch), RETRY_DELAY_MS).unref();
      } else if (!error && written < batch.length) {
        this.writeBatch(batch.subarray(written));
      } else {
        this.isWriting = false;
        if (this.buffer.length >= BATCH_LENGTH) this.flush();
      }
    });
  }

  private writeRemaining(): void {
    const deadline = performance.now() + EXIT_TIMEOUT_MS;
    let rest = Buffer.from(this.buffer);
    while (rest.length > 0 && performance.now() < deadline) {
      try {
        rest = rest.subarray(writeSync(this.fd, rest));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      }
    }
  }
}
