/** The fields of every record of a workspace. An id is unique among all records of a schema, over all workspaces. */
export interface Entity {
  readonly id: string;
  readonly workspaceId: string;
}

export type Field<T> = keyof T & string;

/** One condition of a query (docs/adr/0003-generic-queries.md). */
export type Condition<T> =
  /** The field equals the value. */
  | { readonly field: Field<T>; readonly is: string | boolean }
  /**
   * The field, or an item of it if it is an array, equals one of the values. For a flag, `[false, true]` matches every
   * record, but lets a storage use an index that starts with the flag.
   */
  | { readonly field: Field<T>; readonly in: readonly (string | boolean)[] }
  | Range<T>
  | Contains<T>;

/** The field is in the range. Both bounds are inclusive and optional. */
export interface Range<T> {
  readonly field: Field<T>;
  readonly from?: number;
  readonly to?: number;
}

/** The field, a folded text (text.ts), contains the folded term. */
export interface Contains<T> {
  readonly field: Field<T>;
  readonly contains: string;
}

export type Order = 'asc' | 'desc';

/**
 * A query. A record must meet all conditions. The records are ordered `by` a field, then by id in the same direction. If
 * `fields` are given, a storage may omit all other fields.
 */
export interface Query<T, F extends Field<T> = Field<T>> {
  readonly where: readonly Condition<T>[];
  readonly by: Field<T>;
  readonly order: Order;
  readonly skip: number;
  readonly take: number;
  readonly fields?: readonly F[] | undefined;
}

/**
 * A type of record and its indexes. Each index applies within a workspace: it lists the fields to compare for equality, and
 * then the field that it orders by. A query can order only by the last field of an index. `unique` maps each field that is unique
 * within a workspace to the error message of a duplicate.
 */
export interface RecordSchema<T extends Entity> {
  readonly name: string;
  readonly unique: { readonly [F in Field<T>]?: string };
  readonly indexes: readonly (readonly [...Field<T>[], Field<T>])[];
  /** The field with the time (milliseconds since the epoch) after which a storage may delete the record. */
  readonly expires?: Field<T>;
}

/**
 * The records of one schema. No method reads or changes a record of another workspace. Changing a returned value does not
 * change the stored record. Every method rejects if the storage is unavailable.
 *
 * When a call that changes records resolves, the change is durable. If there was nothing to change, the data that the call has
 * read is durable, too. A program may repeat a change whose outcome is unknown, and may then find that it was already made.
 */
export interface RecordStore<T extends Entity> {
  /** Returns a record, or `undefined` if it does not exist. With `fields`, a storage may omit all other fields except the id. */
  get<F extends Field<T> = Field<T>>(
    workspaceId: string,
    id: string,
    fields?: readonly F[],
  ): Promise<Pick<T, F | 'id'> | undefined>;
  /** Returns the records that exist, each once, in any order. `fields` works as in `get`. */
  getMany<F extends Field<T> = Field<T>>(
    workspaceId: string,
    ids: readonly string[],
    fields?: readonly F[],
  ): Promise<readonly Pick<T, F | 'id'>[]>;
  list<F extends Field<T> = Field<T>>(workspaceId: string, query: Query<T, F>): Promise<readonly Pick<T, F>[]>;
  /**
   * Returns up to `take` records with an id greater than `after`, in the order of their ids (`''` starts at the first). So
   * all records can be iterated while records are added or removed (iterate-by-id.ts).
   */
  listById(workspaceId: string, after: string, take: number): Promise<readonly T[]>;
  count(workspaceId: string, where: readonly Condition<T>[]): Promise<number>;
  /** Adds a record. Rejects with `conflict` if the id or the value of a unique field is taken. */
  add(record: T): Promise<void>;
  /**
   * Adds many records, which is cheaper than one call for each. Skips each record whose id or unique value is taken by a
   * stored record or by a previous one of `records`. Returns the error message of each skipped record by its position in
   * `records`. Do not call it in a transaction: there, one taken value can abort the whole transaction.
   */
  addMany(records: readonly T[]): Promise<ReadonlyMap<number, string>>;
  /**
   * Replaces a record by the result of `change`, atomically: no concurrent change is lost. `change` may run again on a newer
   * value, so it must not have side effects. If it throws, the record is unchanged. If it returns its argument, nothing is
   * written. Returns the new record, or `undefined` if the record does not exist.
   */
  update(workspaceId: string, id: string, change: (current: T) => T): Promise<T | undefined>;
  /** Removes a record. Returns whether it existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}

/**
 * Records that are unique over all workspaces and are read by id alone. They hold data that is needed before the workspace
 * is known (an API key by its hash), or that only one workspace can have (a verified slug).
 */
export interface GlobalRecordStore<E extends { readonly id: string }> {
  get(id: string): Promise<E | undefined>;
  /** Returns up to `take` records with an id greater than `after`, in the order of their ids (`''` starts at the first). */
  list(after: string, take: number): Promise<readonly E[]>;
  /** Adds a record. Rejects with `conflict` if the id is taken. */
  add(record: E): Promise<void>;
  /** Removes a record. Returns whether it existed. */
  remove(id: string): Promise<boolean>;
}
