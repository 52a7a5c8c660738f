import { type ListPlan, planList } from '../persistence/list-plan.ts';
import type { AnyRecord, Condition, OneOf, Query } from '../persistence/record-store.ts';
import { type Sql, toValue, type Value } from './database.ts';
import { type Index, quote, type Table } from './layout.ts';
import { toSearchQuery } from './search.ts';

/** Returns an expression that is true if all of the given expressions are true. */
export const joinAll = (parts: readonly Sql[]): Sql => ({
  sql: parts.map(({ sql }) => sql).join(' AND ') || 'TRUE',
  values: parts.flatMap(({ values }) => values),
});

/**
 * Returns the value of an `in` condition that has exactly one distinct value. Returns `undefined` for any other
 * condition.
 */
function findSingleValue(condition: Condition<AnyRecord>): Value | undefined {
  if (!('in' in condition)) return undefined;
  const values = new Set(condition.in);
  return values.size === 1 ? toValue([...values][0]) : undefined;
}

/**
 * Returns the expression that is true for the records that meet a condition. In the statement, `t` must be the alias of
 * the table.
 */
export function toExpression(table: Table, condition: Condition<AnyRecord>): Sql {
  const { field } = condition;
  const column = toColumn(table, field);
  if ('contains' in condition) return { sql: `instr(${column}, ?) > 0`, values: [condition.contains] };
  if (!('in' in condition)) return toRangeFilter(column, condition);
  const only = findSingleValue(condition);
  const oneOf = only === undefined ? 'IN (SELECT value FROM json_each(?))' : '= ?';
  const values = [only ?? JSON.stringify(condition.in)];
  const index = table.indexes.find(({ array }) => array === field);
  if (!index) return { sql: `${column} ${oneOf}`, values };
  const key = ['workspaceId', ...index.fields, 'id'].filter((it) => it !== field);
  const isSameRecord = key.map((it) => `item.${quote(it)} = t.${quote(it)}`).join(' AND ');
  // Not `EXISTS`: SQLite 3.53.0 returns a wrong result for it beside `LIMIT` and `OFFSET`.
  return {
    sql: `(SELECT count(*) FROM ${quote(index.name)} item WHERE item.${quote(field)} ${oneOf} AND ${isSameRecord}) > 0`,
    values,
  };
}

function toRangeFilter(column: string, { from, to }: { from?: number; to?: number }): Sql {
  const bounds = [
    ...(from === undefined ? [] : [{ sql: `${column} >= ?`, values: [from] }]),
    ...(to === undefined ? [] : [{ sql: `${column} <= ?`, values: [to] }]),
  ];
  return joinAll(bounds);
}

function toColumn({ columns }: Table, field: string): string {
  const isColumn = field === 'id' || field in columns;
  return isColumn ? `t.${quote(field)}` : `json_extract(t."record", '$.${field}')`;
}

/** The parts of a statement that reads rows of a table from an index, in the order of a list. */
export interface OrderedRows {
  /** The index and the table, which has the alias `t`. */
  readonly from: string;
  /** The conditions that the index serves. */
  readonly where: Sql;
  /**
   * The index table, if the index is on an array. Its alias is `item`, and it has all columns of `where` and `orderBy`.
   */
  readonly arrayIndex: string | undefined;
  readonly orderBy: string;
  /** The conditions that the index does not serve. */
  readonly filters: readonly Condition<AnyRecord>[];
}

/** The statements for the indexes that can serve a list (adapters/persistence/list-plan.ts). */
export interface ListStatements {
  readonly lookup: Sql | undefined;
  readonly ordered: OrderedRows | undefined;
  /** The queries to try before `ordered`, in this order. */
  readonly candidates: readonly Candidate[];
}

export function buildListStatements(table: Table, workspaceId: string, query: Query<AnyRecord>): ListStatements {
  const plan = planList(table.schema, query, false);
  const candidates = findCandidates(table, workspaceId, query.where, plan);
  return {
    lookup: candidates.find(({ type }) => type === 'lookup'),
    ordered: plan.ordered && toOrderedRows(table, workspaceId, query, plan.ordered),
    candidates: candidates.filter(({ type }) => type === 'search' || (type === 'index' && !plan.ordered?.isSelective)),
  };
}

function toOrderedRows(
  table: Table,
  workspaceId: string,
  { where, by, order }: Query<AnyRecord>,
  { fields, fixed }: NonNullable<ListPlan['ordered']>,
): OrderedRows {
  const name = quote(table.name);
  const index = table.indexes.find((it) => it.fields === fields) as Index;
  const arrayIndex = index.array === undefined ? undefined : quote(index.name);
  const source = arrayIndex === undefined ? 't' : 'item';
  const ranges = where.filter((it) => it.field === by && ('from' in it || 'to' in it));
  const served: readonly Condition<AnyRecord>[] = [...fixed, ...ranges];
  const conditions: Sql[] = [
    { sql: `${source}."workspaceId" = ?`, values: [workspaceId] },
    ...fixed.map((it) => ({ sql: `${source}.${quote(it.field)} = ?`, values: [findSingleValue(it) as Value] })),
    ...ranges.map((it) => toRangeFilter(`${source}.${quote(by)}`, it as object)),
  ];
  return {
    from:
      arrayIndex === undefined
        ? `${name} t INDEXED BY ${quote(index.name)}`
        : `${arrayIndex} item CROSS JOIN ${name} t ON t."row" = item."row"`,
    arrayIndex,
    where: joinAll(conditions),
    orderBy: toOrderBy(source, by, order),
    filters: where.filter((it) => !served.includes(it)),
  };
}

export function toOrderBy(source: string, by: string, order: string): string {
  return `${source}.${quote(by)} ${order}, ${source}."id" ${order}`;
}

/** A query of an index. Its column `row` has the row numbers of the records that meet a condition. */
export interface Candidate extends Sql {
  readonly condition: Condition<AnyRecord>;
  /**
   * A `lookup` selects at most one row for each value, and an `index` any number of rows. A `search` selects rows in a
   * range of row numbers, in their order. Some of these rows do not meet the condition. The caller adds this range to
   * `values`: the row number before the range, and the last one in it.
   */
  readonly type: 'lookup' | 'search' | 'index';
  /** Whether the result can have a row number twice, because the array of a record can have several of the values. */
  readonly canHaveDuplicates?: boolean;
}

/** Returns the queries for the conditions that have an index, in the order in which to try them. */
export function findCandidates(
  table: Table,
  workspaceId: string,
  where: readonly Condition<AnyRecord>[],
  { lookup, selective }: Pick<ListPlan, 'lookup' | 'selective'>,
): Candidate[] {
  const name = quote(table.name);
  const select = (type: Candidate['type'], from: string, condition: OneOf<AnyRecord>): Candidate => {
    const field = quote(condition.field);
    const sql = `SELECT "row" FROM ${from} WHERE "workspaceId" = ? AND ${field} IN (SELECT value FROM json_each(?))`;
    return { type, condition, sql, values: [workspaceId, JSON.stringify(condition.in)] };
  };
  return [
    ...lookup.map((it) => {
      const index = it.field === 'id' ? `${table.name}_id` : `${table.name}_unique_${it.field}`;
      return select('lookup', `${name} INDEXED BY ${quote(index)}`, it);
    }),
    ...where.flatMap((condition) => findSearch(table, workspaceId, condition) ?? []),
    ...selective.map(({ fields, condition }) => {
      const index = table.indexes.find((it) => it.fields === fields) as Index;
      if (index.array === undefined) return select('index', `${name} INDEXED BY ${quote(index.name)}`, condition);
      const canHaveDuplicates = findSingleValue(condition) === undefined;
      return { ...select('index', quote(index.name), condition), canHaveDuplicates };
    }),
  ];
}

function findSearch(table: Table, workspaceId: string, condition: Condition<AnyRecord>): Candidate | undefined {
  const search = table.searches.find(({ field }) => field === condition.field);
  const match = search && 'contains' in condition ? toSearchQuery(workspaceId, condition.contains) : undefined;
  if (match === undefined) return undefined;
  const index = quote(search?.name ?? '');
  const sql = `SELECT rowid AS "row" FROM ${index} WHERE ${index} MATCH ? AND rowid > ? AND rowid <= ?`;
  return { type: 'search', condition, sql, values: [match] };
}
