import pino, { type Logger } from 'pino';

const FLUSH_EVERY_MS = 500;
const BATCH_BYTES = 8192;

/** Logs to standard error: readable on a terminal, JSON elsewhere, written in batches. */
export async function standardErrorLog(level: string): Promise<Logger> {
  if (!process.stderr.isTTY) {
    return pino(
      { level },
      pino.destination({ dest: 2, sync: false, minLength: BATCH_BYTES, periodicFlush: FLUSH_EVERY_MS }),
    );
  }
  const { default: pretty } = await import('pino-pretty');
  return pino({ level }, pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' }));
}
