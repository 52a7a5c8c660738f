#!/usr/bin/env node
import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../adapters/api/version.ts';
import { type Opened, runCommandLine } from '../adapters/cli/run.ts';
import { printable } from '../adapters/cli/terminal-text.ts';
import { UsageError } from '../adapters/cli/usage-error.ts';
import type { Application } from '../core/application.ts';
import { relaySignalsOfNpx } from './npx.ts';
import { findMisspelledSettings, getSettingWarnings, readSettings, type Settings, SettingsError } from './settings.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 50;

const { stdin, stdout, stderr, env } = process;
let serving = false;
relaySignalsOfNpx(env);

const exitCode = await runCommandLine(process.argv.slice(2), {
  version,
  stdin,
  stdout,
  stderr,
  env,
  open: () => withSettings(open),
  serve: () =>
    withSettings(async (settings) => {
      const { runServer: serve } = await import('./run-server.ts');
      await serve(settings, getSettingWarnings(env));
      serving = true;
    }),
  onInterrupt(stop) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  },
});
if (!serving) stderr.write('', () => process.exit(exitCode));

/** Opens the database of the settings. */
async function open(settings: Settings): Promise<Opened> {
  for (const line of findMisspelledSettings(env)) stderr.write(`warning: ${line}\n`);
  if (settings.STORAGE === 'memory') {
    throw new UsageError([
      'With STORAGE=memory there is nothing to act on: the records live in the server and end with it.',
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
    { write: (line: string) => stderr.write(`${printable(JSON.parse(line).msg)}\n`) },
  );
  const system = createNodeSystem();
  const container = await wireCore(settings, system, log);
  const connection = container.get(tokens.connection);
  const app = container.get(tokens.app);
  try {
    await connection.open();
    await ready(app);
  } catch (error) {
    await connection.close();
    throw error;
  }
  const { now, newId } = system;
  return { app, bodyLimit: settings.BODY_LIMIT_BYTES, now, newId, close: () => connection.close() };
}

/** Waits a while for a database that is starting, or whose indexes are being made. */
async function ready(app: Application): Promise<void> {
  for (const end = performance.now() + CONNECT_TIMEOUT_MS; ; ) {
    const problem = await app.checkReady().then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (problem === undefined) return;
    if (performance.now() > end) {
      const isExplained = problem.includes(':');
      throw new UsageError([isExplained ? problem : `${problem}: see that it runs, and that MONGODB_URI leads there.`]);
    }
    await delay(POLL_INTERVAL_MS);
  }
}

async function withSettings<T>(work: (settings: Settings) => Promise<T>): Promise<T> {
  try {
    return await work(readSettings(env));
  } catch (error) {
    throw error instanceof SettingsError ? new UsageError(error.lines) : error;
  }
}
