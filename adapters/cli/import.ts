import { once } from 'node:events';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { validate, version } from 'uuid';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import type { NewCampaignFields } from '../../core/campaign/campaign.ts';
import type { NewGroupFields } from '../../core/group/group.ts';
import type { NewInspirationQuestionFields } from '../../core/inspiration-question/inspiration-question.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import type { Tag } from '../../core/tag/tag.ts';
import { createCampaign } from '../api/campaign.ts';
import { positiveInteger } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createInspirationQuestion } from '../api/inspiration-question.ts';
import { describeTooLongBody, MalformedBody, readJson } from '../api/json-body.ts';
import type { Operation } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import { createTag } from '../api/tag.ts';
import { replaceControlCharacters } from '../logging/terminal-text.ts';
import {
  type CommandContext,
  defineCommand,
  defineParameter,
  INTERRUPTED_EXIT_CODE,
  idSchema,
  type ReportResult,
  workspaceOption,
} from './command.ts';
import { deriveLineId, type ImportIdentity } from './line-id.ts';
import { type Line, readLines } from './lines.ts';
import { UsageError } from './usage-error.ts';

/** A batch ends with the line that reaches one of these two limits. */
const MAX_BATCH_LINE_COUNT = 500;
const BATCH_THRESHOLD_BYTES = 4 * 2 ** 20;
/** Space, tab and carriage return. A line of only these characters is skipped if it has at most `MAX_BLANK_LINE_BYTES`. */
const BLANK_CHARACTERS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
const MAX_BLANK_LINE_BYTES = 999;
/** The maximum time that an interrupted import waits for the batch in flight. */
const STOP_TIMEOUT_MS = 3_000;

/** A kind of records that can be imported. */
interface ImportKind {
  /** The operation of the API that creates one record. Each line is a body of this operation. */
  readonly operation: Operation;
  /** Creates records with the given IDs. If `ids` is `undefined`, only checks the bodies: `buildMany` stores nothing. */
  createOrCheckMany(
    app: Application,
    workspaceId: string,
    bodies: readonly unknown[],
    ids: readonly string[] | undefined,
  ): Promise<readonly BatchResult<object>[]>;
}

const importKinds: Readonly<Record<'campaigns' | 'questions' | 'tags' | 'groups', ImportKind>> = {
  campaigns: {
    operation: createCampaign,
    createOrCheckMany: ({ campaigns }, workspaceId, bodies: readonly NewCampaignFields[], ids) =>
      ids ? campaigns.createMany({ workspaceId }, bodies, ids) : campaigns.buildMany({ workspaceId }, bodies),
  },
  questions: {
    operation: createInspirationQuestion,
    createOrCheckMany: ({ inspirationQuestions }, workspaceId, bodies: readonly NewInspirationQuestionFields[], ids) =>
      ids
        ? inspirationQuestions.createMany(workspaceId, bodies, ids)
        : inspirationQuestions.buildMany(workspaceId, bodies),
  },
  tags: {
    operation: createTag,
    createOrCheckMany: ({ tags }, workspaceId, bodies: readonly Tag[], ids) => {
      const names = bodies.map(({ name }) => name);
      return ids ? tags.createMany(workspaceId, names, ids) : tags.buildMany(workspaceId, names);
    },
  },
  groups: {
    operation: createGroup,
    createOrCheckMany: ({ groups }, workspaceId, bodies: readonly NewGroupFields[], ids) =>
      ids ? groups.createMany(workspaceId, bodies, ids) : groups.buildMany(workspaceId, bodies),
  },
};
const IMPORT_KIND_NAMES = Object.keys(importKinds) as [keyof typeof importKinds];

const importIdSchema = idSchema.refine(
  (id) => validate(id) && version(id) === 7,
  'must be the import ID that this command printed',
);

export const importCommand = defineCommand({
  name: 'import',
  summary: 'create records from an NDJSON file',
  details:
    'Each line is the JSON body of the POST request that creates one record. Valid lines are stored in the order of the ' +
    'file. Rejected lines are printed with their number and the reason. At the end, the command prints the number of the ' +
    'line to continue from. If the database did not confirm some lines, the command also prints an --import-id, which ' +
    'prevents storing these lines twice. Imported campaigns have no creator. A dry run detects a duplicate name only if ' +
    'the name is already stored, or if both lines are in the same batch of up to 500 lines.',
  example: 'import --workspace 0190… campaigns campaigns.ndjson',
  handlesInterrupt: true,
  parameters: {
    kind: defineParameter('<kind>', 'kind of the records', z.enum(IMPORT_KIND_NAMES)),
    file: defineParameter('<file>', 'path of the file, or - for standard input', z.string()),
    workspaceId: workspaceOption,
    fromLine: defineParameter(
      '--from-line <number>',
      'number of the first line to import',
      positiveInteger().default(1),
    ),
    importId: defineParameter(
      '--import-id <id>',
      'ID that an interrupted or failed import printed',
      importIdSchema.optional(),
    ),
    dryRun: defineParameter('--dry-run', 'report rejected lines without storing any line', z.boolean().default(false)),
  },
  run: async (context, { kind, file, workspaceId, fromLine, importId = context.newId(), dryRun }) => {
    const { stream, size } = file === '-' ? { stream: context.stdin, size: undefined } : await openFile(file);
    context.signal.addEventListener('abort', () => stream.destroy());
    const source = { kind, workspaceId, importId, fromLine, dryRun, stream, size };
    // The property of the JSON output that has the rejected lines.
    return { itemsName: 'refused', items: runImport(context, source) };
  },
});

/** The lines to import, and how to import them. */
interface Source extends ImportIdentity {
  readonly kind: keyof typeof importKinds;
  readonly fromLine: number;
  readonly dryRun: boolean;
  readonly stream: Readable;
  /** The size of the file in bytes. `undefined` if it is unknown, as for a pipe. */
  readonly size: number | undefined;
}

/** A line with its body, or with the reason why it is rejected. */
type ParsedLine = { readonly number: number } & (
  | { readonly body: unknown; readonly id: string }
  | { readonly reason: string }
);

/** Lines that are processed together. The valid ones are stored, or only checked in a dry run. */
interface Batch {
  readonly lines: readonly ParsedLine[];
  /** The number of the last line that was read, including skipped lines. */
  readonly lastLine: number;
  /** The offset after the last line, in bytes from the start of the file. */
  readonly endOffset: number;
}

/** The result of an import, as JSON. */
interface ImportResult {
  readonly kind: string;
  readonly dryRun: boolean;
  readonly accepted: number;
  readonly nextLine: number;
  readonly ended: 'done' | 'stopped' | 'failed';
  /** The lines that may have been stored or not: the valid lines of the batch that was being stored when the import ended. */
  readonly uncertain: { readonly firstLine: number; readonly lastLine: number } | null;
  readonly importId: string;
}

/** Imports the lines. Yields each rejected line, and returns the result. */
async function* runImport(context: CommandContext, source: Source): ReportResult['items'] {
  const { signal, progress } = context;
  const { kind, dryRun, importId } = source;
  let accepted = 0;
  let rejectedCount = 0;
  let nextLine = source.fromLine;
  let pendingBatch: Batch | undefined;
  let error: string | undefined;
  try {
    for await (const batch of readAhead(readBatches(source, context.bodyLimit))) {
      pendingBatch = batch;
      const rejections = await withStopTimeout(signal, storeOrCheckBatch(context, source, batch));
      pendingBatch = undefined;
      nextLine = batch.lastLine + 1;
      accepted += batch.lines.length - rejections.length;
      rejectedCount += rejections.length;
      if (rejections.length > 0) progress.clear();
      for (const { number, reason } of rejections) {
        yield { json: { line: number, reason }, message: `line ${number}: ${replaceControlCharacters(reason)}` };
      }
      progress.show(accepted + rejectedCount, 'lines', source.size && batch.endOffset / source.size);
      if (signal.aborted) break;
    }
  } catch (failure) {
    const { message } = failure as Error;
    if (!signal.aborted) error = pendingBatch ? message : `the rest of the file cannot be read: ${message}`;
  }
  progress.clear();
  const ended = signal.aborted ? 'stopped' : error !== undefined ? 'failed' : 'done';
  const uncertain = dryRun || !pendingBatch ? null : getValidLineRange(pendingBatch);
  const result: ImportResult = { kind, dryRun, accepted, nextLine, ended, uncertain, importId };
  return {
    json: result,
    message: describeImport(result, source.fromLine, rejectedCount),
    ...(error && { error }),
    exitCode: { done: rejectedCount > 0 ? 1 : 0, stopped: INTERRUPTED_EXIT_CODE, failed: 2 }[ended],
  };
}

/** Yields the values of `source`. Requests the next value while the consumer processes the current one. */
async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = source.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = source.next();
      // The `await` of the next iteration throws the error. Without this handler, the rejection would be unhandled until then.
      next.catch(doNothing);
      yield value;
    }
  } finally {
    // Not awaited, because the promise resolves only after the next line of the file, which may never arrive.
    void source.return(undefined).catch(doNothing);
  }
}

/** Resolves to the result of `work`. After an interruption, rejects if `work` does not end within `STOP_TIMEOUT_MS`. */
async function withStopTimeout<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const finished = new AbortController();
  const rejectAfterTimeout = async (): Promise<never> => {
    if (!signal.aborted) await once(signal, 'abort', { signal: finished.signal });
    await delay(STOP_TIMEOUT_MS, undefined, { signal: finished.signal });
    throw new Error('stopped');
  };
  try {
    return await Promise.race([work, rejectAfterTimeout()]);
  } finally {
    finished.abort();
  }
}

async function* readBatches(source: Source, maxLineLength: number): AsyncGenerator<Batch> {
  const { stream, fromLine } = source;
  let lines: ParsedLine[] = [];
  let bytes = 0;
  let lastLine: Line | undefined;
  for await (const line of readLines(stream, maxLineLength)) {
    lastLine = line;
    if (line.number < fromLine || isBlank(line)) continue;
    lines.push(parseLine(line, source, maxLineLength));
    bytes += line.bytes?.length ?? 0;
    if (lines.length < MAX_BATCH_LINE_COUNT && bytes < BATCH_THRESHOLD_BYTES) continue;
    yield { lines, lastLine: line.number, endOffset: line.endOffset };
    lines = [];
    bytes = 0;
  }
  if (lastLine && lastLine.number >= fromLine)
    yield { lines, lastLine: lastLine.number, endOffset: lastLine.endOffset };
}

function parseLine({ number, bytes }: Line, source: Source, maxLineLength: number): ParsedLine {
  if (!bytes) return { number, reason: `The line ${describeTooLongBody(maxLineLength)}.` };
  try {
    const body = parse(importKinds[source.kind].operation.body as z.ZodObject, readJson(bytes));
    return { number, body, id: deriveLineId(source, number, bytes) };
  } catch (error) {
    if (!(error instanceof MalformedBody || error instanceof CoreError)) throw error;
    return { number, reason: error instanceof MalformedBody ? `The line ${error.problem}.` : error.message };
  }
}

/** Stores a batch, or only checks it in a dry run. Resolves to the rejected lines. */
async function storeOrCheckBatch({ app }: CommandContext, { kind, workspaceId, dryRun }: Source, { lines }: Batch) {
  const validLines = lines.filter((line) => 'body' in line);
  const bodies = validLines.map(({ body }) => body);
  const ids = dryRun ? undefined : validLines.map(({ id }) => id);
  const results = (await importKinds[kind].createOrCheckMany(app, workspaceId, bodies, ids)).values();
  return lines.flatMap((line) => {
    if ('reason' in line) return [line];
    const { value } = results.next();
    return isRejected(value) ? [{ number: line.number, reason: value.message }] : [];
  });
}

function isBlank({ bytes }: Line): boolean {
  return (
    bytes !== undefined && bytes.length <= MAX_BLANK_LINE_BYTES && bytes.every((byte) => BLANK_CHARACTERS.has(byte))
  );
}

function getValidLineRange({ lines }: Batch): ImportResult['uncertain'] {
  const validLines = lines.filter((line) => 'body' in line);
  const [first, last] = [validLines[0], validLines.at(-1)];
  return first && last ? { firstLine: first.number, lastLine: last.number } : null;
}

function describeImport(
  { kind, dryRun, accepted, nextLine, ended, uncertain, importId }: ImportResult,
  fromLine: number,
  rejectedCount: number,
): string {
  const lines = nextLine > fromLine ? `lines ${fromLine} to ${nextLine - 1}` : `no lines from line ${fromLine} on`;
  const summary = `${accepted} ${dryRun ? 'can be stored' : 'stored'} as ${kind}, ${rejectedCount} rejected (${lines}).`;
  const counts = dryRun ? `${summary} Nothing was stored.` : summary;
  const beginning = ended === 'stopped' ? `Stopped: ${counts}` : counts;
  if (uncertain) {
    return [
      `${beginning} Lines ${uncertain.firstLine} to ${uncertain.lastLine} may have been stored.`,
      `To store no line twice, continue with --from-line ${nextLine} --import-id ${importId}.`,
    ].join(' ');
  }
  const next = ended === 'done' ? `To ${dryRun ? 'check' : 'import'} lines that are added later, continue` : 'Continue';
  return `${beginning} ${next} with --from-line ${nextLine}.`;
}

/** Opens a file. Throws a `UsageError` if it cannot be read. */
async function openFile(file: string): Promise<{ stream: Readable; size: number | undefined }> {
  const createReadError = (reason: string) => new UsageError([`Cannot read ${file}: ${reason}.`]);
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw createReadError('it is a directory');
    }
    return { stream: handle.createReadStream(), size: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw createReadError(FILE_ERROR_REASONS[code] ?? message);
  }
}

const FILE_ERROR_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'the file does not exist',
  EACCES: 'permission denied',
};
