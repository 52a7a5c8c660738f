import { GroupSums } from '../persistence/group-sums.ts';
import { MAX_SORTED_COUNT } from '../persistence/list-plan.ts';
import type { AnyRecord, Query, SumQuery } from '../persistence/record-store.ts';
import type { Database, Sql } from './database.ts';
import { quote, type Table } from './layout.ts';
import { type Candidate, joinAll, type ListStatements, type OrderedRows, toExpression, toOrderBy } from './query.ts';

/** The maximum number of rows that a list reads from its index without a pause. Reading them takes about 2 ms. */
const MAX_UNPAUSED_ROW_COUNT = 50_000;
/** The range of row numbers in which a search compares the rows of its tokens without a pause: about 2 ms. */
const SEARCHED_ROW_COUNT = 20_000;
/**
 * The number of rows that are tested between two pauses; in a scan, the average number. Finding a term in a text of
 * 5,000 characters takes up to 0.1 ms.
 */
const ROWS_PER_PAUSE = 64;

/**
 * Work in small steps, because SQLite blocks the event loop while it reads. The work yields when it can pause, and
 * returns its result.
 */
export type Steps<T> = Generator<void, T>;

// A page is read as adapters/persistence/list-plan.ts says, with two additions. If an index has all rows of the list in
// its order, `buildPageQuery` reads the page with one query, like that of a lookup. Other lists take several steps
// (`readRows`). A search index is tried before the selective ones, because few rows have a term.

/** Returns the query of `columns` of the page, or `undefined` if the page must be read in steps. */
export function buildPageQuery(
  table: Table,
  workspaceId: string,
  query: Query<AnyRecord>,
  { lookup, ordered }: ListStatements,
  columns: string,
): Sql | undefined {
  const { skip, take } = query;
  if (lookup) {
    const filter = toFilter(table, workspaceId, query.where);
    const sql = `SELECT t."row" FROM ${quote(table.name)} t NOT INDEXED WHERE t."row" IN (${lookup.sql}) AND ${filter.sql}
      ORDER BY ${toOrderBy('t', query.by, query.order)} LIMIT ? OFFSET ?`;
    return selectRows(table, query, columns, { sql, values: [...lookup.values, ...filter.values, take, skip] });
  }
  if (ordered?.filters.length !== 0 || skip + take > MAX_UNPAUSED_ROW_COUNT) return undefined;
  return selectInOrder(table, ordered, query, columns);
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
  // The page is found in the index table alone. If `from` joined it with the table, SQLite would read the record of
  // each skipped row.
  return selectRows(table, query, columns, select('item."row"', `${arrayIndex} item`));
}

/** Returns a query that reads `columns` of the rows that `rowQuery` selects, in the order of the list. */
export function selectRows(table: Table, { by, order }: Query<AnyRecord>, columns: string, rowQuery: Sql): Sql {
  const sql = `SELECT ${columns} FROM ${quote(table.name)} t NOT INDEXED WHERE "row" IN (${rowQuery.sql})
    ORDER BY ${toOrderBy('t', by, order)}`;
  return { sql, values: rowQuery.values };
}

/**
 * Finds the rows of a page in steps, which all see the same data, and passes a query of their row numbers to `read`.
 */
export function* readRows<T>(
  database: Database,
  table: Table,
  workspaceId: string,
  query: Query<AnyRecord>,
  { ordered, candidates }: ListStatements,
  read: (rowQuery: Sql) => T,
): Steps<T> {
  for (const candidate of candidates) {
    // The search index does not have the changes of a transaction yet.
    if (candidate.type === 'search' && !database.isReadOnly) continue;
    const rows = yield* findMatches(database, table, workspaceId, query, candidate);
    if (rows) return read(sortRows(table, query, toRowQuery(rows)));
  }
  if (ordered) return yield* scanRows(database, table, query, ordered, read);
  const filter = toFilter(table, workspaceId, query.where);
  return read(
    sortRows(table, query, {
      sql: `SELECT "row" FROM ${quote(table.name)} t WHERE ${filter.sql}`,
      values: filter.values,
    }),
  );
}

/** Returns the expression of all conditions of a query. */
function toFilter(table: Table, workspaceId: string, where: Query<AnyRecord>['where']): Sql {
  return joinAll([
    { sql: 't."workspaceId" = ?', values: [workspaceId] },
    ...where.map((it) => toExpression(table, it)),
  ]);
}

/** Returns a query that sorts the rows that `rowQuery` selects. It returns the row numbers of the page, as `row`. */
function sortRows(table: Table, { by, order, skip, take }: Query<AnyRecord>, rowQuery: Sql): Sql {
  // `NOT INDEXED` makes SQLite look up the rows by their numbers.
  const sql = `SELECT "row" FROM ${quote(table.name)} t NOT INDEXED WHERE "row" IN (${rowQuery.sql})
    ORDER BY ${toOrderBy('t', by, order)} LIMIT ? OFFSET ?`;
  return { sql, values: [...rowQuery.values, take, skip] };
}

function toRowQuery(rowNumbers: readonly number[]): Sql {
  return { sql: 'SELECT value FROM json_each(?)', values: [JSON.stringify(rowNumbers)] };
}

/**
 * Returns the rows of a candidate that meet all conditions, or `undefined` if they seem to be more than
 * `MAX_SORTED_COUNT`. A row that an index selects twice counts twice.
 */
function* findMatches(
  database: Database,
  table: Table,
  workspaceId: string,
  query: Query<AnyRecord>,
  candidate: Candidate,
): Steps<number[] | undefined> {
  const isSearch = candidate.type === 'search';
  const list = (sql: string, values: Sql['values']): number[] =>
    JSON.parse(database.all(`SELECT json_group_array("row") FROM (${sql})`, ...values)[0]?.[0]);
  // A search examines the rows up to the row number `last` in several steps. For an index, one step reads all rows.
  const [[last] = []] = isSearch ? database.all(`SELECT max("row") FROM ${quote(table.name)}`) : [[1]];
  const filter = toFilter(table, workspaceId, query.where);
  const found = new Set<number>();
  for (let after = 0; after < last; ) {
    const range = isSearch ? [after, after + SEARCHED_ROW_COUNT] : [];
    const rows = list(`${candidate.sql} LIMIT ?`, [...candidate.values, ...range, MAX_SORTED_COUNT + 1]);
    const isFrequent = rows.length > MAX_SORTED_COUNT;
    if (isFrequent && !isSearch) return undefined;
    for (let i = 0; i < rows.length; i += ROWS_PER_PAUSE) {
      yield;
      const { sql, values } = toRowQuery(rows.slice(i, i + ROWS_PER_PAUSE));
      const tested = `SELECT t."row" FROM ${quote(table.name)} t NOT INDEXED WHERE t."row" IN (${sql}) AND ${filter.sql}`;
      const matches = list(tested, [...values, ...filter.values]);
      for (const row of matches) found.add(row);
      // A search can select many rows that have its tokens, but not its term. Then a scan would find no page soon.
      if (found.size > MAX_SORTED_COUNT || (isFrequent && matches.length > ROWS_PER_PAUSE / 4)) return undefined;
    }
    after = isFrequent ? (rows.at(-1) as number) : after + SEARCHED_ROW_COUNT;
    yield;
  }
  return [...found];
}

/** Tests rows in the order of a list, until the page is full. */
function* scanRows<T>(
  database: Database,
  table: Table,
  query: Query<AnyRecord>,
  { from, where, orderBy, filters }: OrderedRows,
  read: (rowQuery: Sql) => T,
): Steps<T> {
  const filter = joinAll(filters.map((it) => toExpression(table, it)));
  // The query also returns a pseudo-random row now and then. At such a row, the scan can pause although the row does
  // not match.
  const sql = `SELECT t."row", (${filter.sql}) AS "isMatch" FROM ${from} WHERE ${where.sql}
    AND ("isMatch" OR t."row" * 2654435761 / 65536 % ${ROWS_PER_PAUSE} = 0) ORDER BY ${orderBy}`;
  const found: number[] = [];
  let matchCount = 0;
  const scannedRows = database.iterate(sql, ...filter.values, ...where.values);
  try {
    for (const [row, isMatch] of scannedRows) {
      if (isMatch && ++matchCount > query.skip) found.push(row);
      if (found.length >= query.take) break;
      yield;
    }
    return read(toRowQuery(found));
  } finally {
    scannedRows.return?.();
  }
}

/** Adds up records in steps (`RecordStore.sum`). `SUM` of SQLite would not pause. */
export function* readSums(
  database: Database,
  table: Table,
  workspaceId: string,
  { where, ...query }: SumQuery<AnyRecord>,
): Steps<AnyRecord[]> {
  const sums = new GroupSums(query);
  const filter = toFilter(table, workspaceId, where);
  const columns = sums.fields.map((field) => `t.${quote(field)}`);
  const rows = database.iterate(`SELECT ${columns} FROM ${quote(table.name)} t WHERE ${filter.sql}`, ...filter.values);
  try {
    for (const values of rows) {
      sums.add(values);
      yield;
    }
    return sums.list();
  } finally {
    rows.return?.();
  }
}
