import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import { isRefused, type Outcome } from '../../core/shared/batch.ts';
import { DomainError } from '../../core/shared/error.ts';
import { createCampaign } from '../api/campaign.ts';
import { positiveInteger } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createInspirationQuestion } from '../api/inspiration-question.ts';
import { MalformedBody, readJson, tooLong } from '../api/json.ts';
import type { Operation } from '../api/operation.ts';
import { parse } from '../api/parse.ts';
import { createTag } from '../api/tag.ts';
import { command, parameter, type Session, STOPPED, type Told, workspaceOption } from './command.ts';
import { type Line, linesOf } from './lines.ts';
import { Misuse } from './misuse.ts';

const BATCH_LINES = 500;
const BATCH_BYTES = 4 * 2 ** 20;
/** What a line that is passed over is made of: space, tab, carriage return. */
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0d]);
const LONGEST_BLANK = 1000;

/** Makes records of a batch of bodies, or only tells what would become of them. */
type Many = 'createMany' | 'checkMany';

/** What can be imported: how a body of it is read, and how many of them become records. */
interface Importable {
  read(json: object): unknown;
  make(
    use: Application,
    workspaceId: string,
    bodies: readonly unknown[],
    many: Many,
  ): Promise<readonly Outcome<object>[]>;
}

/** Lines are read as the bodies of an operation of the API are. */
function importable<Body extends z.ZodObject>(
  { body }: Operation & { readonly body: Body | undefined },
  make: (
    use: Application,
    workspaceId: string,
    bodies: readonly z.output<Body>[],
    many: Many,
  ) => Promise<readonly Outcome<object>[]>,
): Importable {
  return {
    read: (json) => parse(body as Body, json),
    make: (use, workspaceId, bodies, many) => make(use, workspaceId, bodies as readonly z.output<Body>[], many),
  };
}

const importables = {
  campaigns: importable(createCampaign, (use, workspaceId, bodies, many) =>
    use.campaigns[many]({ workspaceId }, bodies),
  ),
  questions: importable(createInspirationQuestion, (use, workspaceId, bodies, many) =>
    use.inspirationQuestions[many](workspaceId, bodies),
  ),
  tags: importable(createTag, (use, workspaceId, bodies, many) =>
    use.tags[many](
      workspaceId,
      bodies.map(({ name }) => name),
    ),
  ),
  groups: importable(createGroup, (use, workspaceId, bodies, many) => use.groups[many](workspaceId, bodies)),
};
const KINDS = Object.keys(importables) as [keyof typeof importables];

export const importRecords = command({
  name: 'import',
  does: 'make records of a file: NDJSON, a line each as the body of the POST that makes one',
  more:
    'Every line that is refused is told by its number and the reason; the others are kept. Lines are stored in their ' +
    'order, some hundred at once. However it ends, it says from which line to go on. A campaign has no creator; a ' +
    'dry run sees a name that is doubled only where it is taken already or the lines are near each other.',
  example: 'import --workspace 0190… campaigns campaigns.ndjson',
  endsItself: true,
  parameters: {
    kind: parameter('<kind>', 'what the lines are', z.enum(KINDS)),
    file: parameter('<file>', 'the file; - is the standard input', z.string()),
    workspaceId: workspaceOption,
    fromLine: parameter('--from-line <number>', 'the first line that is looked at', positiveInteger().default(1)),
    dryRun: parameter('--dry-run', 'only tell what would be refused, and store nothing', z.boolean().default(false)),
  },
  run: async (session, { kind, file, workspaceId, fromLine, dryRun }) => {
    const { stream, size } = file === '-' ? { stream: session.stdin, size: undefined } : await opened(file);
    session.stop.addEventListener('abort', () => stream.destroy());
    return { name: 'refused', items: imported(session, { kind, workspaceId, fromLine, dryRun, stream, size }) };
  },
});

interface Source {
  readonly kind: keyof typeof importables;
  readonly workspaceId: string;
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
type ReadLine = { readonly number: number } & ({ readonly body: unknown } | { readonly reason: string });

/** Lines that are stored together; `last` is the number of the last line that was looked at, `end` where it ends. */
interface Batch {
  readonly lines: readonly ReadLine[];
  readonly last: number;
  readonly end: number;
}

type Ended = 'done' | 'stopped' | 'failed';

/** Imports, tells every line that is refused, and at last how it ended. */
async function* imported(session: Session, source: Source): AsyncGenerator<RefusedLine, Told> {
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
      const refusals = await refusalsOf(session, source, batch);
      storing = undefined;
      nextLine = batch.last + 1;
      accepted += batch.lines.length - refusals.length;
      refused += refusals.length;
      if (refusals.length > 0) progress.clear();
      for (const { number, reason } of refusals) {
        yield { json: { line: number, reason }, says: `line ${number}: ${reason}` };
      }
      progress.show(accepted + refused, 'lines', source.size && batch.end / source.size);
      if (stop.aborted) break;
    }
  } catch (failure) {
    if (!stop.aborted) {
      ended = 'failed';
      error = explained(failure as Error, source, storing);
    }
  }
  if (stop.aborted) ended = 'stopped';
  progress.clear();
  const { kind, dryRun } = source;
  return {
    json: { kind, dryRun, accepted, nextLine, ended },
    says: summary(source, { accepted, refused, nextLine, ended }),
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

async function* batchesOf({ stream, kind, fromLine }: Source, limit: number): AsyncGenerator<Batch> {
  const { read } = importables[kind];
  let lines: ReadLine[] = [];
  let bytes = 0;
  let last: Line | undefined;
  for await (const line of linesOf(stream, limit)) {
    last = line;
    if (line.number < fromLine || isBlank(line)) continue;
    lines.push(readLine(line, read, limit));
    bytes += line.bytes?.length ?? 0;
    if (lines.length < BATCH_LINES && bytes < BATCH_BYTES) continue;
    yield { lines, last: line.number, end: line.end };
    lines = [];
    bytes = 0;
  }
  if (last && last.number >= fromLine) yield { lines, last: last.number, end: last.end };
}

function readLine({ number, bytes }: Line, read: Importable['read'], limit: number): ReadLine {
  if (!bytes) return { number, reason: tooLong(limit) };
  try {
    return { number, body: read(readJson(bytes)) };
  } catch (error) {
    if (!(error instanceof MalformedBody || error instanceof DomainError)) throw error;
    return { number, reason: error.message };
  }
}

/** Stores a batch, or only looks at it, and tells which of its lines are refused. */
async function refusalsOf({ use }: Session, { kind, workspaceId, dryRun }: Source, { lines }: Batch) {
  const bodies = lines.flatMap((line) => ('body' in line ? [line.body] : []));
  const many = dryRun ? 'checkMany' : 'createMany';
  const outcomes = (await importables[kind].make(use, workspaceId, bodies, many)).values();
  return lines.flatMap((line) => {
    if ('reason' in line) return [line];
    const { value } = outcomes.next();
    return isRefused(value) ? [{ number: line.number, reason: value.message }] : [];
  });
}

function isBlank({ bytes }: Line): boolean {
  return bytes !== undefined && bytes.length < LONGEST_BLANK && bytes.every((byte) => BLANKS.has(byte));
}

function summary(
  { kind, dryRun, fromLine }: Source,
  { accepted, refused, nextLine, ended }: { accepted: number; refused: number; nextLine: number; ended: Ended },
): string {
  const lines = nextLine > fromLine ? `lines ${fromLine} to ${nextLine - 1}` : `no line from ${fromLine} on`;
  const counts = `${accepted} ${dryRun ? 'fit to be stored' : 'stored'} as ${kind}, ${refused} refused (${lines}).`;
  const goOn = ended === 'done' ? 'When the file has grown, go on' : 'Go on';
  return `${ended === 'stopped' ? 'Stopped: ' : ''}${counts} ${goOn} with --from-line ${nextLine}.`;
}

function explained({ message }: Error, { dryRun }: Source, storing: Batch | undefined): string {
  if (!storing) return `the file cannot be read any further: ${message}`;
  if (dryRun) return message;
  const [first] = storing.lines;
  const lines = first ? `lines ${first.number} to ${storing.last}` : 'some lines';
  return `${message}. While it stored ${lines}: some of these may be stored, so look before you go on.`;
}

async function opened(file: string): Promise<{ stream: Readable; size: number | undefined }> {
  const unreadable = (reason: string) => new Misuse([`${file} cannot be read: ${reason}.`]);
  try {
    const handle = await open(file);
    const stats = await handle.stat();
    if (stats.isDirectory()) {
      await handle.close();
      throw unreadable('it is a folder');
    }
    return { stream: handle.createReadStream(), size: stats.isFile() ? stats.size : undefined };
  } catch (error) {
    if (error instanceof Misuse) throw error;
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw unreadable(reasons[code] ?? message);
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'this user may not',
};
