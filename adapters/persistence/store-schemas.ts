import { CoreError } from '../../core/shared/core-error.ts';
import type { AnyRecord, ColumnType, ConflictReason } from './record-store.ts';
import { globalStoreNames, recordSchemas } from './storage-engine.ts';

const ID_TAKEN: ConflictReason = ['A record with this ID already exists. Retry the request.'];

/** The schema of a store, as a storage engine sees it: without the type of its records. */
export interface StoreSchema {
  /** The name of the store, and of its table or collection. */
  readonly name: string;
  /** Whether the store is global: its records are unique over all workspaces, and are read by ID alone. */
  readonly isGlobal: boolean;
  /** The types of the fields that conditions, orders, unique values and expiry use. */
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** The fields that are unique within a workspace. */
  readonly unique: readonly string[];
  /**
   * The indexes, each within a workspace: the fields that conditions fix, and then the field that lists order by. If an
   * index begins with flags, it is here with and without them.
   */
  readonly indexes: readonly (readonly string[])[];
  /** The values of fields that a record can lack. Conditions and orders find such a record as if it had them. */
  readonly defaults: Readonly<Record<string, unknown>>;
  /** The field with the time at which a record expires. */
  readonly expires: string | undefined;
  /** Adds the defaults and the derived columns of this version to a record of an earlier version. */
  complete(record: AnyRecord): AnyRecord;
  /** Returns the error of a record whose ID or unique value is taken. `field` is the taken field. */
  createTakenError(field: string): CoreError;
}

/** A schema of records of any type. The conversions take only the records of their type. */
interface AnySchema {
  readonly columns?: Readonly<Record<string, ColumnType>>;
  readonly unique?: Readonly<Record<string, ConflictReason>>;
  readonly indexes?: readonly (readonly string[])[];
  readonly defaults?: object;
  readonly expires?: string;
  toRecord?(entity: never): object;
  toEntity?(record: never): object;
}

function toStoreSchema(name: string, schema: AnySchema): StoreSchema {
  const { columns = {}, unique = {}, indexes = [], defaults = {}, expires, toEntity, toRecord } = schema;
  const withoutFlags = indexes.map((fields) =>
    fields.filter((field, i) => i === fields.length - 1 || columns[field] !== 'boolean'),
  );
  return {
    name,
    isGlobal: !(name in recordSchemas),
    columns,
    unique: Object.keys(unique),
    indexes: [...new Map([...indexes, ...withoutFlags].map((fields) => [fields.join(), fields])).values()],
    defaults: { ...defaults },
    expires,
    complete: (record) => (toEntity && toRecord ? toRecord(toEntity(record as never) as never) : record) as AnyRecord,
    createTakenError: (field) => new CoreError('conflict', ...(unique[field] ?? ID_TAKEN)),
  };
}

/** The schemas of all stores by their names. */
export const storeSchemas: ReadonlyMap<string, StoreSchema> = new Map([
  ...Object.entries(recordSchemas).map(([name, schema]) => [name, toStoreSchema(name, schema)] as const),
  ...globalStoreNames.map((name) => [name, toStoreSchema(name, {})] as const),
]);
