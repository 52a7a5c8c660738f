import type { AnyRecord, ColumnType } from '../persistence/record-store.ts';
import { type StoreSchema, storeSchemas } from '../persistence/store-schemas.ts';

export const quote = (name: string): string => `"${name}"`;
const list = (names: readonly string[], prefix = ''): string => names.map((name) => prefix + quote(name)).join(', ');

/**
 * An index on the workspace, `fields` and the ID. If all fields but the last are fixed to one value each, the index has
 * the records in the order of the last field. If one of the fields is an array, the index is an index table: a table of
 * its own, with a row for each distinct item.
 */
export interface Index {
  readonly name: string;
  readonly fields: readonly string[];
  /** The field that is an array. */
  readonly array?: string | undefined;
}

/** A full-text index of a text (search.ts). */
export interface SearchIndex {
  readonly field: string;
  readonly name: string;
}

/**
 * The SQL that reads some fields of records. `columns` is the expression that selects them as JSON, and `parse` parses
 * this JSON.
 */
export interface Projection {
  readonly columns: string;
  readonly selectById: string;
  readonly selectByIds: string;
  parse(json: string): AnyRecord;
}

/**
 * A table with the records of a schema. Triggers update the indexes of arrays. A commit updates the full-text indexes.
 */
export interface Table {
  readonly name: string;
  readonly schema: StoreSchema;
  /** The types of the columns, except those of the ID, the workspace and the record. */
  readonly columns: Readonly<Record<string, Exclude<ColumnType, 'texts'>>>;
  readonly indexes: readonly Index[];
  /** The full-text indexes of the text columns that are neither unique nor in `indexes`. */
  readonly searches: readonly SearchIndex[];
  /** The statement that inserts a record. The values are the ID, the workspace, the columns and the record as JSON. */
  readonly insert: string;
  /**
   * The projections of the table, by the array of their fields, or by the table for whole records (record-store.ts).
   */
  readonly projections: WeakMap<object, Projection>;
}

/**
 * The ASCII characters that are part of a token, besides letters and digits. All other characters except control
 * characters are, too.
 */
const TOKEN_PUNCTUATION = Array.from({ length: 0x7f - 0x20 }, (_, i) => String.fromCharCode(0x20 + i))
  .join('')
  .replace(/[a-z0-9]/gi, '')
  .replace(/["']/g, '$&$&');

/** The tables of all stores by their names. A record of a global store is in the workspace `''`. */
export const tables: ReadonlyMap<string, Table> = new Map(
  [...storeSchemas].map(([name, schema]) => [name, createTable(schema)]),
);

function createTable(schema: StoreSchema): Table {
  const { name, columns, unique, indexes } = schema;
  const types = Object.entries(columns);
  const isSearched = (field: string) => !unique.includes(field) && !indexes.flat().includes(field);
  const ownColumns = Object.fromEntries(types.filter(([, type]) => type !== 'texts')) as Table['columns'];
  const columnNames = ['id', 'workspaceId', ...Object.keys(ownColumns), 'record'];
  const values = columnNames.map((column) => (column === 'record' ? 'jsonb(?)' : '?')).join(', ');
  return {
    name,
    schema,
    columns: ownColumns,
    indexes: indexes.map((fields) => ({
      name: [name, ...fields].join('_'),
      fields,
      array: fields.find((field) => columns[field] === 'texts'),
    })),
    searches: types
      .filter(([field, type]) => type === 'text' && isSearched(field))
      .map(([field]) => ({ field, name: `${name}_${field}` })),
    insert: `INSERT INTO ${quote(name)} (${list(columnNames)}) VALUES (${values})`,
    projections: new WeakMap(),
  };
}

/** Returns the statements that create a table, its indexes, its index tables and their triggers. */
export function listStatements({ name, schema: { unique, expires }, columns, indexes, searches }: Table): string[] {
  const definitions = [
    '"row" INTEGER PRIMARY KEY, "id" TEXT NOT NULL, "workspaceId" TEXT NOT NULL',
    ...Object.entries(columns).map(([column, type]) => `${quote(column)} ${type === 'text' ? 'TEXT' : 'INTEGER'}`),
    '"record" BLOB NOT NULL',
  ];
  const createIndex = (index: string, fields: readonly string[], kind = 'INDEX') =>
    `CREATE ${kind} ${quote(index)} ON ${quote(name)} (${list(fields)})`;
  return [
    `CREATE TABLE ${quote(name)} (${definitions.join(', ')})`,
    createIndex(`${name}_id`, ['id'], 'UNIQUE INDEX'),
    createIndex(`${name}_workspace`, ['workspaceId', 'id']),
    ...unique.map((field) => createIndex(`${name}_unique_${field}`, ['workspaceId', field], 'UNIQUE INDEX')),
    ...(expires === undefined ? [] : [createIndex(`${name}_expires`, [expires])]),
    ...indexes.flatMap((index) =>
      index.array === undefined
        ? createIndex(index.name, ['workspaceId', ...index.fields, 'id'])
        : createArrayIndex(name, index, index.array),
    ),
    ...searches.flatMap(createSearchIndex),
  ];
}

/**
 * Returns the statements for the index table of an array, which has a row for each distinct item of each record, and
 * for its triggers.
 */
function createArrayIndex(table: string, { name, fields }: Index, array: string): string[] {
  const key = ['workspaceId', ...fields, 'id'];
  const columns = key.filter((column) => column !== array);
  const selected = key.map((column) => (column === array ? 'item.value' : `new.${quote(column)}`));
  const insert = `INSERT INTO ${quote(name)} (${list(key)}, "row") SELECT DISTINCT ${selected.join(', ')}, new."row"
    FROM json_each(new."record", '$.${array}') AS item`;
  const remove = `DELETE FROM ${quote(name)} WHERE (${list(columns)}) = (${list(columns, 'old.')}) AND ${quote(array)} IN
    (SELECT value FROM json_each(old."record", '$.${array}'))`;
  const values = (row: string) => `(json_extract(${row}."record", '$.${array}'), ${list(columns, `${row}.`)})`;
  const createTrigger = (suffix: string, event: string, body: string) =>
    `CREATE TRIGGER ${quote(`${name}_${suffix}`)} AFTER ${event} BEGIN ${body}; END`;
  return [
    `CREATE TABLE ${quote(name)} (${list(key)}, "row", PRIMARY KEY (${list(key)})) WITHOUT ROWID`,
    createTrigger('insert', `INSERT ON ${quote(table)}`, insert),
    createTrigger('delete', `DELETE ON ${quote(table)}`, remove),
    createTrigger(
      'update',
      `UPDATE ON ${quote(table)} WHEN ${values('old')} IS NOT ${values('new')}`,
      `${remove}; ${insert}`,
    ),
  ];
}

/**
 * Returns the statements for a full-text index. It has only the tokens of search.ts, so it needs neither the texts nor
 * the positions of tokens (https://sqlite.org/fts5.html#contentless_delete_tables). search.ts merges its segments in
 * small steps, because FTS5 by itself would now and then merge all of them during one commit.
 */
function createSearchIndex({ name }: SearchIndex): string[] {
  return [
    `CREATE VIRTUAL TABLE ${quote(name)} USING fts5(tokens, content='', contentless_delete=1, detail=none,
      tokenize="ascii tokenchars '${TOKEN_PUNCTUATION}'")`,
    `INSERT INTO ${quote(name)} (${quote(name)}, rank) VALUES ('automerge', 0), ('crisismerge', 1999), ('usermerge', 16)`,
  ];
}
