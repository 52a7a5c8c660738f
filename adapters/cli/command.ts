import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import type { Operation } from '../api/operation.ts';
import type { ProgressLine } from './progress.ts';

/** An option or an argument of a command; an option whose schema takes `undefined` may be left out. */
export interface Parameter<Schema extends z.ZodType = z.ZodType> {
  /** As it is written: `--name <name>`, or `<member>` for an argument. */
  readonly written: string;
  readonly means: string;
  readonly schema: Schema;
  /** Whether the option may be given several times; its schema is one of an array. */
  readonly repeats: boolean;
  /** What `--no-…` of an option that repeats means, where there is that: an empty array. */
  readonly clears?: string;
}

export function parameter<Schema extends z.ZodType>(
  written: string,
  means: string,
  schema: Schema,
  { repeats = false } = {},
): Parameter<Schema> {
  return { written, means, schema, repeats };
}

type Parameters = Readonly<Record<string, Parameter>>;
type Given<P extends Parameters> = { readonly [Name in keyof P]: z.output<P[Name]['schema']> };

/** What a command works with. */
export interface Session {
  readonly app: Application;
  /** The largest body that the API takes, in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new UUID version 7. */
  newId(): string;
  /**
   * Is aborted when the operator wants an end: by closing what reads the output or, where the command `endsItself`, by
   * Ctrl-C.
   */
  readonly stop: AbortSignal;
  readonly stdin: Readable;
  /** Shows how far a long command has come. */
  readonly progress: ProgressLine;
}

/** The exit code of a command that was stopped before its end, as shells have it for Ctrl-C. */
export const STOPPED = 130;

/** A record: `json` for programs, a sentence for people. */
export interface Message {
  readonly json: object;
  readonly says: string;
  /** Given, with what went wrong, where not all that was asked for is done. */
  readonly exitCode?: number;
  readonly error?: string;
  /** A possible mistake in a command that succeeded. */
  readonly warning?: string;
}

/** Records, one by one: each as JSON for programs, as the cells of a row for people. */
export interface Table {
  readonly rows: AsyncIterable<{ readonly json: object; readonly cells: readonly string[] }>;
  readonly columns: readonly string[];
  /** Says that there are none. */
  readonly none: string;
}

/** A record that has many items under a name: they are told as they come, the rest of the record at last. */
export interface Report {
  readonly name: string;
  readonly items: AsyncGenerator<{ readonly json: object; readonly says: string }, Message>;
}

export type CommandResult = Message | Table | Report;

/** A command, declared once: the parser, the help, the reference and the tests are made from it. */
export interface Command {
  /** Its words, as `member create`. */
  readonly name: string;
  readonly does: string;
  /** What follows `advocacy` in an example of it. */
  readonly example: string;
  /** More than a sentence of help, where one does not do. */
  readonly more: string;
  readonly parameters: Parameters;
  /** Whether it comes to an end by itself when it is stopped by Ctrl-C, and tells what it has done. */
  readonly endsItself: boolean;
  run(session: Session, given: Readonly<Record<string, unknown>>): Promise<CommandResult>;
}

interface Declaration<P extends Parameters> {
  readonly name: string;
  readonly does: string;
  readonly example: string;
  readonly more?: string;
  readonly parameters: P;
  readonly endsItself?: boolean;
  run(session: Session, given: Given<P>): Promise<CommandResult>;
}

/** Declares a command. */
export function command<P extends Parameters>({
  more = '',
  endsItself = false,
  run,
  ...declared
}: Declaration<P>): Command {
  return { more, endsItself, ...declared, run: (session, given) => run(session, given as Given<P>) };
}

/** An id in either case; whether something has it, the use case tells. */
export const anyId = z.string().trim().toLowerCase();

export const workspaceOption = parameter('--workspace <id>', 'the workspace', anyId);

/** The fields of a record that are shown, in their order. */
export function picked(record: object, fields: readonly string[]): object {
  const values = record as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.map((field) => [field, values[field]]));
}

/** The fields of the record that an operation of the API answers. */
export function apiFields({ response: reply }: Operation): readonly string[] {
  return Object.keys((reply as z.ZodObject).shape);
}

/** What a list shows of a record in a column: its heading, and the cell. */
export type Column<T> = readonly [heading: string, cell: (record: T) => string];

/** Lists records: `fields` of each for programs, `columns` for people. */
export function listed<T extends object>(
  records: AsyncIterable<T>,
  fields: readonly string[],
  columns: readonly Column<T>[],
  none: string,
): Table {
  const rows = async function* () {
    for await (const record of records) {
      yield { json: picked(record, fields), cells: columns.map(([, cell]) => cell(record)) };
    }
  };
  return { rows: rows(), columns: columns.map(([heading]) => heading), none };
}
