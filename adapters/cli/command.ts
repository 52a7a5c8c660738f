import type { Readable } from 'node:stream';
import { validate as isUuid, NIL } from 'uuid';
import { z } from 'zod';
import type { Application } from '../../core/application.ts';
import type { Operation } from '../api/operation.ts';
import type { ProgressLine } from './progress.ts';
import type { StorageTools } from './storage-tools.ts';

/** An option or an argument of a command. An option is optional if its schema accepts `undefined`. */
export interface Parameter<Schema extends z.ZodType = z.ZodType> {
  /** `--name <name>` for an option, `<member>` for an argument. */
  readonly syntax: string;
  readonly description: string;
  readonly schema: Schema;
  /** Whether the option can be given several times. Its schema is then the schema of an array. */
  readonly isRepeatable: boolean;
}

export function defineParameter<Schema extends z.ZodType>(
  syntax: string,
  description: string,
  schema: Schema,
  { isRepeatable = false } = {},
): Parameter<Schema> {
  return { syntax, description, schema, isRepeatable };
}

type Parameters = Readonly<Record<string, Parameter>>;
type ParameterValues<P extends Parameters> = { readonly [Name in keyof P]: z.output<P[Name]['schema']> };

/** The application, streams and signals that a running command uses. */
export interface CommandContext {
  readonly app: Application;
  readonly storageTools: StorageTools;
  /** The maximum size of a request body of the API, in bytes. */
  readonly bodyLimit: number;
  /** Returns the milliseconds since the epoch. */
  now(): number;
  /** Returns a new UUID version 7. */
  newId(): string;
  /**
   * Aborted when the output fails, or when its reader closes the pipe. If the command `handlesInterrupt`, also aborted
   * on SIGINT (Ctrl-C) and SIGTERM.
   */
  readonly signal: AbortSignal;
  readonly stdin: Readable;
  /** The progress display of a long command. */
  readonly progress: ProgressLine;
}

/** The exit code of a command that was interrupted: 128 + 2 (SIGINT), as in shells. */
export const INTERRUPTED_EXIT_CODE = 130;

/** A single result: `json` for programs, `message` for people. */
export interface MessageResult {
  readonly json: object;
  readonly message: string;
  /** The exit code of a command that did not complete everything. Default: 0. */
  readonly exitCode?: number;
  /** Why the command ended early, or what is wrong with its result, such as missing records after a copy. */
  readonly error?: string;
  /** A possible mistake in a command that succeeded. */
  readonly warning?: string;
}

/** A list of records: each one as JSON for programs, and as cells of a table row for people. */
export interface TableResult {
  readonly rows: AsyncIterable<{ readonly json: object; readonly cells: readonly string[] }>;
  readonly columns: readonly string[];
  /** Printed to people instead of an empty table. */
  readonly emptyMessage: string;
}

/** Rejected items, which are printed while the command runs, followed by a final result. */
export interface ReportResult {
  readonly rejected: AsyncGenerator<{ readonly json: object; readonly message: string }, MessageResult>;
}

export type CommandResult = MessageResult | TableResult | ReportResult;

/** The declaration of a command. The parser, the help and the reference in docs/command-line.md are derived from it. */
export interface Command<P extends Parameters = Parameters> {
  /** The words of the command, such as `member create`. */
  readonly name: string;
  /** A phrase that begins with a lower-case letter and ends without a period. */
  readonly summary: string;
  /** Sentences that the help shows after the summary. */
  readonly details?: string;
  /** An example of usage, without `advocacy`. */
  readonly example: string;
  readonly parameters: P;
  /** Whether the command may create the database. All other commands need records that exist already. */
  readonly createsDatabase?: boolean;
  /**
   * Whether SIGINT (Ctrl-C) and SIGTERM let the command stop early and report its result. Otherwise, they end the
   * process.
   */
  readonly handlesInterrupt?: boolean;
  run(context: CommandContext, values: ParameterValues<P>): Promise<CommandResult>;
}

/** Declares a command. `run` gets the values of its parameters with their types. */
export function defineCommand<P extends Parameters>(command: Command<P>): Command {
  return command;
}

/** An ID in upper or lower case. A malformed ID is replaced by one that no record has, so no storage gets it. */
export const idSchema = z
  .string()
  .trim()
  .transform((id) => (isUuid(id) ? id.toLowerCase() : NIL));

export const workspaceOption = defineParameter('--workspace <id>', 'ID of the workspace', idSchema);

/** Returns only the given fields of a record, in the given order. */
export function pickFields(record: object, fields: readonly string[]): object {
  const values = record as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.map((field) => [field, values[field]]));
}

/** Returns the names of the fields in the response of an API operation. */
export function getResponseFields({ response }: Operation): readonly string[] {
  return Object.keys((response as z.ZodObject).shape);
}

/** A list of records, as programs and people see it. */
interface ListView<T> {
  /** The fields of each record in JSON. By default, all. */
  readonly fields?: readonly string[];
  /** The columns of the table by their headings: a field, or a function that returns the text of a cell. */
  readonly columns: Readonly<Record<string, (keyof T & string) | ((record: T) => string)>>;
  /** Printed to people instead of an empty table. */
  readonly emptyMessage: string;
}

/** Returns the result of a command that lists records. */
export function createTableResult<T extends object>(
  records: AsyncIterable<T>,
  { fields, columns, emptyMessage }: ListView<T>,
): TableResult {
  const createRows = async function* () {
    for await (const record of records) {
      const cells = Object.values(columns).map((column) =>
        typeof column === 'function' ? column(record) : formatCell(record[column]),
      );
      yield { json: fields ? pickFields(record, fields) : record, cells };
    }
  };
  return { rows: createRows(), columns: Object.keys(columns), emptyMessage };
}

function formatCell(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(' ') : String(value ?? '-');
}

interface ListDefinition<T> extends ListView<T> {
  readonly name: string;
  readonly summary: string;
  readonly iterate: (app: Application, workspaceId: string) => AsyncIterable<T>;
}

/** Declares a command that lists all records of a type in a workspace. */
export function defineListCommand<T extends object>({ name, summary, iterate, ...view }: ListDefinition<T>): Command {
  return defineCommand({
    name,
    summary,
    example: `${name} --workspace 0190…`,
    parameters: { workspaceId: workspaceOption },
    run: async ({ app }, { workspaceId }) => createTableResult(iterate(app, workspaceId), view),
  });
}
