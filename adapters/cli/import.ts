import { hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pMapIterable } from 'p-map';
import { z } from 'zod';
import { RESPONSE_TTL_HOURS } from '../../core/limits.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { createCampaign } from '../api/campaign.ts';
import { id, wholeNumberParameter } from '../api/fields.ts';
import { createGroup } from '../api/group.ts';
import { createInspirationQuestion } from '../api/inspiration-question.ts';
import { describeTooLongBody, MalformedBody, readJson } from '../api/json-body.ts';
import { createTag } from '../api/tag.ts';
import { replaceControlCharacters } from '../logging/terminal-text.ts';
import { type CommandContext, defineCommand, INTERRUPTED_EXIT_CODE, type ReportResult } from './command.ts';
import { type Line, readLines } from './lines.ts';
import { findWorkspace, workspaceField } from './target.ts';
import { describeFileError, UsageError } from './usage-error.ts';

const CONCURRENT_LINE_COUNT = 32;
/** The maximum time that an interrupted import waits for the lines in flight. */
const STOP_TIMEOUT_MS = 3_000;
/** A line that a killed import was storing is locked for up to 30 seconds (`LOCK_TTL_MS`). */
const RETRY_INTERVAL_MS = 1_000;
const MAX_ATTEMPT_COUNT = 40;

const LINE_CHANGED = 'This import ID has already stored another content of this line. Import the line with a new ID.';

/** The operations of the API that create the records. Each line is a body of its operation. */
const operations = {
  campaigns: createCampaign,
  questions: createInspirationQuestion,
  tags: createTag,
  groups: createGroup,
};
type Kind = keyof typeof operations;

const fields = z.strictObject({
  kind: z.enum(Object.keys(operations) as [Kind]).describe('The kind of the records.'),
  file: z.string().describe('The path of the file, or - for standard input.'),
  workspace: workspaceField,
  fromLine: wholeNumberParameter(1).default(1).describe('The number of the first line to import.'),
  importId: id.optional().describe('The ID that an earlier import printed, or a UUID of your own.'),
  dryRun: z.boolean().default(false).describe('Check the shape of each line, and store nothing.'),
});

export const importCommand = defineCommand({
  name: 'import',
  summary: 'Create records from an NDJSON file',
  details: [
    'Each line is the JSON body of the POST request that creates one record.',
    'At the end, the command prints the number of the line to continue from and an import ID.',
    `With this ID, and within ${RESPONSE_TTL_HOURS} hours, the same file can be imported again: no line is stored twice.`,
  ],
  example: ['campaigns', 'campaigns.ndjson', '--workspace Northwind'],
  handlesInterrupt: true,
  arguments: ['kind', 'file'],
  fields,
  run: async (context, { kind, file, workspace, fromLine, importId = context.newId(), dryRun }) => {
    const { id: workspaceId } = await findWorkspace(context.app, workspace);
    const input = file === '-' ? { stream: context.stdin } : await openFile(file);
    context.signal.addEventListener('abort', () => input.stream.destroy());
    return { rejected: runImport(context, { kind, workspaceId, importId, fromLine, dryRun, ...input }) };
  },
});

/** The lines to import, and how to import them. */
interface Source extends Pick<z.output<typeof fields>, 'kind' | 'fromLine' | 'dryRun'> {
  readonly workspaceId: string;
  readonly importId: string;
  readonly stream: Readable & { readonly bytesRead?: number };
  /** The size of the file in bytes. `undefined` if it is unknown, as for a pipe. */
  readonly size?: number | undefined;
}

/** The outcome of a line. */
type Outcome = Line & { readonly status: 'accepted' | 'skipped' | { readonly rejection: string } };

/** Imports the lines. Yields each rejected line, and returns the result. */
async function* runImport(context: CommandContext, source: Source): ReportResult['rejected'] {
  const { signal, progress } = context;
  const { kind, dryRun, importId, fromLine } = source;
  let accepted = 0;
  let rejectedCount = 0;
  /** The first line that is not known to be stored, rejected or skipped. */
  let nextLine = fromLine;
  let error: string | undefined;
  // The outcomes have the order of the lines.
  const importOne = (line: Line) => importLine(context, source, line);
  const iterable = pMapIterable(readUntilAborted(context, source), importOne, { concurrency: CONCURRENT_LINE_COUNT });
  const outcomes = iterable[Symbol.asyncIterator]();
  let rejectNext: (error: Error) => void = doNothing;
  signal.addEventListener('abort', () => setTimeout(() => rejectNext(new Error('stopped')), STOP_TIMEOUT_MS).unref());
  const readOutcome = () =>
    new Promise<IteratorResult<Outcome>>((resolve, reject) => {
      rejectNext = reject;
      outcomes.next().then(resolve, reject);
    });
  try {
    for (;;) {
      const { done, value } = await readOutcome();
      if (done) break;
      const { number, status } = value;
      nextLine = Math.max(nextLine, number + 1);
      if (status === 'accepted') accepted++;
      if (typeof status === 'object') {
        rejectedCount++;
        progress.clear();
        const reason = status.rejection;
        yield { json: { line: number, reason }, message: `line ${number}: ${replaceControlCharacters(reason)}` };
      }
      const fraction = source.size && (source.stream.bytesRead ?? 0) / source.size;
      if (status !== 'skipped') progress.show(accepted + rejectedCount, 'lines', fraction);
    }
  } catch (failure) {
    error = (failure as Error).message;
  }
  progress.clear();
  const ended = signal.aborted ? 'stopped' : error !== undefined ? 'failed' : 'done';
  const lines = nextLine > fromLine ? `lines ${fromLine} to ${nextLine - 1}` : `no lines from line ${fromLine} on`;
  const summary = `${accepted} ${dryRun ? 'valid' : 'stored'} as ${kind}, ${rejectedCount} rejected (${lines}).`;
  const advice = dryRun
    ? `Nothing was stored. Continue with --from-line ${nextLine}.`
    : `To store no line twice, continue with --from-line ${nextLine} --import-id ${importId}.`;
  return {
    ...(accepted > 0 && !dryRun && { written: { workspaceId: source.workspaceId } }),
    json: { kind, dryRun, accepted, nextLine, ended, importId },
    message: `${ended === 'stopped' ? 'Stopped: ' : ''}${summary} ${advice}`,
    ...(ended === 'failed' && { error }),
    exitCode: { done: rejectedCount > 0 ? 1 : 0, stopped: INTERRUPTED_EXIT_CODE, failed: 2 }[ended],
  };
}

/** Reads the lines until the import is interrupted. */
async function* readUntilAborted({ signal, bodyLimit }: CommandContext, { stream }: Source): AsyncGenerator<Line> {
  try {
    for await (const line of readLines(stream, bodyLimit)) {
      if (signal.aborted) return;
      yield line;
    }
  } catch (error) {
    if (!signal.aborted) throw new Error(`the rest of the file cannot be read: ${(error as Error).message}`);
  }
}

/** Stores a line, or only checks it in a dry run. Rejects if it is unknown whether the line is stored. */
async function importLine(context: CommandContext, source: Source, line: Line): Promise<Outcome> {
  if (line.number < source.fromLine || isBlank(line)) return { ...line, status: 'skipped' };
  try {
    await storeOrCheck(context, source, line);
    return { ...line, status: 'accepted' };
  } catch (error) {
    if (error instanceof MalformedBody) return { ...line, status: { rejection: `The line ${error.problem}.` } };
    if (!(error instanceof CoreError) || error.isTransient) throw error;
    const isChanged = error.causeName === 'idempotency_key_reused';
    return { ...line, status: { rejection: isChanged ? LINE_CHANGED : error.message } };
  }
}

async function storeOrCheck(
  { app, bodyLimit }: CommandContext,
  { kind, workspaceId, importId, dryRun }: Source,
  { number, bytes }: Line,
): Promise<void> {
  if (!bytes) throw new MalformedBody(describeTooLongBody(bodyLimit));
  const body = readJson(bytes);
  const create = operations[kind].prepare({}, body);
  if (dryRun) return;
  const request = {
    workspaceId,
    keyId: importId,
    idempotencyKey: `${workspaceId}/${number}`,
    fingerprint: hash('sha256', JSON.stringify([kind, body])),
  };
  const caller = { workspaceId, keyId: importId, access: 'full' } as const;
  for (let attempt = 1; ; attempt++) {
    try {
      // The response is not stored, because only the fact that the line is stored matters.
      await app.runOnce(request, async (transaction) => {
        await create(transaction, caller, '');
        return {};
      });
      return;
    } catch (error) {
      if (!(error instanceof CoreError && error.isTransient) || attempt === MAX_ATTEMPT_COUNT) throw error;
      await delay(RETRY_INTERVAL_MS);
    }
  }
}

/** Returns whether a line has only spaces, tabs and carriage returns. */
const isBlank = ({ bytes }: Line): boolean => bytes?.every((byte) => [0x20, 0x09, 0x0d].includes(byte)) ?? false;

/** Opens a file. Throws a `UsageError` if it cannot be read. */
async function openFile(file: string): Promise<Pick<Source, 'stream' | 'size'>> {
  const handle = await open(file).catch((error) => {
    throw new UsageError([`Cannot read ${file}: ${describeFileError(error)}.`]);
  });
  const stats = await handle.stat();
  return { stream: handle.createReadStream(), size: stats.isFile() ? stats.size : undefined };
}
