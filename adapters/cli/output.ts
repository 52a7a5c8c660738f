import { once } from 'node:events';
import type { Answer, Listed, Reported, Told } from './command.ts';
import type { Terminal } from './progress.ts';
import { harmless, table } from './table.ts';

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

  async write(text: string): Promise<void> {
    if (this.closed.aborted || this.stream.write(text)) return;
    await once(this.stream, 'drain', { signal: this.closed }).catch(() => 'nobody reads any more');
  }

  /** Resolves when all is written, or cannot be. */
  flushed(): Promise<void> {
    return new Promise((resolve) => this.stream.write('', () => resolve()));
  }

  heading(text: string): string {
    return this.colors ? `\x1b[1m${text}\x1b[22m` : text;
  }
}

/** Writes an answer; `json` as one JSON value, else for people. Resolves to what a command told at last. */
export async function show(answer: Answer, json: boolean, output: Output): Promise<Told | undefined> {
  if ('rows' in answer) {
    await (json ? listAsJson(answer, output) : listAsTable(answer, output));
    return undefined;
  }
  if ('items' in answer) return json ? reportAsJson(answer, output) : report(answer, output);
  await output.write(`${json ? JSON.stringify(answer.json) : printable(answer.says)}\n`);
  return answer;
}

async function listAsJson({ rows }: Listed, output: Output): Promise<void> {
  let separator = '[';
  for await (const { json } of rows) {
    if (output.closed.aborted) return;
    await output.write(`${separator}${JSON.stringify(json)}`);
    separator = ',\n';
  }
  await output.write(separator === '[' ? '[]\n' : ']\n');
}

async function listAsTable({ rows, columns, none }: Listed, output: Output): Promise<void> {
  const cells: (readonly string[])[] = [];
  for await (const row of rows) cells.push(row.cells);
  if (cells.length === 0) return output.write(`${none}\n`);
  const [heading = '', ...lines] = table(columns, cells);
  await output.write(`${output.heading(heading)}\n`);
  for (const line of lines) await output.write(`${line}\n`);
}

async function reportAsJson({ name, items }: Reported, output: Output): Promise<Told> {
  await output.write(`{${JSON.stringify(name)}:[`);
  for (let separator = ''; ; separator = ',\n') {
    const { done, value } = await items.next();
    if (done) {
      await output.write(`],${JSON.stringify(value.json).slice(1)}\n`);
      return value;
    }
    await output.write(`${separator}${JSON.stringify(value.json)}`);
  }
}

async function report({ items }: Reported, output: Output): Promise<Told> {
  for (;;) {
    const { done, value } = await items.next();
    await output.write(`${printable(value.says)}\n`);
    if (done) return value;
  }
}

/** A text of several lines without what would move the cursor otherwise. */
export function printable(text: string): string {
  return text.split('\n').map(harmless).join('\n');
}
