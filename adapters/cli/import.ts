import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { isUuid } from '../../core/shared/uuid.ts';
import { createCampaign } from '../api/campaign.ts';
import { positiveInteger } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createInspirationQuestion } from '../api/inspiration-question.ts';
import { describeTooLongBody, MalformedBody, readJson } from '../api/json-body.ts';
import type { Operation } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import { createTag } from '../api/tag.ts';
import {
  type CommandContext,
  defineCommand,
  defineParameter,
  INTERRUPTED_EXIT_CODE,
  idSchema,
  type MessageResult,
  workspaceOption,
} from './command.ts';
import { deriveLineId, type ImportTarget } from './line-id.ts';
import { type Line, readLines } from './lines.ts';
import { replaceControlCharacters } from './terminal-text.ts';
import { UsageError } from './usage-error.ts';

const MAX_BATCH_LINE_COUNT = 500;
const BATCH_THRESHOLD_BYTES = 4 * 2 ** 20;
/** Space, tab and carriage return: a line of only these is skipped. */
const BLANK_CHARACTERS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
const MAX_BLANK_LINE_BYTES = 999;
/** How long an interrupted import waits for the batch in flight. */
const STOP_TIMEOUT_MS = 3_000;

/** A kind of records that can be imported. */
interface ImportKind {
  /** Validates the JSON of a line. Throws a `CoreError` if it is invalid. */
  parseBody(json: object): unknown;
  createOrCheckMany(
    app: Application,
    workspaceId: string,
    bodies: readonly unknown[],
    /** The ids of the new records. If `undefined`, the bodies are only checked. */
    ids: readonly string[] | undefined,
  ): Promise<readonly BatchResult<object>[]>;
}

/** Defines a kind whose lines are validated as the bodies of an API operation. */
function defineImportKind<Body extends z.ZodObject>(
  { body }: Operation & { readonly body: Body | undefined },
  createOrCheckMany: (
    app: Application,
    workspaceId: string,
    bodies: readonly z.output<Body>[],
    ids: readonly string[] | undefined,
  ) => Promise<readonly BatchResult<object>[]>,
): ImportKind {
  return {
    parseBody: (json) => parse(body as Body, json),
    createOrCheckMany: (app, workspaceId, bodies, ids) =>
      createOrCheckMany(app, workspaceId, bodies as readonly z.output<Body>[], ids),
  };
}

const importKinds = {
  campaigns: defineImportKind(createCampaign, ({ campaigns }, workspaceId, bodies, ids) =>
    ids ? campaigns.createMany({ workspaceId }, bodies, ids) : campaigns.checkMany({ workspaceId }, bodies),
  ),
  questions: defineImportKind(createInspirationQuestion, ({ inspirationQuestions }, workspaceId, bodies, ids) =>
    ids
      ? inspirationQuestions.createMany(workspaceId, bodies, ids)
      : inspirationQuestions.checkMany(workspaceId, bodies),
  ),
  tags: defineImportKind(createTag, ({ tags }, workspaceId, bodies, ids) => {
    const names = bodies.map(({ name }) => name);
    return ids ? tags.createMany(workspaceId, names, ids) : tags.checkMany(workspaceId, names);
  }),
  groups: defineImportKind(createGroup, ({ groups }, workspaceId, bodies, ids) =>
    ids ? groups.createMany(workspaceId, bodies, ids) : groups.checkMany(workspaceId, bodies),
  ),
};
const IMPORT_KIND_NAMES = Object.keys(importKinds) as [keyof typeof importKinds];

const importIdSchema = idSchema.refine(
  (id) => isUuid(id) && id[14] === '7',
  'must be the import id that this command printed',
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
    return { itemsName: 'refused', items: runImport(context, source) };
  },
});

/** The lines to import, and how to import them. */
interface Source extends ImportTarget {
  readonly kind: keyof typeof importKinds;
  readonly fromLine: number;
  readonly dryRun: boolean;
  readonly stream: Readable;
  /** The size of the file in bytes. `undefined` if it is unknown, as for a pipe. */
  readonly size: number | undefined;
}

interface RejectedLine {
  readonly json: { readonly line: number; readonly reason: string };
  readonly message: string;
}

/** A line with its body, or with the reason why it is rejected. */
type ParsedLine = { readonly number: number } & (
  | { readonly body: unknown; readonly id: string }
  | { readonly reason: string }
);

/** Lines that are processed together. The valid ones are stored. */
interface Batch {
  readonly lines: readonly ParsedLine[];
  /** The number of the last line that was read, including skipped lines. */
  readonly lastLine: number;
  /** The offset after the last line, in bytes from the start of the file. */
  readonly endOffset: number;
}

type ImportOutcome = 'done' | 'stopped' | 'failed';

/** A range of line numbers, including both ends. */
interface LineRange {
  readonly firstLine: number;
  readonly lastLine: number;
}

/** Imports the lines. Yields each rejected line, and returns the result. */
async function* runImport(context: CommandContext, source: Source): AsyncGenerator<RejectedLine, MessageResult> {
  const { signal, progress } = context;
  let acceptedCount = 0;
  let rejectedCount = 0;
  let nextLine = source.fromLine;
  let outcome: ImportOutcome = 'done';
  let pendingBatch: Batch | undefined;
  let error = '';
  try {
    for await (const batch of readAhead(readBatches(source, context.bodyLimit))) {
      pendingBatch = batch;
      const rejections = await waitUntilStopTimeout(signal, storeOrCheckBatch(context, source, batch));
      pendingBatch = undefined;
      nextLine = batch.lastLine + 1;
      acceptedCount += batch.lines.length - rejections.length;
      rejectedCount += rejections.length;
      if (rejections.length > 0) progress.clear();
      for (const { number, reason } of rejections) {
        yield { json: { line: number, reason }, message: `line ${number}: ${replaceControlCharacters(reason)}` };
      }
      progress.show(acceptedCount + rejectedCount, 'lines', source.size && batch.endOffset / source.size);
      if (signal.aborted) break;
    }
  } catch (failure) {
    if (!signal.aborted) {
      outcome = 'failed';
      const { message } = failure as Error;
      error = pendingBatch ? message : `the rest of the file cannot be read: ${message}`;
    }
  }
  if (signal.aborted) outcome = 'stopped';
  progress.clear();
  const { kind, dryRun, importId } = source;
  const uncertainLines = getUncertainLines(source, pendingBatch);
  return {
    json: { kind, dryRun, accepted: acceptedCount, nextLine, ended: outcome, uncertain: uncertainLines, importId },
    message: describeImport(source, {
      acceptedCount,
      rejectedCount,
      nextLine,
      outcome,
      uncertainLines,
    }),
    ...(error && { error }),
    exitCode: outcome === 'failed' ? 2 : outcome === 'stopped' ? INTERRUPTED_EXIT_CODE : rejectedCount > 0 ? 1 : 0,
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
    // Not awaited, because this resolves only after the next line, which may never arrive.
    void source.return(undefined).catch(doNothing);
  }
}

/** Resolves to the result of `work`. After an interruption, rejects if `work` does not end within `STOP_TIMEOUT_MS`. */
async function waitUntilStopTimeout<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let startTimer = () => {};
  const timeout = new Promise<never>((_, reject) => {
    startTimer = () => (timer = setTimeout(() => reject(new Error('stopped')), STOP_TIMEOUT_MS));
    if (signal.aborted) startTimer();
    else signal.addEventListener('abort', startTimer);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    signal.removeEventListener('abort', startTimer);
    clearTimeout(timer);
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
    const body = importKinds[source.kind].parseBody(readJson(bytes));
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

/** Returns the range of the lines in the batch that was being stored when the import ended, or `null` if there are none. */
function getUncertainLines({ dryRun }: Source, pendingBatch: Batch | undefined): LineRange | null {
  const validLines = dryRun || !pendingBatch ? [] : pendingBatch.lines.filter((line) => 'body' in line);
  const [first, last] = [validLines[0], validLines.at(-1)];
  return first && last ? { firstLine: first.number, lastLine: last.number } : null;
}

interface ImportResult {
  readonly acceptedCount: number;
  readonly rejectedCount: number;
  readonly nextLine: number;
  readonly outcome: ImportOutcome;
  readonly uncertainLines: LineRange | null;
}

function describeImport(
  { kind, dryRun, fromLine, importId }: Source,
  { acceptedCount, rejectedCount, nextLine, outcome, uncertainLines }: ImportResult,
): string {
  const lines = nextLine > fromLine ? `lines ${fromLine} to ${nextLine - 1}` : `no lines from line ${fromLine} on`;
  const accepted = `${acceptedCount} ${dryRun ? 'can be stored' : 'stored'} as ${kind}`;
  const beginning = `${outcome === 'stopped' ? 'Stopped: ' : ''}${accepted}, ${rejectedCount} rejected (${lines}).`;
  if (uncertainLines) {
    return [
      `${beginning} Lines ${uncertainLines.firstLine} to ${uncertainLines.lastLine} may have been stored.`,
      `To store no line twice, continue with --from-line ${nextLine} --import-id ${importId}.`,
    ].join(' ');
  }
  return `${beginning} ${outcome === 'done' ? 'To import lines that are added later, continue' : 'Continue'} with --from-line ${nextLine}.`;
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
