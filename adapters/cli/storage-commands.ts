import { z } from 'zod';
import { type Command, defineCommand, INTERRUPTED_EXIT_CODE } from './command.ts';
import { formatCount } from './format-count.ts';

const backUpCommand = defineCommand({
  name: 'backup',
  summary: 'Write a consistent copy of the SQLite database to a new file',
  details: [
    'The server can run during the backup.',
    'To restore a backup, start the server with a copy of it as SQLITE_FILE.',
    'API keys that were revoked after the backup work again.',
  ],
  example: ['advocacy-2026-01-31.db'],
  arguments: ['file'],
  fields: z.strictObject({ file: z.string().min(1, 'must not be empty').describe('The path of the new file.') }),
  run: async ({ storageTools }, { file }) => {
    await storageTools.backUp(file);
    return { json: { file }, message: `The backup was written to ${file}.` };
  },
});

const copyCommand = defineCommand({
  name: 'copy',
  summary: 'Copy all records to another database',
  details: [
    'Moves from SQLite to MongoDB or back: the source is the configured storage, and the target must be empty.',
    'Stop the servers first: a record that changes during the copy may be outdated or missing in the target.',
    'If the copy is interrupted, repeat the command with --resume.',
  ],
  example: ['--to mongodb://127.0.0.1:27017/advocacy'],
  fields: z.strictObject({
    to: z.string().describe('The target database: mongodb://…, mongodb+srv://… or sqlite:FILE.'),
    resume: z.boolean().default(false).describe('Continue an interrupted copy.'),
  }),
  handlesInterrupt: true,
  run: async ({ storageTools, signal, progress }, { to, resume }) => {
    const control = { signal, onProgress: progress.showRecords.bind(progress) };
    const { isComplete, ...result } = await storageTools.copy(to, resume, control);
    const { processedCount, differentCount, counts } = result;
    const json = { ended: isComplete ? 'done' : 'stopped', ...result };
    if (!isComplete) {
      const message = `Stopped after ${formatCount(processedCount, 'record')}. To continue, repeat the command with --resume.`;
      return { json, message, exitCode: INTERRUPTED_EXIT_CODE };
    }
    const total = counts.reduce((sum, { target }) => sum + target, 0);
    const message = `The target has ${formatCount(total, 'record')}.`;
    const unequal = counts.filter(({ source, target }) => source !== target);
    const differences = unequal.map(({ records, source, target }) => `${target} instead of ${source} ${records}`);
    const warning = `In the target, ${formatCount(differentCount, 'record')} ${differentCount === 1 ? 'is' : 'are'} missing or different. The copy does not change records that the target already has. If the source is right, copy to another empty database.`;
    const error = `The target has ${differences.join(', ')}. A server has probably changed records during the copy. Stop all servers, and copy to another empty database.`;
    const problems = { ...(differentCount > 0 && { warning }), ...(unequal.length > 0 && { error, exitCode: 1 }) };
    return { json, message, ...problems };
  },
});

/** The commands that act on the storage as a whole. */
export const storageCommands: readonly Command[] = [backUpCommand, copyCommand];
