import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
// This package has the API of `node:sqlite`, which can replace the package when Node.js 20 and 22 are no longer
// supported (docs/adr/0021-sqlite.md).
import { DatabaseSync } from '@photostructure/sqlite';
import { LRUCache } from 'lru-cache';
import { StorageUnavailable } from '../../core/shared/core-error.ts';
import { STORAGE_TIMEOUT_MS } from '../persistence/storage-timeout.ts';

/** A value that a statement can bind. */
export type Value = string | number | null;
/** A part of a statement with the values of its parameters. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** Returns a value of a record as SQLite stores it. */
export function toValue(value: unknown): Value {
  return typeof value === 'boolean' ? Number(value) : ((value ?? null) as Value);
}

/**
 * Returns whether a text can be bound to a statement as it is. The driver would cut a text at NUL, and replace a lone
 * surrogate. No stored text has them, so a condition with such a text must match nothing.
 */
export const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\0');

/** Returns the value to bind: `NULL`, which equals nothing, instead of a text that no record has. */
const bind = (value: Value): Value => (typeof value === 'string' && !isStorable(value) ? null : value);

type Statement = ReturnType<Connection['prepare']>;
type Connection = InstanceType<typeof DatabaseSync>;

const MAX_RETRY_DELAY_MS = 3;
const BUSY_TOO_LONG = `Another process has used the database file for ${STORAGE_TIMEOUT_MS / 1_000} seconds: stop that process, or try again later.`;

/** The maximum number of prepared statements that a connection caches. */
const MAX_STATEMENT_COUNT = 500;

// Primary result codes (https://www.sqlite.org/rescode.html).
const BUSY = 5;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
/**
 * The codes of errors of `all` and `iterate`, by SQLite's messages. The package adds `errcode` only to the errors of
 * other methods.
 */
const codesByMessage: Readonly<Record<string, number>> = {
  'database is locked': BUSY,
  'disk I/O error': IO_ERROR,
  'database disk image is malformed': CORRUPT,
  'file is not a database': NOT_A_DATABASE,
};
/** The bits of an extended result code that are its primary result code. */
const PRIMARY_CODE = 0xff;

/** A connection to a file. All rows are arrays of the selected values. */
export class Database {
  private readonly database: Connection;
  private readonly statements = new LRUCache<string, Statement>({ max: MAX_STATEMENT_COUNT });
  /** The rows that the next commit must index, by the names of their tables, and whether they are new (search.ts). */
  readonly outdatedRows = new Map<string, Map<number, boolean>>();

  /** Opens an existing file. `pragmas` are statements to run first. */
  constructor(
    file: string,
    readonly isReadOnly: boolean,
    pragmas: string,
  ) {
    this.database = new DatabaseSync(file, { readOnly: isReadOnly, timeout: 0 });
    try {
      this.exec(pragmas);
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  get isInTransaction(): boolean {
    return this.database.isTransaction;
  }

  /** Runs statements without parameters and results. */
  exec(sql: string): void {
    this.database.exec(sql);
  }

  /** Runs a statement, and returns the number of rows that it changed. */
  run(sql: string, ...values: Value[]): number {
    return Number(this.prepare(sql).run(...values.map(bind)).changes);
  }

  /** Inserts a row, and returns its number. */
  insert(sql: string, ...values: Value[]): number {
    return Number(this.prepare(sql).run(...values.map(bind)).lastInsertRowid);
  }

  /** Returns all rows of a query. */
  // biome-ignore lint/suspicious/noExplicitAny: the types of a row are those of its query
  all(sql: string, ...values: readonly Value[]): any[][] {
    return this.prepare(sql).all(...values.map(bind));
  }

  /**
   * Reads rows one by one. Until the last row is read or the iterator is closed, the connection reads the same
   * snapshot.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the types of a row are those of its query
  iterate(sql: string, ...values: readonly Value[]): IterableIterator<any[]> {
    return this.prepare(sql).iterate(...values.map(bind));
  }

  /** Defines a function that statements of this connection can call. */
  defineFunction(name: string, work: (...values: readonly Value[]) => Value): void {
    this.database.function(name, { deterministic: true }, work as never);
  }

  /**
   * Closes the connection. If this is the last connection to its file, and it can write, SQLite copies the write-ahead
   * log into the file, and removes the log.
   */
  close(): Promise<void> {
    return Database.closeAll([this]);
  }

  /** Closes connections, in the given order. */
  static async closeAll(databases: readonly Database[]): Promise<void> {
    for (const { statements } of databases) statements.clear();
    // A statement keeps the file open until it is finalized. Only the garbage collector finalizes it, because the
    // package has no method for this.
    collectGarbage();
    await nextIteration();
    for (const { database } of databases) database.close();
  }

  private prepare(sql: string): Statement {
    let statement = this.statements.get(sql);
    if (!statement) {
      statement = this.database.prepare(sql);
      statement.setReturnArrays(true);
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/**
 * Reads with a new connection, and then closes the connection. So nothing is read from the cache of another connection.
 */
export function probeFile(file: string, sql: string): void {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

function hasCode(error: unknown, ...codes: readonly number[]): boolean {
  const { errcode, message = '' } = (error ?? {}) as { readonly errcode?: number; readonly message?: string };
  return codes.includes((errcode ?? codesByMessage[message] ?? 0) & PRIMARY_CODE);
}

export const isBusy = (error: unknown): boolean => hasCode(error, BUSY);
export const isDuplicate = (error: unknown): error is Error => hasCode(error, CONSTRAINT);
export const isDamaged = (error: unknown): boolean => hasCode(error, CORRUPT, NOT_A_DATABASE);

/** Converts an error of the file system, such as a full disk, to `StorageUnavailable`. Keeps other errors. */
export function toStorageError(error: unknown): unknown {
  if (!hasCode(error, IO_ERROR, FULL, CANNOT_OPEN)) return error;
  return new StorageUnavailable((error as Error).message, { cause: error });
}

/**
 * Runs `work`. While another process uses the file exclusively, repeats `work` after short random delays, for up to ten
 * seconds. SQLite itself would wait in a way that blocks the event loop and that is unfair to one of two busy
 * processes.
 */
export async function retryWhileBusy<T>(work: () => T): Promise<T> {
  let deadline: number | undefined;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) throw toStorageError(error);
      deadline ??= performance.now() + STORAGE_TIMEOUT_MS;
      if (performance.now() >= deadline) throw new StorageUnavailable(BUSY_TOO_LONG, { cause: error });
    }
    await delay(1 + (MAX_RETRY_DELAY_MS - 1) * Math.random());
  }
}
