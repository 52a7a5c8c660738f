import { once } from 'node:events';
import stringWidth from 'string-width';
import { doNothing } from '../../core/shared/do-nothing.ts';
import {
  escapeJsonForTerminal,
  replaceControlCharacters,
  replaceControlCharactersInLines,
} from '../logging/terminal-text.ts';
import type { CommandResult, MessageResult, ReportResult, TableResult } from './command.ts';
import type { TerminalStream } from './terminal-stream.ts';

/**
 * The output of a command. When its stream fails or its reader closes the pipe, `closedSignal` is aborted and all
 * further text is dropped, so that commands can stop early.
 */
export class Output {
  private readonly closeController = new AbortController();
  readonly closedSignal = this.closeController.signal;
  /**
   * The error of the stream. `undefined` if there is none, or if the reader only closed the pipe (EPIPE), as `head`
   * does.
   */
  writeError: string | undefined;

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  constructor(private readonly stream: TerminalStream) {
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!this.closedSignal.aborted && code !== 'EPIPE') this.writeError = message;
      this.closeController.abort();
    });
  }

  /** Writes a text. Control characters are replaced, because they can come from records. */
  async write(text: string): Promise<void> {
    if (this.closedSignal.aborted || this.stream.write(replaceControlCharactersInLines(text))) return;
    // The promise rejects when the stream fails. The caller then finds `closedSignal` aborted.
    await once(this.stream, 'drain', { signal: this.closedSignal }).catch(doNothing);
  }

  /** Resolves when the stream has written all text, or failed. */
  flush(): Promise<void> {
    return new Promise((resolve) => this.stream.write('', () => resolve()));
  }
}

/** Writes a result as one JSON value or for people. Resolves to the final result, or `undefined` for a table. */
export async function writeResult(
  result: CommandResult,
  isJson: boolean,
  output: Output,
): Promise<MessageResult | undefined> {
  if ('pages' in result) {
    await (isJson ? writePagesAsJson(result, output) : writeTable(result, output));
    return undefined;
  }
  if ('rejected' in result) return writeReport(result, isJson, output);
  await output.write(`${isJson ? toJson(result.json) : result.message}\n`);
  return result;
}

function toJson(value: object | string): string {
  return escapeJsonForTerminal(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Writes the items of all pages as one array. */
async function writePagesAsJson({ pages }: TableResult, output: Output): Promise<void> {
  let separator = '[';
  for await (const page of pages) {
    const items = page.slice(1, -1);
    if (items !== '') {
      await output.write(separator + toJson(items));
      separator = ',';
    }
    if (output.closedSignal.aborted) return;
  }
  await output.write(separator === '[' ? '[]\n' : ']\n');
}

/**
 * Writes a table, page by page. The first page determines the widths of the columns and the length of the bars, which
 * only a terminal shows.
 */
async function writeTable({ pages, columns, bar }: TableResult, output: Output): Promise<void> {
  let widths: readonly number[] | undefined;
  let largest: number | undefined;
  for await (const page of pages) {
    const records = JSON.parse(page) as readonly Readonly<Record<string, unknown>>[];
    const bars = bar !== undefined && output.isTerminal ? records.map((record) => Number(record[bar])) : [];
    largest ??= Math.max(...bars);
    const rows = records.map((record) => columns.map((name) => formatCell(record[name])));
    for (const [i, figure] of bars.entries()) rows[i]?.push(formatBar(figure / largest));
    if (rows.length > 0 && !widths) {
      rows.unshift(columns.map((name) => name.replace(/[A-Z]/g, ' $&').toUpperCase()));
      widths = columns.map((_, i) => Math.max(...rows.map((cells) => stringWidth(cells[i] ?? ''))));
    }
    for (const cells of rows) await output.write(formatRow(cells, widths ?? []));
    if (output.closedSignal.aborted) return;
  }
  if (!widths) await output.write('No results.\n');
}

/** The characters for an eighth of a block to a whole block. */
const BLOCKS = '▏▎▍▌▋▊▉█';
const MAX_BAR_LENGTH = 20;

/** Returns a bar for a fraction of the largest figure, from 0 to 1. `NaN` has no bar. */
function formatBar(fraction: number): string {
  const eighths = Math.ceil(Math.min(fraction || 0, 1) * MAX_BAR_LENGTH * BLOCKS.length);
  const part = BLOCKS[(eighths % BLOCKS.length) - 1] ?? '';
  return '█'.repeat(Math.floor(eighths / BLOCKS.length)) + part;
}

function formatCell(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(formatCell).join(' ');
  if (typeof value === 'object' && value !== null) return replaceControlCharacters(JSON.stringify(value));
  return replaceControlCharacters(String(value ?? '-'));
}

/** Returns the result of a record: for people, a line for each field, also for those of an object in the record. */
export function createRecordResult(record: object): MessageResult {
  const rows = Object.entries(record).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([inner, innerValue]) => [`${name}.${inner}`, innerValue] as const)
      : [[name, value] as const],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  const message = rows.map(([name, value]) => formatRow([name, formatCell(value)], [width, 0])).join('');
  return { json: record, message: message.trimEnd() };
}

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  const padded = cells.map((cell, i) => cell + ' '.repeat(Math.max(0, (widths[i] as number) - stringWidth(cell))));
  return `${padded.join('  ').trimEnd()}\n`;
}

/** Writes rejected items as they come, and then the result. As JSON, they are the field `rejected` of the result. */
async function writeReport({ rejected }: ReportResult, isJson: boolean, output: Output): Promise<MessageResult> {
  if (isJson) await output.write('{"rejected":[');
  for (let separator = ''; ; separator = ',\n') {
    const { done, value } = await rejected.next();
    if (!isJson) await output.write(`${value.message}\n`);
    else await output.write(done ? `],${toJson(value.json).slice(1)}\n` : separator + toJson(value.json));
    if (done) return value;
  }
}
