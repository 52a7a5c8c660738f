#!/usr/bin/env node
import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../adapters/api/version.ts';
import { type OpenApplication, runCommandLine } from '../adapters/cli/run-command-line.ts';
import { replaceControlCharactersInLines } from '../adapters/cli/terminal-text.ts';
import { UsageError } from '../adapters/cli/usage-error.ts';
import type { Application } from '../core/application.ts';
import { relaySignalsOfNpx } from './npx.ts';
import { findShortMisspellings, getSettingWarnings, readSettings, type Settings, SettingsError } from './settings.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

const { stdin, stdout, stderr, env } = process;
let isServing = false;
relaySignalsOfNpx(env);

const exitCode = await runCommandLine(process.argv.slice(2), {
  version,
  stdin,
  stdout,
  stderr,
  env,
  openApplication: () => withSettings(openApplication),
  serve: () =>
    withSettings(async (settings) => {
      const { runServer: serve } = await import('./run-server.ts');
      await serve(settings, getSettingWarnings(env));
      isServing = true;
    }),
  onInterrupt(stop) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  },
});
if (!isServing) stderr.write('', () => process.exit(exitCode));

/** Opens the configured database. Rejects with `UsageError` if the storage is `memory`, or if the database is unavailable. */
async function openApplication(settings: Settings): Promise<OpenApplication> {
  for (const line of findShortMisspellings(env)) stderr.write(`warning: ${line}\n`);
  if (settings.STORAGE === 'memory') {
    throw new UsageError([
      'STORAGE: must be mongodb for this command. With STORAGE=memory, the records exist only inside the server.',
      'Set STORAGE=mongodb, and MONGODB_URI to the database of the server.',
    ]);
  }
  const [{ tokens, wireCore }, { createNodeSystem }, { default: pino }] = await Promise.all([
    import('./container.ts'),
    import('./system.ts'),
    import('pino'),
  ]);
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => stderr.write(`${replaceControlCharactersInLines(JSON.parse(line).msg)}\n`) },
  );
  const system = createNodeSystem();
  const container = await wireCore(settings, system, log);
  const connection = container.get(tokens.connection);
  const app = container.get(tokens.app);
  try {
    await connection.open();
    await waitUntilReady(app);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const { now, newId } = system;
  return { app, bodyLimit: settings.BODY_LIMIT_BYTES, now, newId, close: () => connection.close() };
}

/** Waits up to `CONNECT_TIMEOUT_MS`, because the database may still be starting or creating indexes. */
async function waitUntilReady(app: Application): Promise<void> {
  for (const deadline = performance.now() + CONNECT_TIMEOUT_MS; ; ) {
    const problem = await app.checkReady().then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (problem === undefined) return;
    if (performance.now() > deadline) {
      const isExplained = problem.includes(':');
      throw new UsageError([
        isExplained ? problem : `${problem}. Check that it is running and that MONGODB_URI is correct.`,
      ]);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

/** Runs `work` with the settings of the environment. Rejects with `UsageError` if they are invalid. */
async function withSettings<T>(work: (settings: Settings) => Promise<T>): Promise<T> {
  try {
    return await work(readSettings(env));
  } catch (error) {
    throw error instanceof SettingsError ? new UsageError(error.lines) : error;
  }
}
