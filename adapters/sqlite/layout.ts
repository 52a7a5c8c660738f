import type { Entity } from '../../core/shared/entity.ts';
import type { ColumnType, RecordSchema } from '../persistence/record-store.ts';
import { globalStoreNames, recordSchemas } from '../persistence/storage-engine.ts';

/** A record of any schema. */
export type AnyRecord = Entity & Readonly<Record<string, unknown>>;

export const quote = (name: string): string => `"${name}"`;
const list = (names: readonly string[], prefix = ''): string => names.map((name) => prefix + quote(name)).join(', ');

type AnyColumnType = ColumnType<boolean | number | string | readonly string[]>;

/**
 * An index on the workspace, `fields` and the ID. If all fields but the last are fixed to one value each, the index has the records in the
 * order of the last field. If one of the fields is an array, the index is an index table: a table of its own, with a row for each distinct
 * item.
 */
export interface Index {
  readonly name: string;
  readonly fields: readonly string[];
  /** The field that is an array. */
  readonly array?: string | undefined;
}

/** A full-text index. */
export interface SearchIndex {
  readonly field: string;
  readonly name: string;
  /** The name of the table that lists the rows to index at the next commit. */
  readonly outdated: string;
}

/** A table with the records of a schema. Triggers update the indexes of arrays, and note which texts a commit must index. */
export interface Table {
  readonly name: string;
  /** The types of the columns, except those of the ID, the workspace and the record. */
  readonly columns: Readonly<Record<string, Exclude<AnyColumnType, 'texts'>>>;
  readonly unique: Readonly<Record<string, string>>;
  readonly indexes: readonly Index[];
  /** The full-text indexes of the text columns that are neither unique nor in `indexes`. */
  readonly searches: readonly SearchIndex[];
  readonly expires?: string | undefined;
  /** Takes a record that an earlier version of the service wrote, and adds the defaults and the derived columns of this version. */
  readonly complete: (record: AnyRecord) => AnyRecord;
  /** The fields that records of earlier versions can lack. */
  readonly optional: ReadonlySet<string>;
  readonly isFlag: (field: string) => boolean;
  /** The statement that inserts a record. The values are the ID, the workspace, the columns and the record as JSON. */
  readonly insert: string;
}

/** The ASCII characters that are part of a token, besides letters and digits. All other characters except control characters are, too. */
const TOKEN_PUNCTUATION = Array.from({ length: 0x7f - 0x20 }, (_, i) => String.fromCharCode(0x20 + i))
  .join('')
  .replace(/[a-z0-9]/gi, '')
  .replace(/["']/g, '$&$&');

type AnySchema = Omit<RecordSchema<AnyRecord>, 'columns'> & {
  readonly columns: Readonly<Record<string, AnyColumnType>>;
  toRecord?(entity: object): AnyRecord;
  toEntity?(record: object): object;
};

const GLOBAL_SCHEMA = { columns: {}, unique: {}, indexes: [] };

/** The tables of all stores by their names. A record of a global store is in the workspace `''`. */
export const tables: ReadonlyMap<string, Table> = new Map(
  [...Object.entries(recordSchemas), ...globalStoreNames.map((name) => [name, GLOBAL_SCHEMA] as const)].map(
    ([name, schema]) => [name, createTable(name, schema as unknown as AnySchema)],
  ),
);

function createTable(name: string, schema: AnySchema): Table {
  const { columns, unique, indexes, defaults, expires, toEntity, toRecord } = schema;
  const types = Object.entries(columns);
  const isFlag = (field: string) => types.some(([column, type]) => column === field && type === 'boolean');
  const isArray = (field: string) => types.some(([column, type]) => column === field && type === 'texts');
  // A list that does not filter by a flag cannot use an index that begins with it. So each such index also exists without its flags.
  const withoutFlags = indexes.map((fields) =>
    fields.filter((field, at) => at === fields.length - 1 || !isFlag(field)),
  );
  const all = new Map([...indexes, ...withoutFlags].map((fields) => [[name, ...fields].join('_'), fields]));
  const isSearched = (field: string) => unique[field] === undefined && !indexes.flat().includes(field);
  const ownColumns = Object.fromEntries(types.filter(([, type]) => type !== 'texts')) as Table['columns'];
  const columnNames = ['id', 'workspaceId', ...Object.keys(ownColumns), 'record'];
  const values = columnNames.map((column) => (column === 'record' ? 'jsonb(?)' : '?')).join(', ');
  return {
    name,
    columns: ownColumns,
    unique: unique as Table['unique'],
    indexes: [...all].map(([index, fields]) => ({ name: index, fields, array: fields.find(isArray) })),
    searches: types
      .filter(([field, type]) => type === 'text' && isSearched(field))
      .map(([field]) => ({ field, name: `${name}_${field}`, outdated: `${name}_${field}_outdated` })),
    expires,
    complete: (record) => (toEntity && toRecord ? toRecord(toEntity(record)) : record),
    optional: new Set(Object.keys(defaults ?? {})),
    isFlag,
    insert: `INSERT INTO ${quote(name)} (${list(columnNames)}) VALUES (${values})`,
  };
}

/**
 * An index, an index table or a trigger of a table in the database file. A full-text index, and the table of its outdated rows, are index
 * tables too.
 */
export interface FilePart {
  readonly type: 'table' | 'index' | 'trigger';
  readonly name: string;
  /** The statement that creates it. */
  readonly sql: string;
  /** The statement that fills a new index table from the records. */
  readonly fill?: string;
}

/**
 * Returns the parts that a table must have in the database file. Each list has parts that belong together: an index, or an index table with
 * its triggers. An upgrade compares the `sql` of each part with the statement in the file.
 */
export function describeParts({ name, unique, indexes, searches, expires }: Table): FilePart[][] {
  const createIndex = (index: string, fields: readonly string[], kind = 'INDEX'): FilePart[] => [
    { type: 'index', name: index, sql: `CREATE ${kind} ${quote(index)} ON ${quote(name)} (${list(fields)})` },
  ];
  return [
    createIndex(`${name}_id`, ['id'], 'UNIQUE INDEX'),
    createIndex(`${name}_workspace`, ['workspaceId', 'id']),
    ...Object.keys(unique).map((field) =>
      createIndex(`${name}_unique_${field}`, ['workspaceId', field], 'UNIQUE INDEX'),
    ),
    ...(expires === undefined ? [] : [createIndex(`${name}_expires`, [expires])]),
    ...indexes.map((index) =>
      index.array === undefined
        ? createIndex(index.name, ['workspaceId', ...index.fields, 'id'])
        : describeArrayIndex(name, index, index.array),
    ),
    ...searches.map((search) => describeSearch(name, search)),
  ];
}

/** Describes the index table of an array, and the triggers that update this table. For each record, it has a row for each distinct item. */
function describeArrayIndex(table: string, { name, fields }: Index, array: string): FilePart[] {
  const key = ['workspaceId', ...fields, 'id'];
  const columns = key.filter((column) => column !== array);
  const insertFrom = (row: string, from: string) =>
    `INSERT INTO ${quote(name)} (${list(key)}, "row") SELECT DISTINCT ${key
      .map((column) => (column === array ? 'item.value' : `${row}.${quote(column)}`))
      .join(', ')}, ${row}."row" FROM ${from}json_each(${row}."record", '$.${array}') AS item`;
  const insert = insertFrom('new', '');
  const remove = `DELETE FROM ${quote(name)} WHERE (${list(columns)}) = (${list(columns, 'old.')}) AND ${quote(array)} IN
    (SELECT value FROM json_each(old."record", '$.${array}'))`;
  const values = (row: string) => `(json_extract(${row}."record", '$.${array}'), ${list(columns, `${row}.`)})`;
  return [
    {
      type: 'table',
      name,
      sql: `CREATE TABLE ${quote(name)} (${list(key)}, "row", PRIMARY KEY (${list(key)})) WITHOUT ROWID`,
      fill: insertFrom('t', `${quote(table)} AS t, `),
    },
    ...describeTriggers(table, name, `${values('old')} IS NOT ${values('new')}`, {
      insert,
      remove,
      update: `${remove}; ${insert}`,
    }),
  ];
}

/**
 * Describes a full-text index and the table of its outdated rows. The index has the tokens of search.ts, so it needs neither the text nor
 * the positions of tokens (https://sqlite.org/fts5.html#contentless_delete_tables). Triggers note each row that is added, changed or
 * removed. The next commit updates the index.
 */
function describeSearch(table: string, { field, name, outdated }: SearchIndex): FilePart[] {
  const note = (row: string) => `INSERT OR IGNORE INTO ${quote(outdated)} VALUES (${row}."row")`;
  return [
    {
      type: 'table',
      name,
      sql: `CREATE VIRTUAL TABLE ${quote(name)} USING fts5(tokens, content='', contentless_delete=1, detail=none,
        tokenize="ascii tokenchars '${TOKEN_PUNCTUATION}'")`,
      // search.ts merges the index in small steps. By itself, FTS5 would merge all of it during one commit.
      fill: `INSERT INTO ${quote(name)} (${quote(name)}, rank) VALUES ('automerge', 0), ('crisismerge', 1999)`,
    },
    {
      type: 'table',
      name: outdated,
      sql: `CREATE TABLE ${quote(outdated)} ("row" INTEGER PRIMARY KEY)`,
      fill: `INSERT INTO ${quote(outdated)} SELECT "row" FROM ${quote(table)}`,
    },
    ...describeTriggers(table, name, `old.${quote(field)} IS NOT new.${quote(field)}`, {
      insert: note('new'),
      remove: note('old'),
      update: note('old'),
    }),
  ];
}

function describeTriggers(
  table: string,
  name: string,
  isChanged: string,
  bodies: { readonly insert: string; readonly remove: string; readonly update: string },
): FilePart[] {
  const createTrigger = (suffix: string, event: string, body: string): FilePart => ({
    type: 'trigger',
    name: `${name}_${suffix}`,
    sql: `CREATE TRIGGER ${quote(`${name}_${suffix}`)} AFTER ${event} BEGIN ${body}; END`,
  });
  return [
    createTrigger('insert', `INSERT ON ${quote(table)}`, bodies.insert),
    createTrigger('delete', `DELETE ON ${quote(table)}`, bodies.remove),
    createTrigger('update', `UPDATE ON ${quote(table)} WHEN ${isChanged}`, bodies.update),
  ];
}
