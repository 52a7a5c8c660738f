import { write, writeSync } from 'node:fs';

const FLUSH_INTERVAL_MS = 500;
/** A buffer of at least this length, in UTF-16 units, is written as soon as no other batch is being written. */
const FLUSH_LENGTH = 65_536;
/**
 * While the buffer has at least this length, in UTF-16 units, new lines are dropped. So the memory is limited, and no request waits for
 * its log.
 */
const MAX_BUFFERED_LENGTH = 8 * 1024 * 1024;
const RETRY_DELAY_MS = 100;
const EXIT_TIMEOUT_MS = 500;

/**
 * Collects lines and writes them to a file descriptor in batches. If the disk is full, or nobody reads the pipe, lines are
 * lost and nothing else happens (docs/adr/0012-logs-in-batches.md).
 */
export class BufferedLogStream {
  private buffer = '';
  private isWriting = false;

  constructor(private readonly fd: number) {
    setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
    process.once('exit', () => this.writeRemaining());
  }

  write(line: string): void {
    if (this.buffer.length >= MAX_BUFFERED_LENGTH) return;
    this.buffer += line;
    if (this.buffer.length >= FLUSH_LENGTH) this.flush();
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
        if (this.buffer.length >= FLUSH_LENGTH) this.flush();
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
