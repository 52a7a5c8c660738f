import { CoreError } from '../../core/shared/core-error.ts';
import { LIST_TIMEOUT_MS, LIST_TOO_SLOW, type Query } from '../persistence/record-store.ts';
import type { Database, Sql } from './database.ts';
import { type AnyRecord, quote, type Table } from './layout.ts';
import {
  type Candidate,
  findCandidates,
  findOrderedRows,
  joinAll,
  type OrderedRows,
  toExpression,
  toOrderBy,
} from './query.ts';

/**
 * The maximum number of matches of a condition that are read and sorted. If a condition has more matches, the rows are read in the order of
 * the list, because enough matches for a page are then found soon.
 */
const MAX_SORTED_COUNT = 1000;
/** The maximum number of rows that a list reads from its index without a pause. Reading them takes about 2 ms. */
const MAX_UNPAUSED_ROW_COUNT = 50_000;
/** The number of rows whose trigrams are examined between two pauses. */
const SEARCH_STEP_ROW_COUNT = 50_000;
/** A scan can pause at about one row in this many, and at each match. */
const ROWS_PER_PAUSE = 256;

/** Work in small steps, because SQLite blocks the event loop while it reads. The work yields when it can pause, and returns its result. */
export type Steps<T> = Generator<void, T>;

/**
 * Returns a query that selects `columns` from the records of a list. Returns `undefined` if the records must be scanned (`scanRows`).
 *
 * 1. If a condition is on IDs or unique values, its rows are read and sorted.
 * 2. If an index has exactly the records of the list in the order of the list, the page is read from this index. A page beyond
 *    `MAX_UNPAUSED_ROW_COUNT` is scanned.
 * 3. If an index shows that a condition matches few records, these records are read and sorted. Search indexes are not tried in a
 *    transaction. Other indexes are not tried if the index of step 4 `isNarrow`.
 * 4. If an index has the order of the list, its records are scanned. Otherwise, all records of the workspace are read and sorted.
 */
export function* buildListQuery(
  database: Database,
  table: Table,
  workspaceId: string,
  query: Query<AnyRecord>,
  columns: string,
): Steps<Sql | undefined> {
  const { where, skip, take } = query;
  const sort = (rows: Sql) => selectRows(table, query, columns, sortRows(table, workspaceId, query, rows));
  const ordered = findOrderedRows(table, workspaceId, query);
  const candidates = findCandidates(table, workspaceId, where);
  if (candidates[0]?.type === 'lookup') return sort(candidates[0]);
  if (ordered?.filters.length === 0)
    return skip + take <= MAX_UNPAUSED_ROW_COUNT ? selectInOrder(table, ordered, query, columns) : undefined;
  for (const candidate of candidates) {
    if (candidate.type === 'index' && ordered?.isNarrow) continue;
    // The search index does not have the changes of this transaction.
    if (candidate.type === 'search' && database.isInTransaction) continue;
    const rows = yield* collectRows(database, table, candidate);
    if (rows) return sort(rows);
  }
  if (ordered) return undefined;
  const sql = `SELECT "row" FROM ${quote(table.name)} WHERE "workspaceId" = ?`;
  return sort({ sql, values: [workspaceId] });
}

function selectInOrder(
  table: Table,
  { from, arrayIndex, where, orderBy }: OrderedRows,
  query: Query<AnyRecord>,
  columns: string,
): Sql {
  const select = (selected: string, source: string): Sql => ({
    sql: `SELECT ${selected} FROM ${source} WHERE ${where.sql} ORDER BY ${orderBy} LIMIT ? OFFSET ?`,
    values: [...where.values, query.take, query.skip],
  });
  if (arrayIndex === undefined) return select(columns, from);
  // With a join, SQLite would look up the record of each row that it skips.
  return selectRows(table, query, columns, select('item."row"', `${arrayIndex} item`));
}

/** Returns a query that reads `columns` of the rows that `rows` selects, in the order of the list. */
export function selectRows(table: Table, { by, order }: Query<AnyRecord>, columns: string, rows: Sql): Sql {
  const sql = `SELECT ${columns} FROM ${quote(table.name)} t NOT INDEXED WHERE "row" IN (${rows.sql})
    ORDER BY ${toOrderBy('t', by, order)}`;
  return { sql, values: rows.values };
}

/** Returns a query that filters and sorts the rows that `rows` selects, and returns the rows of the page, as `row`. */
function sortRows(
  table: Table,
  workspaceId: string,
  { where, by, order, skip, take }: Query<AnyRecord>,
  rows: Sql,
): Sql {
  const inWorkspace = { sql: 't."workspaceId" = ?', values: [workspaceId] };
  const filter = joinAll([...where.map((it) => toExpression(table, it)), inWorkspace]);
  // `NOT INDEXED` makes SQLite look up the rows by their numbers.
  const sql = `SELECT "row" FROM ${quote(table.name)} t NOT INDEXED WHERE "row" IN (${rows.sql}) AND ${filter.sql}
    ORDER BY ${toOrderBy('t', by, order)} LIMIT ? OFFSET ?`;
  return { sql, values: [...rows.values, ...filter.values, take, skip] };
}

/** Returns a query of the rows that meet a condition, or `undefined` if more than `MAX_SORTED_COUNT` rows meet it. */
function* collectRows(database: Database, table: Table, candidate: Candidate): Steps<Sql | undefined> {
  const isSearch = candidate.type === 'search';
  // A search examines the rows up to the row number `last` in several steps. For any other type, one step reads all rows.
  const [[last] = []] = isSearch ? database.all(`SELECT max("row") FROM ${quote(table.name)}`) : [[1]];
  const step = isSearch ? SEARCH_STEP_ROW_COUNT : 1;
  const found: number[] = [];
  for (let after = 0; after < last; after += step) {
    if (after > 0) yield;
    const range = isSearch ? [after, after + step] : [];
    const limit = MAX_SORTED_COUNT + 1 - found.length;
    const sql = `SELECT json_group_array("row") FROM (${candidate.sql} LIMIT ?)`;
    found.push(...JSON.parse(database.all(sql, ...candidate.values, ...range, limit)[0]?.[0]));
    if (found.length > MAX_SORTED_COUNT) return undefined;
  }
  return toRowsQuery(found);
}

function toRowsQuery(rows: readonly number[]): Sql {
  return { sql: 'SELECT value FROM json_each(?)', values: [JSON.stringify(rows)] };
}

/**
 * Reads rows in the order of a list, and tests the conditions on each row, until the page is full. Calls `read` with a query of the rows of
 * the page, while the connection still reads the same snapshot. Throws `invalid` if the scan takes too long.
 */
export function* scanRows<T>(
  database: Database,
  table: Table,
  workspaceId: string,
  query: Query<AnyRecord>,
  read: (rows: Sql) => T,
): Steps<T> {
  const { from, where, orderBy, filters } = findOrderedRows(table, workspaceId, query) as OrderedRows;
  const filter = joinAll(filters.map((it) => toExpression(table, it)));
  // The query also returns a pseudo-random row now and then. At such a row, the scan can pause although the row does not match.
  const sql = `SELECT t."row", (${filter.sql}) AS "isMatch" FROM ${from} WHERE ${where.sql}
    AND ("isMatch" OR t."row" * 2654435761 / 65536 % ${ROWS_PER_PAUSE} = 0) ORDER BY ${orderBy}`;
  const deadline = performance.now() + LIST_TIMEOUT_MS;
  const found: number[] = [];
  let matchCount = 0;
  const rows = database.iterate(sql, ...filter.values, ...where.values);
  try {
    for (const [row, isMatch] of rows) {
      if (isMatch && ++matchCount > query.skip) found.push(row);
      if (found.length >= query.take) break;
      if (performance.now() > deadline) throw new CoreError('invalid', LIST_TOO_SLOW);
      yield;
    }
    return read(toRowsQuery(found));
  } finally {
    rows.return?.();
  }
}
