import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;

/** Resolves as soon as it holds; whoever waits for what never comes is ended by the time of the test. */
export async function waitUntil(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await delay(LOOK_EVERY_MS);
}
