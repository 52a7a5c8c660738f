import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import { type BatchResult, isRejected } from '../../core/shared/batch.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { isUuid } from '../../core/shared/uuid.ts';
import { createCampaign } from '../api/campaign.ts';
import { positiveInteger } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createInspirationQuestion } from '../api/inspiration-question.ts';
import { describeTooLongBody, MalformedBody, readJson } from '../api/json-body.ts';
import type { Operation } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import { createTag } from '../api/tag.ts';
import { anyId, command, type Message, parameter, type Session, STOPPED, workspaceOption } from './command.ts';
import { type ImportTarget, lineId } from './line-id.ts';
import { type Line, linesOf } from './lines.ts';
import { harmless } from './terminal-text.ts';
import { UsageError } from './usage-error.ts';

const BATCH_LINES = 500;
const BATCH_BYTES = 4 * 2 ** 20;
/** What a line that is passed over is made of: space, tab, carriage return. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
const LONGEST_BLANK = 1000;
/** The longest time that a stopped import waits for the lines that are being stored. */
const STOP_TIMEOUT_MS = 3_000;

/** What can be imported: how a body of it is read, and how many of them become records. */
interface Importable {
  read(json: object): unknown;
  make(
    app: Application,
    workspaceId: string,
    bodies: readonly unknown[],
    /** The ids of the records. Without them, the bodies are only checked. */
    ids: readonly string[] | undefined,
  ): Promise<readonly BatchResult<object>[]>;
}

/** Lines are read as the bodies of an operation of the API are. */
function importable<Body extends z.ZodObject>(
  { body }: Operation & { readonly body: Body | undefined },
  make: (
    app: Application,
    workspaceId: string,
    bodies: readonly z.output<Body>[],
    ids: readonly string[] | undefined,
  ) => Promise<readonly BatchResult<object>[]>,
): Importable {
  return {
    read: (json) => parse(body as Body, json),
    make: (app, workspaceId, bodies, ids) => make(app, workspaceId, bodies as readonly z.output<Body>[], ids),
  };
}

const importables = {
  campaigns: importable(createCampaign, ({ campaigns }, workspaceId, bodies, ids) =>
    ids ? campaigns.createMany({ workspaceId }, bodies, ids) : campaigns.checkMany({ workspaceId }, bodies),
  ),
  questions: importable(createInspirationQuestion, ({ inspirationQuestions }, workspaceId, bodies, ids) =>
    ids
      ? inspirationQuestions.createMany(workspaceId, bodies, ids)
      : inspirationQuestions.checkMany(workspaceId, bodies),
  ),
  tags: importable(createTag, ({ tags }, workspaceId, bodies, ids) => {
    const names = bodies.map(({ name }) => name);
    return ids ? tags.createMany(workspaceId, names, ids) : tags.checkMany(workspaceId, names);
  }),
  groups: importable(createGroup, ({ groups }, workspaceId, bodies, ids) =>
    ids ? groups.createMany(workspaceId, bodies, ids) : groups.checkMany(workspaceId, bodies),
  ),
};
const KINDS = Object.keys(importables) as [keyof typeof importables];

const anImportId = anyId.refine(
  (id) => isUuid(id) && id[14] === '7',
  'must be the import id that this command printed',
);

export const importRecords = command({
  name: 'import',
  does: 'make records of a file: NDJSON, a line each as the body of the POST that makes one',
  more:
    'Every line that is refused is told by its number and the reason; the others are kept. Lines are stored in their ' +
    'order, some hundred at once. At the end, the line to go on from is printed. If the database did not confirm some ' +
    'lines, they are printed with an --import-id, which prevents storing them twice. A campaign has no creator; a ' +
    'dry run sees a name that is doubled only where it is taken already or the lines are near each other.',
  example: 'import --workspace 0190… campaigns campaigns.ndjson',
  endsItself: true,
  parameters: {
    kind: parameter('<kind>', 'what the lines are', z.enum(KINDS)),
    file: parameter('<file>', 'the file; - is the standard input', z.string()),
    workspaceId: workspaceOption,
    fromLine: parameter('--from-line <number>', 'the first line that is looked at', positiveInteger().default(1)),
    importId: parameter('--import-id <id>', 'the id of an interrupted import, to go on with it', anImportId.optional()),
    dryRun: parameter('--dry-run', 'only tell what would be refused, and store nothing', z.boolean().default(false)),
  },
  run: async (session, { kind, file, workspaceId, fromLine, importId = session.newId(), dryRun }) => {
    const { stream, size } = file === '-' ? { stream: session.stdin, size: undefined } : await opened(file);
    session.stop.addEventListener('abort', () => stream.destroy());
    const source = { kind, workspaceId, importId, fromLine, dryRun, stream, size };
    return { name: 'refused', items: imported(session, source) };
  },
});

interface Source extends ImportTarget {
  readonly kind: keyof typeof importables;
  readonly fromLine: number;
  readonly dryRun: boolean;
  readonly stream: Readable;
  /** In bytes, where it is known. */
  readonly size: number | undefined;
}

interface RefusedLine {
  readonly json: { readonly line: number; readonly reason: string };
  readonly says: string;
}

/** A line that was read: its body, or why it is refused. */
type ReadLine = { readonly number: number } & (
  | { readonly body: unknown; readonly id: string }
  | { readonly reason: string }
);

/** Lines that are stored together; `last` is the number of the last line that was looked at, `end` where it ends. */
interface Batch {
  readonly lines: readonly ReadLine[];
  readonly last: number;
  readonly end: number;
}

type Ended = 'done' | 'stopped' | 'failed';

/** Lines of which it is unknown whether they are stored, because the storage did not answer. */
interface Uncertain {
  readonly firstLine: number;
  readonly lastLine: number;
}

/** Imports, tells every line that is refused, and at last how it ended. */
async function* imported(session: Session, source: Source): AsyncGenerator<RefusedLine, Message> {
  const { stop, progress } = session;
  let accepted = 0;
  let refused = 0;
  let nextLine = source.fromLine;
  let ended: Ended = 'done';
  let storing: Batch | undefined;
  let error = '';
  try {
    for await (const batch of readAhead(batchesOf(source, session.bodyLimit))) {
      storing = batch;
      const refusals = await inTime(stop, refusalsOf(session, source, batch));
      storing = undefined;
      nextLine = batch.last + 1;
      accepted += batch.lines.length - refusals.length;
      refused += refusals.length;
      if (refusals.length > 0) progress.clear();
      for (const { number, reason } of refusals) {
        yield { json: { line: number, reason }, says: `line ${number}: ${harmless(reason)}` };
      }
      progress.show(accepted + refused, 'lines', source.size && batch.end / source.size);
      if (stop.aborted) break;
    }
  } catch (failure) {
    if (!stop.aborted) {
      ended = 'failed';
      const { message } = failure as Error;
      error = storing ? message : `the file cannot be read any further: ${message}`;
    }
  }
  if (stop.aborted) ended = 'stopped';
  progress.clear();
  const { kind, dryRun, importId } = source;
  const uncertain = uncertainLines(source, storing);
  return {
    json: { kind, dryRun, accepted, nextLine, ended, uncertain, importId },
    says: summary(source, { accepted, refused, nextLine, ended, uncertain }),
    ...(error && { error }),
    exitCode: ended === 'failed' ? 2 : ended === 'stopped' ? STOPPED : refused > 0 ? 1 : 0,
  };
}

/** The same, with the next asked for while one is worked on. */
async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = source.next();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = source.next();
      next.catch(() => 'told when it is awaited');
      yield value;
    }
  } finally {
    // Not waited for: it comes after the next line, which may never come.
    void source.return(undefined).catch(() => 'told already');
  }
}

/** Resolves to the result of `work`. Rejects if `work` takes longer than `STOP_TIMEOUT_MS` after the stop. */
async function inTime<T>(stop: AbortSignal, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let onStop = () => {};
  const late = new Promise<never>((_, reject) => {
    onStop = () => (timer = setTimeout(() => reject(new Error('stopped')), STOP_TIMEOUT_MS));
    if (stop.aborted) onStop();
    else stop.addEventListener('abort', onStop);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.removeEventListener('abort', onStop);
    clearTimeout(timer);
  }
}

async function* batchesOf(source: Source, limit: number): AsyncGenerator<Batch> {
  const { stream, fromLine } = source;
  let lines: ReadLine[] = [];
  let bytes = 0;
  let last: Line | undefined;
  for await (const line of linesOf(stream, limit)) {
    last = line;
    if (line.number < fromLine || isBlank(line)) continue;
    lines.push(readLine(line, source, limit));
    bytes += line.bytes?.length ?? 0;
    if (lines.length < BATCH_LINES && bytes < BATCH_BYTES) continue;
    yield { lines, last: line.number, end: line.end };
    lines = [];
    bytes = 0;
  }
  if (last && last.number >= fromLine) yield { lines, last: last.number, end: last.end };
}

function readLine({ number, bytes }: Line, source: Source, limit: number): ReadLine {
  if (!bytes) return { number, reason: `The line ${describeTooLongBody(limit)}.` };
  try {
    const body = importables[source.kind].read(readJson(bytes));
    return { number, body, id: lineId(source, number, bytes) };
  } catch (error) {
    if (!(error instanceof MalformedBody || error instanceof CoreError)) throw error;
    return { number, reason: error instanceof MalformedBody ? `The line ${error.problem}.` : error.message };
  }
}

/** Stores a batch, or only looks at it, and tells which of its lines are refused. */
async function refusalsOf({ app }: Session, { kind, workspaceId, dryRun }: Source, { lines }: Batch) {
  const good = lines.filter((line) => 'body' in line);
  const bodies = good.map(({ body }) => body);
  const ids = dryRun ? undefined : good.map(({ id }) => id);
  const outcomes = (await importables[kind].make(app, workspaceId, bodies, ids)).values();
  return lines.flatMap((line) => {
    if ('reason' in line) return [line];
    const { value } = outcomes.next();
    return isRejected(value) ? [{ number: line.number, reason: value.message }] : [];
  });
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== undefined && bytes.length < LONGEST_BLANK && bytes.every((byte) => BLANKS.has(byte));
}

/** Returns the lines of the batch that was being stored when the import ended, or `null` if there are none. */
function uncertainLines({ dryRun }: Source, storing: Batch | undefined): Uncertain | null {
  const good = dryRun || !storing ? [] : storing.lines.filter((line) => 'body' in line);
  const [first, last] = [good[0], good.at(-1)];
  return first && last ? { firstLine: first.number, lastLine: last.number } : null;
}

interface Result {
  readonly accepted: number;
  readonly refused: number;
  readonly nextLine: number;
  readonly ended: Ended;
  readonly uncertain: Uncertain | null;
}

function summary(
  { kind, dryRun, fromLine, importId }: Source,
  { accepted, refused, nextLine, ended, uncertain }: Result,
): string {
  const lines = nextLine > fromLine ? `lines ${fromLine} to ${nextLine - 1}` : `no line from ${fromLine} on`;
  const counts = `${accepted} ${dryRun ? 'fit to be stored' : 'stored'} as ${kind}, ${refused} refused (${lines}).`;
  const begin = `${ended === 'stopped' ? 'Stopped: ' : ''}${counts}`;
  if (uncertain) {
    return [
      `${begin} Lines ${uncertain.firstLine} to ${uncertain.lastLine} may be stored.`,
      `Go on with --from-line ${nextLine} --import-id ${importId}: then no line is stored twice.`,
    ].join(' ');
  }
  return `${begin} ${ended === 'done' ? 'When the file has grown, go on' : 'Go on'} with --from-line ${nextLine}.`;
}

async function opened(file: string): Promise<{ stream: Readable; size: number | undefined }> {
  const unreadable = (reason: string) => new UsageError([`${file} cannot be read: ${reason}.`]);
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw unreadable('it is a folder');
    }
    return { stream: handle.createReadStream(), size: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw unreadable(reasons[code] ?? message);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not',
};
