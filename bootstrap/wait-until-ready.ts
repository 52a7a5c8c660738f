import { setTimeout as delay } from 'node:timers/promises';
import { StartupError } from './startup-error.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

/**
 * Waits up to `CONNECT_TIMEOUT_MS` for the database, which may still be starting or creating indexes. Then rejects with
 * `StartupError` if the database is unavailable. `settingOrOption` is the name of the setting or option that locates
 * the database.
 */
export async function waitUntilReady(
  storage: { checkReady(): Promise<void> },
  settingOrOption: string | undefined,
): Promise<void> {
  for (const deadline = performance.now() + CONNECT_TIMEOUT_MS; ; await delay(POLL_INTERVAL_MS)) {
    const problem = await storage.checkReady().then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (problem === undefined) return;
    if (performance.now() <= deadline) continue;
    // Some messages already contain the reason after a colon, such as "MongoDB cannot be used: …".
    const isExplained = problem.includes(':');
    throw new StartupError([
      isExplained ? problem : `${problem}. Check that it is running and that ${settingOrOption} is correct.`,
    ]);
  }
}
