import { resolve } from 'node:path';
import type { Logger } from 'pino';
import type { StorageTools } from '../adapters/cli/storage-tools.ts';
import { UsageError } from '../adapters/cli/usage-error.ts';
import { copyAndCompare } from '../adapters/persistence/copy.ts';
import { iterateGlobal } from '../adapters/persistence/iterate-by-id.ts';
import type { StorageEngine } from '../adapters/persistence/storage-engine.ts';
import type { System } from '../core/shared/system.ts';
import { removeFinalPeriod } from '../core/shared/text.ts';
import { type CreatedStorage, storages } from './adapters.ts';
import { type Settings, settings as settingSchemas } from './settings.ts';
import { waitUntilReady } from './wait-until-ready.ts';

/** Creates the tools for a storage that is open. */
export function createStorageTools(
  storage: CreatedStorage,
  settings: Settings,
  system: System,
  log: Logger,
): StorageTools {
  const { backUpProgram, locationSetting } = storages[settings.STORAGE];
  /**
   * Rejects if the database has no workspace. The setting that locates it is then probably wrong, and opening the storage may have
   * created the database.
   */
  const rejectEmptyDatabase = async () => {
    if ((await storage.engine.workspaces.list('', 1)).length > 0) return;
    throw new UsageError([
      `${locationSetting}: this database has no workspace. Check that this is the database of the server.`,
    ]);
  };
  return {
    async backUp(file) {
      if (!storage.backUp) {
        const advice = backUpProgram === undefined ? '' : ` Use ${backUpProgram}.`;
        throw new UsageError([`backup: not supported with STORAGE=${settings.STORAGE}.${advice}`]);
      }
      await rejectEmptyDatabase();
      await storage.backUp(file).catch((error: NodeJS.ErrnoException) => {
        throw new UsageError([`Cannot write ${file}: ${FILE_PROBLEMS[error.code ?? ''] ?? error.message}.`]);
      });
    },

    async copy(url, options) {
      const targetSettings = selectTarget(url, settings);
      await rejectEmptyDatabase();
      const target = await storages[targetSettings.STORAGE].create(targetSettings, system, log);
      try {
        await target.connection?.open().catch(nameOptionInErrors);
        await waitUntilReady(target.engine, '--to');
        await rejectForeignTarget(storage.engine, target.engine, options.isResumed);
        return await copyAndCompare(storage.engine, target.engine, options).catch(adviseToResume);
      } finally {
        await target.connection?.close();
      }
    },
  };
}

/** Throws the error of the target's connection again. In a `UsageError`, each line names the option `--to` instead of the setting. */
function nameOptionInErrors(error: unknown): never {
  throw error instanceof UsageError ? new UsageError(error.lines.map((line) => line.replace(/^\w+/, '--to'))) : error;
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  EEXIST: 'the file already exists',
  ENOENT: 'the folder does not exist',
  EACCES: 'permission denied',
};

/** Returns settings that select the storage of a URL. */
function selectTarget(url: string, settings: Settings): Settings {
  for (const [name, { parseUrl, locationSetting }] of Object.entries(storages)) {
    const value = parseUrl?.(url);
    if (value === undefined || locationSetting === undefined) continue;
    const { success, data, error } = settingSchemas[locationSetting].safeParse(value);
    if (!success) throw new UsageError([`--to: ${error.issues[0]?.message}`]);
    const target: Settings = { ...settings, STORAGE: name as Settings['STORAGE'], [locationSetting]: data };
    // For files, `resolve` makes relative and absolute paths equal. To URLs, it only prepends the current folder.
    const isSource = name === settings.STORAGE && resolve(String(data)) === resolve(String(settings[locationSetting]));
    if (isSource) throw new UsageError([`--to: must not be the database of ${locationSetting}, which is the source`]);
    return target;
  }
  throw new UsageError(['--to: must be mongodb://…, mongodb+srv://… or sqlite:FILE']);
}

/** Rejects a target that has a workspace. If a copy is resumed, rejects only a target with a workspace that the source does not have. */
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
