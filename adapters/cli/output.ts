import { once } from 'node:events';
import type { CommandResult, Message, Report, Table } from './command.ts';
import type { Terminal } from './progress.ts';
import { tableLine, type Widths, widthsOf } from './table.ts';
import { harmlessJson, printable } from './terminal-text.ts';

/** The number of rows that set the column widths of a table. Later rows are written as they arrive. */
const SAMPLE_ROWS = 1_000;

/** Where answers go. When they cannot be written any more, `closed` is aborted and what follows is not written. */
export class Output {
  private readonly closing = new AbortController();
  readonly closed = this.closing.signal;
  /** Why they could not be written, where it is not that whoever reads them closed the pipe. */
  problem: string | undefined;

  constructor(
    private readonly stream: Terminal,
    private readonly colors: boolean,
  ) {
    stream.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!this.closed.aborted && code !== 'EPIPE') this.problem = message;
      this.closing.abort();
    });
  }

  /** The width of the terminal, in cells. `undefined` if the output is not a terminal. */
  get columns(): number | undefined {
    return (this.stream.isTTY && this.stream.columns) || undefined;
  }

  /** Writes a text, with its control characters replaced: they may come from records. */
  write(text: string): Promise<void> {
    return this.writeRaw(printable(text));
  }

  /** Writes the heading of a table. */
  writeHeading(text: string): Promise<void> {
    return this.writeRaw(this.colors ? `\x1b[1m${text}\x1b[22m\n` : `${text}\n`);
  }

  private async writeRaw(text: string): Promise<void> {
    if (this.closed.aborted || this.stream.write(text)) return;
    await once(this.stream, 'drain', { signal: this.closed }).catch(() => 'nobody reads any more');
  }

  /** Resolves when all is written, or cannot be. */
  flushed(): Promise<void> {
    return new Promise((resolve) => this.stream.write('', () => resolve()));
  }
}

/** Writes an answer; `json` as one JSON value, else for people. Resolves to what a command told at last. */
export async function show(answer: CommandResult, json: boolean, output: Output): Promise<Message | undefined> {
  if ('rows' in answer) {
    await (json ? listAsJson(answer, output) : listAsTable(answer, output));
    return undefined;
  }
  if ('items' in answer) return json ? reportAsJson(answer, output) : report(answer, output);
  await output.write(`${json ? harmlessJson(answer.json) : answer.says}\n`);
  return answer;
}

async function listAsJson({ rows }: Table, output: Output): Promise<void> {
  let separator = '[';
  for await (const { json } of rows) {
    if (output.closed.aborted) return;
    await output.write(`${separator}${harmlessJson(json)}`);
    separator = ',\n';
  }
  await output.write(separator === '[' ? '[]\n' : ']\n');
}

/** Writes a table row by row. On a terminal, lines are cut to its width. Otherwise nothing is cut. */
async function listAsTable({ rows, columns, none }: Table, output: Output): Promise<void> {
  const fits = output.columns !== undefined;
  const sample: (readonly string[])[] = [];
  let widths: Widths | undefined;
  const begin = async () => {
    widths = widthsOf(columns, sample, output.columns);
    await output.writeHeading(tableLine(columns, widths, fits));
    for (const cells of sample) await output.write(`${tableLine(cells, widths, fits)}\n`);
  };
  for await (const { cells } of rows) {
    if (widths) await output.write(`${tableLine(cells, widths, fits)}\n`);
    else if (sample.push(cells) === SAMPLE_ROWS) await begin();
    if (output.closed.aborted) return;
  }
  if (sample.length === 0) await output.write(`${none}\n`);
  else if (!widths) await begin();
}

async function reportAsJson({ name, items }: Report, output: Output): Promise<Message> {
  await output.write(`{${JSON.stringify(name)}:[`);
  for (let separator = ''; ; separator = ',\n') {
    const { done, value } = await items.next();
    if (done) {
      await output.write(`],${harmlessJson(value.json).slice(1)}\n`);
      return value;
    }
    await output.write(`${separator}${harmlessJson(value.json)}`);
  }
}

async function report({ items }: Report, output: Output): Promise<Message> {
  for (;;) {
    const { done, value } = await items.next();
    await output.write(`${value.says}\n`);
    if (done) return value;
  }
}
