import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../adapters/cli/command.ts';
import type { OpenedApplication } from '../adapters/cli/environment.ts';
import type { TerminalStream } from '../adapters/cli/terminal-stream.ts';
import { type EnvironmentVariables, readSettings } from './read-settings.ts';
import { StartupError } from './startup-error.ts';
import { listStoragesWith, storages } from './storages.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/**
 * The maximum time for which a command waits until the database is closed. Closing waits for pending changes, such as
 * those of an interrupted import.
 */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Opens the configured database for a command. Rejects with `StartupError` if the database exists only inside the
 * server, is unavailable, or is missing and must not be created.
 */
export async function openApplication(
  environment: EnvironmentVariables,
  stderr: TerminalStream,
  { name, createsDatabase }: Pick<Command, 'name' | 'createsDatabase'>,
): Promise<OpenedApplication> {
  const settings = readSettings(environment);
  const { isShared, locationSetting, backUpProgram, databaseExists } = storages[settings.STORAGE];
  if (!isShared || !databaseExists) {
    throw new StartupError([
      `STORAGE: must be ${listStoragesWith('isShared')} for this command. ` +
        `With STORAGE=${settings.STORAGE}, the records exist only inside the server.`,
    ]);
  }
  if (name === 'backup' && backUpProgram) {
    throw new StartupError([`backup: not supported with STORAGE=${settings.STORAGE}. Use ${backUpProgram}.`]);
  }
  // If the database is unavailable, opening it reports why.
  if (!createsDatabase && !(await databaseExists(settings).catch(() => true))) {
    throw new StartupError([
      `${locationSetting}: this database does not exist. Use the database of the server, or create one with \`advocacy workspace create\`.`,
    ]);
  }
  const [{ tokens, wireCore }, { createStorageTools }, { createNodeSystem }, { createMessageLog, createWriteLog }] =
    await Promise.all([
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
  const writeLog = createWriteLog(stderr, settings.LOG_LEVEL);
  return {
    app,
    storageTools,
    bodyLimit: settings.BODY_LIMIT_BYTES,
    newId: system.newId,
    logWrite: (command, written) => writeLog.info({ command, ...written }, 'command completed'),
    close,
  };
}
