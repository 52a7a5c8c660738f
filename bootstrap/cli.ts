#!/usr/bin/env node
import { setTimeout as delay } from 'node:timers/promises';
import { version } from '../adapters/api/version.ts';
import { type OpenedApplication, runCommandLine } from '../adapters/cli/run-command-line.ts';
import { UsageError } from '../adapters/cli/usage-error.ts';
import { listNamesWith, storages } from './adapters.ts';
import { readSettings } from './read-settings.ts';
import { findShortMisspellings } from './setting-names.ts';
import type { Settings } from './settings.ts';
import { CLOSE_TIMEOUT_MS } from './shutdown.ts';
import { waitUntilReady } from './wait-until-ready.ts';

const { stdin, stdout, stderr, env } = process;
let isServing = false;

const exitCode = await runCommandLine(process.argv.slice(2), {
  version,
  stdin,
  stdout,
  stderr,
  env,
  openApplication,
  async serve() {
    const { runServer } = await import('./run-server.ts');
    await runServer(env);
    isServing = true;
  },
  onInterrupt(stop) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  },
});
if (!isServing) stderr.write('', () => process.exit(exitCode));

/** Opens the configured database. Rejects with `UsageError` if it exists only inside the server, or is unavailable. */
async function openApplication(): Promise<OpenedApplication> {
  const settings = readSettings(env);
  for (const line of findShortMisspellings(env)) stderr.write(`warning: ${line}\n`);
  const { isShared, locationSetting } = storages[settings.STORAGE];
  if (!isShared) throw createNotSharedError(settings);
  const [{ tokens, wireCore }, { createStorageTools }, { createNodeSystem }, { createMessageLog }] = await Promise.all([
    import('./container.ts'),
    import('./storage-tools.ts'),
    import('../adapters/node/system.ts'),
    import('../adapters/logging/message-log.ts'),
  ]);
  const system = createNodeSystem();
  const log = createMessageLog(stderr);
  const container = await wireCore(settings, system, log);
  const app = container.get(tokens.app);
  const connections = container.getAll(tokens.connection, { optional: true });
  const close = async () => {
    const closed = Promise.all(connections.map((connection) => connection.close()));
    await Promise.race([closed, delay(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
  };
  try {
    await Promise.all(connections.map((connection) => connection.open()));
    await waitUntilReady(app, locationSetting);
  } catch (error) {
    await close();
    throw error;
  }
  const storageTools = createStorageTools(container.get(tokens.storage), settings, system, log);
  return { app, storageTools, bodyLimit: settings.BODY_LIMIT_BYTES, now: system.now, newId: system.newId, close };
}

function createNotSharedError({ STORAGE }: Settings): UsageError {
  const shared = Object.entries(storages).filter(([, { isShared }]) => isShared);
  return new UsageError([
    `STORAGE: must be ${listNamesWith(storages, 'isShared')} for this command. ` +
      `With STORAGE=${STORAGE}, the records exist only inside the server.`,
    ...shared.map(
      ([name, { locationSetting }]) => `Set STORAGE=${name}, and ${locationSetting} to the database of the server.`,
    ),
  ]);
}
