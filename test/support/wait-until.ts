import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 20;

/** Resolves when the condition is true. If the condition never becomes true, the timeout of the test ends the wait. */
export async function waitUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await delay(POLL_INTERVAL_MS);
}
