import type { Entity } from '../../core/shared/entity.ts';
import type { ColumnType, RecordSchema } from '../persistence/record-store.ts';
import { globalStoreNames, recordSchemas } from '../persistence/storage-engine.ts';

/** A record of any schema. */
export type AnyRecord = Entity & Readonly<Record<string, unknown>>;

export const quote = (name: string): string => `"${name}"`;
const list = (names: readonly string[], prefix = ''): string => names.map((name) => prefix + quote(name)).join(', ');

type AnyColumnType = ColumnType<boolean | number | string | readonly string[]>;

/** An index in the order of its last field. If one of its fields is an array, it is a table of its own with a row for each item. */
export interface Index {
  readonly name: string;
  readonly fields: readonly string[];
  /** The field that is an array. */
  readonly array?: string | undefined;
}

/** A table with the records of a schema. The index of an array and the index of a search are kept up to date by triggers. */
export interface Table {
  readonly name: string;
  /** The types of the columns, besides the id, the workspace and the record. */
  readonly columns: Readonly<Record<string, Exclude<AnyColumnType, 'texts'>>>;
  readonly unique: Readonly<Record<string, string>>;
  readonly indexes: readonly Index[];
  /** The names of the full-text indexes by their columns: the text columns that are neither unique nor in `indexes`. */
  readonly searches: Readonly<Record<string, string>>;
  readonly expires?: string | undefined;
  /** Returns a record of an earlier version with the defaults and the derived columns of this version. */
  readonly complete: (record: AnyRecord) => AnyRecord;
  /** The fields that records of earlier versions can lack. */
  readonly optional: ReadonlySet<string>;
  readonly isFlag: (field: string) => boolean;
  /** Returns the statement that inserts records. Their values are the id, the workspace, the columns and the record as JSON. */
  readonly insert: (count: number) => string;
}

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
  const { columns, unique, indexes, expires, toEntity, toRecord } = schema;
  const types = Object.entries(columns);
  const isFlag = (field: string) => types.some(([column, type]) => column === field && type === 'boolean');
  const isArray = (field: string) => types.some(([column, type]) => column === field && type === 'texts');
  // A list without a condition on the flags at the start of an index needs an index without them.
  const withoutFlags = indexes.map((fields) =>
    fields.filter((field, at) => at === fields.length - 1 || !isFlag(field)),
  );
  const all = new Map([...indexes, ...withoutFlags].map((fields) => [[name, ...fields].join('_'), fields]));
  const isSearched = (field: string) => unique[field] === undefined && !indexes.flat().includes(field);
  const ownColumns = Object.fromEntries(types.filter(([, type]) => type !== 'texts')) as Table['columns'];
  const columnNames = ['id', 'workspaceId', ...Object.keys(ownColumns), 'record'];
  const insertInto = `INSERT INTO ${quote(name)} (${list(columnNames)}) VALUES`;
  const values = `(${columnNames.map((column) => (column === 'record' ? 'jsonb(?)' : '?')).join(', ')})`;
  return {
    name,
    columns: ownColumns,
    unique: unique as Table['unique'],
    indexes: [...all].map(([index, fields]) => ({ name: index, fields, array: fields.find(isArray) })),
    searches: Object.fromEntries(
      types
        .filter(([field, type]) => type === 'text' && isSearched(field))
        .map(([field]) => [field, `${name}_${field}`]),
    ),
    expires,
    complete: (record) => (toEntity && toRecord ? toRecord(toEntity(record)) : record),
    // The entity of an empty record has the defaults of the schema.
    optional: new Set(Object.keys(toEntity?.({}) ?? {})),
    isFlag,
    insert: (count) => `${insertInto} ${Array(count).fill(values).join(', ')}`,
  };
}

/** Something that a file contains, with the statements that create and fill it. */
export interface FilePart {
  readonly type: 'table' | 'index' | 'trigger';
  readonly name: string;
  readonly sql: string;
  /** The statement that fills a new part from the records. */
  readonly fill?: string;
}

/** Returns the parts of a file for a table, besides the table itself. Their statements are compared with those in the file. */
export function describeParts({ name, unique, indexes, searches, expires }: Table): FilePart[] {
  const createIndex = (index: string, fields: readonly string[], kind = 'INDEX'): FilePart => ({
    type: 'index',
    name: index,
    sql: `CREATE ${kind} ${quote(index)} ON ${quote(name)} (${list(fields)})`,
  });
  return [
    createIndex(`${name}_id`, ['id'], 'UNIQUE INDEX'),
    createIndex(`${name}_workspace`, ['workspaceId', 'id']),
    ...Object.keys(unique).map((field) =>
      createIndex(`${name}_unique_${field}`, ['workspaceId', field], 'UNIQUE INDEX'),
    ),
    ...(expires === undefined ? [] : [createIndex(`${name}_expires`, [expires])]),
    ...indexes.flatMap((index) =>
      index.array === undefined
        ? createIndex(index.name, ['workspaceId', ...index.fields, 'id'])
        : describeArrayIndex(name, index, index.array),
    ),
    ...Object.entries(searches).flatMap(([field, search]) => describeSearch(name, field, search)),
  ];
}

/** Describes the table of an index on an array: a row for each item of each record. */
function describeArrayIndex(table: string, { name, fields }: Index, array: string): FilePart[] {
  const key = ['workspaceId', ...fields, 'id'];
  const columns = key.filter((column) => column !== array);
  const insertFrom = (row: string, from: string) =>
    `INSERT INTO ${quote(name)} (${list(key)}, "row") SELECT DISTINCT ${key
      .map((column) => (column === array ? 'item.value' : `${row}.${quote(column)}`))
      .join(', ')}, ${row}."row" FROM ${from}json_each(${row}."record", '$.${array}') AS item`;
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
    ...describeTriggers(table, name, insertFrom('new', ''), remove, `${values('old')} IS NOT ${values('new')}`),
  ];
}

/** Describes the index of a search: the trigrams of a folded text (https://sqlite.org/fts5.html#the_trigram_tokenizer). */
function describeSearch(table: string, field: string, name: string): FilePart[] {
  const [text, old] = [`new.${quote(field)}`, `old.${quote(field)}`];
  const insert = `INSERT INTO ${quote(name)} (rowid, ${quote(field)}) VALUES (new."row", ${text})`;
  const remove = `INSERT INTO ${quote(name)} (${quote(name)}, rowid, ${quote(field)}) VALUES ('delete', old."row", ${old})`;
  return [
    {
      type: 'table',
      name,
      sql: `CREATE VIRTUAL TABLE ${quote(name)} USING fts5(${quote(field)}, content=${quote(table)}, content_rowid="row",
        columnsize=0, tokenize='trigram case_sensitive 1')`,
      fill: `INSERT INTO ${quote(name)} (${quote(name)}) VALUES ('rebuild')`,
    },
    ...describeTriggers(table, name, insert, remove, `${old} IS NOT ${text}`),
  ];
}

function describeTriggers(table: string, name: string, insert: string, remove: string, isChanged: string): FilePart[] {
  const createTrigger = (suffix: string, event: string, body: string): FilePart => ({
    type: 'trigger',
    name: `${name}_${suffix}`,
    sql: `CREATE TRIGGER ${quote(`${name}_${suffix}`)} AFTER ${event} BEGIN ${body}; END`,
  });
  return [
    createTrigger('insert', `INSERT ON ${quote(table)}`, insert),
    createTrigger('delete', `DELETE ON ${quote(table)}`, remove),
    createTrigger('update', `UPDATE ON ${quote(table)} WHEN ${isChanged}`, `${remove}; ${insert}`),
  ];
}
