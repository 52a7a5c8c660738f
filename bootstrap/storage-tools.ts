import type { Logger } from 'pino';
import type { StorageTools } from '../adapters/cli/storage-tools.ts';
import { describeFileError, UsageError } from '../adapters/cli/usage-error.ts';
import { copyAndCompare } from '../adapters/persistence/copy.ts';
import { deleteWorkspace } from '../adapters/persistence/delete-workspace.ts';
import { iterateGlobal } from '../adapters/persistence/iterate-by-id.ts';
import type { StorageEngine } from '../adapters/persistence/storage-engine.ts';
import type { System } from '../core/shared/system.ts';
import { removeFinalPeriod } from '../core/shared/text.ts';
import { type Settings, settings as settingSchemas } from './settings.ts';
import { StartupError } from './startup-error.ts';
import { type CreatedStorage, storages } from './storages.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/** Creates the tools for a storage that is open. */
export function createStorageTools(
  storage: CreatedStorage,
  settings: Settings,
  system: System,
  log: Logger,
): StorageTools {
  return {
    async backUp(file) {
      await storage.backUp?.(file).catch((error) => {
        throw new UsageError([`Cannot write ${file}: ${describeFileError(error)}.`]);
      });
    },

    async copy(url, isResumed, control) {
      const targetSettings = selectTarget(url, settings);
      const { locationSetting = '', create } = storages[targetSettings.STORAGE];
      const nameOption = (line: string) => line.replaceAll(locationSetting, '--to');
      const target = await create(targetSettings, system, { warn: (line: string) => log.warn(nameOption(line)) });
      try {
        await target.connection?.open().catch((error) => {
          throw error instanceof StartupError ? new UsageError(error.lines.map(nameOption)) : error;
        });
        await waitUntilReady(target.engine, '--to');
        await rejectForeignTarget(storage.engine, target.engine, isResumed);
        return await copyAndCompare(storage.engine, target.engine, control).catch(adviseToResume);
      } finally {
        await target.connection?.close();
      }
    },

    deleteWorkspace: (workspaceId, control) => deleteWorkspace(storage.engine, workspaceId, control),
  };
}

/** Returns settings that select the storage of a URL. */
function selectTarget(url: string, settings: Settings): Settings {
  for (const [name, { parseUrl, locationSetting }] of Object.entries(storages)) {
    const value = parseUrl?.(url);
    if (value === undefined || locationSetting === undefined) continue;
    const { success, data, error } = settingSchemas[locationSetting].safeParse(value);
    if (!success) throw new UsageError([`--to: ${error.issues[0]?.message}`]);
    return { ...settings, STORAGE: name as Settings['STORAGE'], [locationSetting]: data };
  }
  throw new UsageError(['--to: must be mongodb://…, mongodb+srv://… or sqlite:FILE']);
}

/**
 * Rejects a target that has a workspace. If a copy is resumed, rejects only a target with a workspace that the source
 * does not have.
 */
async function rejectForeignTarget(source: StorageEngine, target: StorageEngine, isResumed: boolean): Promise<void> {
  for await (const { id } of iterateGlobal(target.workspaces)) {
    if (!isResumed) {
      throw new UsageError([
        '--to: this database already has a workspace. Use an empty database, or continue an interrupted copy with --resume.',
      ]);
    }
    if (await source.workspaces.get(id)) continue;
    throw new UsageError([
      `--to: this database has a workspace that the source does not have: ${id}. Use an empty database.`,
    ]);
  }
}

/** Throws an error that interrupted a copy as a `UsageError`, which says how to continue. */
function adviseToResume(error: Error): never {
  throw new UsageError([
    `${removeFinalPeriod(error.message)}. To continue the copy, repeat the command with --resume.`,
  ]);
}
