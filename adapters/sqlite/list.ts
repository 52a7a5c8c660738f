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
 * The maximum number of matches of a condition that a list reads through an index and then sorts. If a condition has more matches, a scan in the
 * order of the list usually finds enough of them for a page soon.
 */
const MAX_SORTED_COUNT = 1000;
/** The maximum number of rows that a list reads from its index without a pause. Reading them takes about 2 ms. */
const MAX_UNPAUSED_ROW_COUNT = 50_000;
/** The number of rows whose trigrams are examined between two pauses. */
const SEARCH_STEP_ROW_COUNT = 50_000;
/** The average number of rows after which a scan can pause. It can also pause at each match. */
const ROWS_PER_PAUSE = 256;

/** Work in small steps, because SQLite blocks the event loop while it reads. The work yields when it can pause, and returns its result. */
export type Steps<T> = Generator<void, T>;

/**
 * Returns a query that selects `columns` from the records of a list. Returns `undefined` if the records must be scanned
 * (`scanRows`).
 *
 * `findOrderedRows` finds the ordered rows: the rows of an index in the order of the list that meet the conditions that this
 * index serves. They are narrow (`isNarrow`) if one of these conditions requires a single value of a field that is not a flag: usually,
 * few rows have that value.
 *
 * 1. If a condition is on IDs or unique values, its rows are read and sorted.
 * 2. If the ordered rows meet all conditions, the page is read from their index. A page beyond `MAX_UNPAUSED_ROW_COUNT` is
 *    scanned.
 * 3. If another index (a candidate) shows that a condition has few matches, these matches are read and sorted. If the ordered rows are
 *    narrow, the only candidates are search indexes, and in a transaction, these are not tried.
 * 4. If there are ordered rows, they are scanned. Otherwise, all records of the workspace are read and sorted.
 */
export function* buildListQuery(
  database: Database,
  table: Table,
  workspaceId: string,
  query: Query<AnyRecord>,
  columns: string,
): Steps<Sql | undefined> {
  const { where, skip, take } = query;
  const sort = (rowQuery: Sql) => selectRows(table, query, columns, sortRows(table, workspaceId, query, rowQuery));
  const ordered = findOrderedRows(table, workspaceId, query);
  const candidates = findCandidates(table, workspaceId, where);
  if (candidates[0]?.type === 'lookup') return sort(candidates[0]);
  if (ordered?.filters.length === 0)
    return skip + take <= MAX_UNPAUSED_ROW_COUNT ? selectInOrder(table, ordered, query, columns) : undefined;
  for (const candidate of candidates) {
    if (candidate.type === 'index' && ordered?.isNarrow) continue;
    // The search index does not have the changes of this transaction.
    if (candidate.type === 'search' && database.isInTransaction) continue;
    const rowQuery = yield* collectRows(database, table, candidate);
    if (rowQuery) return sort(rowQuery);
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
  // The page is found in the index table alone. If `from` joined it with the table, SQLite would read the record of each skipped row.
  return selectRows(table, query, columns, select('item."row"', `${arrayIndex} item`));
}

/** Returns a query that reads `columns` of the rows that `rowQuery` selects, in the order of the list. */
export function selectRows(table: Table, { by, order }: Query<AnyRecord>, columns: string, rowQuery: Sql): Sql {
  const sql = `SELECT ${columns} FROM ${quote(table.name)} t NOT INDEXED WHERE "row" IN (${rowQuery.sql})
    ORDER BY ${toOrderBy('t', by, order)}`;
  return { sql, values: rowQuery.values };
}

/** Returns a query that filters and sorts the rows that `rowQuery` selects. It returns the row numbers of the page, as `row`. */
function sortRows(
  table: Table,
  workspaceId: string,
  { where, by, order, skip, take }: Query<AnyRecord>,
  rowQuery: Sql,
): Sql {
  const inWorkspace = { sql: 't."workspaceId" = ?', values: [workspaceId] };
  const filter = joinAll([...where.map((it) => toExpression(table, it)), inWorkspace]);
  // `NOT INDEXED` makes SQLite look up the rows by their numbers.
  const sql = `SELECT "row" FROM ${quote(table.name)} t NOT INDEXED WHERE "row" IN (${rowQuery.sql}) AND ${filter.sql}
    ORDER BY ${toOrderBy('t', by, order)} LIMIT ? OFFSET ?`;
  return { sql, values: [...rowQuery.values, ...filter.values, take, skip] };
}

/**
 * Returns a query of the rows that a candidate selects, or `undefined` if it selects more than `MAX_SORTED_COUNT`. A row that is
 * selected twice counts twice, and a search also selects rows of other workspaces.
 */
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
  return toRowQuery(found);
}

function toRowQuery(rowNumbers: readonly number[]): Sql {
  return { sql: 'SELECT value FROM json_each(?)', values: [JSON.stringify(rowNumbers)] };
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
  read: (rowQuery: Sql) => T,
): Steps<T> {
  const { from, where, orderBy, filters } = findOrderedRows(table, workspaceId, query) as OrderedRows;
  const filter = joinAll(filters.map((it) => toExpression(table, it)));
  // The query also returns a pseudo-random row now and then. At such a row, the scan can pause although the row does not match.
  const sql = `SELECT t."row", (${filter.sql}) AS "isMatch" FROM ${from} WHERE ${where.sql}
    AND ("isMatch" OR t."row" * 2654435761 / 65536 % ${ROWS_PER_PAUSE} = 0) ORDER BY ${orderBy}`;
  const deadline = performance.now() + LIST_TIMEOUT_MS;
  const found: number[] = [];
  let matchCount = 0;
  const scannedRows = database.iterate(sql, ...filter.values, ...where.values);
  try {
    for (const [row, isMatch] of scannedRows) {
      if (isMatch && ++matchCount > query.skip) found.push(row);
      if (found.length >= query.take) break;
      if (performance.now() > deadline) throw new CoreError('invalid', LIST_TOO_SLOW);
      yield;
    }
    return read(toRowQuery(found));
  } finally {
    scannedRows.return?.();
  }
}
