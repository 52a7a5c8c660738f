import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Application } from '../../core/application.ts';
import { parse } from '../api/parse.ts';
import { type CommandField, createFields, type Values } from './fields.ts';
import type { ProgressLine } from './progress.ts';
import type { StorageTools } from './storage-tools.ts';

/** The application, streams and signals that a running command uses. */
export interface CommandContext {
  readonly app: Application;
  readonly storageTools: StorageTools;
  /** The maximum size of a request body of the API, in bytes. */
  readonly bodyLimit: number;
  /** Writes a line to the log: what a command has written. */
  logWrite(command: string, written: WrittenRecord): void;
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
  /** A value, or its JSON. */
  readonly json: object | string;
  readonly message: string;
  /** The exit code of a command that did not complete everything. Default: 0. */
  readonly exitCode?: number;
  /** Why the command ended early, or what is wrong with its result, such as missing records after a copy. */
  readonly error?: string;
  /** A possible mistake in a command that succeeded. */
  readonly warning?: string;
  /** The record that the command has changed, for the log. */
  readonly written?: WrittenRecord;
}

/** The record that a command has created, changed or deleted, and the member that it acted as. */
export interface WrittenRecord {
  readonly workspaceId: string;
  readonly memberId?: string | undefined;
  readonly recordId?: string | undefined;
}

/** A list of records, in pages. */
export interface TableResult {
  /** The pages as JSON arrays. */
  readonly pages: Iterable<string> | AsyncIterable<string>;
  /** The fields that the columns of the table show. */
  readonly columns: readonly string[];
  /** The field whose figures the table shows as bars, if it is written to a terminal. */
  readonly bar?: string | undefined;
  /** Printed to people after the table. */
  readonly hint?: string | undefined;
}

/** Rejected items, which are printed while the command runs, followed by a final result. */
export interface ReportResult {
  readonly rejected: AsyncGenerator<{ readonly json: object; readonly message: string }, MessageResult>;
}

export type CommandResult = MessageResult | TableResult | ReportResult;

/** A command. The parser, the help and the errors are derived from it. */
export interface Command {
  /** The words of the command, such as `member create`. */
  readonly name: string;
  /** A sentence without its period. */
  readonly summary: string;
  /** Sentences that the help shows after the summary. */
  readonly details: readonly string[];
  /** An example of usage: the words after the name. */
  readonly example: readonly string[];
  /** The arguments and the options. */
  readonly fields: readonly CommandField[];
  /** Whether the command may create the database. All other commands need records that exist already. */
  readonly createsDatabase?: boolean;
  /**
   * Whether SIGINT (Ctrl-C) and SIGTERM let the command stop early and report its result. Otherwise, they end the
   * process.
   */
  readonly handlesInterrupt?: boolean;
  /**
   * Validates the values before the storage is opened, and resolves to the function that runs the command. Rejects with
   * `invalid` for invalid values.
   */
  prepare(values: Values, stdin: Readable): Promise<(context: CommandContext) => Promise<CommandResult>>;
}

interface CommandDeclaration<Schema extends z.ZodObject>
  extends Pick<Command, 'name' | 'summary' | 'createsDatabase' | 'handlesInterrupt'> {
  readonly details?: readonly string[];
  readonly example: readonly string[];
  /** The names of the fields that are arguments. */
  readonly arguments?: readonly (keyof Schema['shape'] & string)[];
  /** The fields of the arguments and the options. Their values are texts, lists of texts, or booleans. */
  readonly fields: Schema;
  run(context: CommandContext, values: z.output<Schema>): Promise<CommandResult>;
}

/** Declares a command that is not an operation of the API. `run` gets the validated values of its fields. */
export function defineCommand<Schema extends z.ZodObject>(declaration: CommandDeclaration<Schema>): Command {
  const { fields, run, details = [] } = declaration;
  return {
    ...declaration,
    details,
    get fields() {
      return createFields(fields, declaration.arguments);
    },
    async prepare(values) {
      const valid = parse(fields, values);
      return (context) => run(context, valid);
    },
  };
}
