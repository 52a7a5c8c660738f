import type { ServerResponse } from 'node:http';

/** The time in which a client must read a response. */
const READ_TIMEOUT_MS = 60_000;

/**
 * Closes the connection of a response that was just written if the client does not read it in time. Does
 * nothing if the operating system has taken the whole response.
 */
export function limitReadingTime(response: ServerResponse): void {
  if (response.writableLength === 0) return;
  const timer = setTimeout(() => response.req.socket.destroy(), READ_TIMEOUT_MS).unref();
  response.once('close', () => clearTimeout(timer));
}
