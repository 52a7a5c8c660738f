import { CoreError, type CoreErrorCause } from '../../core/shared/core-error.ts';
import type { Entity } from '../../core/shared/entity.ts';
import type { Order } from '../../core/shared/page.ts';
import type { EntityChange } from '../../core/shared/repository.ts';

/** The message and the cause of a `conflict`. */
export type ConflictReason = readonly [message: string, causeName?: CoreErrorCause];

const TOO_MANY_CONFLICTS = 'Other requests changed the same record at the same time. Retry the request.';
const LIST_TOO_SLOW = 'The list takes too long to read. Add filters to narrow it, or request an earlier page.';

// The errors for users that storage engines throw, besides that of a taken value (`StoreSchema.createTakenError`).
export const createWriteConflictError = () => new CoreError('conflict', TOO_MANY_CONFLICTS, 'concurrent_changes');
export const createSlowListError = () => new CoreError('invalid', LIST_TOO_SLOW, 'list_too_slow');

/**
 * The maximum time of a list that reads many records to find those of its page (a scan). If a scan takes longer, it is
 * rejected with `createSlowListError()`. The memory engine has no limit. A search through 1,000,000 campaigns takes
 * 2 to 3 s.
 */
export const LIST_TIMEOUT_MS = 4_500;

export type Field<T> = keyof T & string;

/** A record of any schema. */
export type AnyRecord = Entity & Readonly<Record<string, unknown>>;

/** One condition of a query (docs/adr/0003-repositories.md). */
export type Condition<T> = OneOf<T> | Range<T> | Contains<T>;

/** The field equals one of the values. If the field is an array, at least one of its items equals one of the values. */
export interface OneOf<T> {
  readonly field: Field<T>;
  readonly in: readonly (string | boolean)[];
}

/** The field is in the range. Both bounds are inclusive and optional. */
export interface Range<T> {
  readonly field: Field<T>;
  readonly from?: number;
  readonly to?: number;
}

/** The field, a folded text (core/shared/text.ts), contains the folded term. */
export interface Contains<T> {
  readonly field: Field<T>;
  readonly contains: string;
}

/**
 * A query. A record must meet all conditions. The records are ordered `by` a field, then by ID in the same direction.
 * If `fields` are given, a storage engine may omit all other fields.
 */
export interface Query<T, F extends Field<T> = Field<T>> {
  readonly where: readonly Condition<T>[];
  readonly by: Field<T>;
  readonly order: Order;
  readonly skip: number;
  readonly take: number;
  readonly fields?: readonly F[] | undefined;
  /** As in `PageRequest`. */
  readonly isAbandoned?: (() => boolean) | undefined;
}

/**
 * A query of sums. `groupBy` are fields with a text, and `columns` are fields with a whole number. Each sum must be
 * below 2^53.
 */
export interface SumQuery<T, F extends Field<T> = Field<T>> {
  readonly where: readonly Condition<T>[];
  readonly groupBy: readonly F[];
  readonly columns: readonly F[];
}

/** The type of a column. `texts` is an array of texts. */
export type ColumnType = 'boolean' | 'number' | 'text' | 'texts';

/** The type of the column for values of a type. */
type ColumnTypeOf<V> = V extends boolean
  ? 'boolean'
  : V extends number
    ? 'number'
    : V extends readonly string[]
      ? 'texts'
      : 'text';

/** The description of a type of record for a storage engine. */
export interface RecordSchema<T extends Entity> {
  /**
   * The types of the fields that conditions, orders, unique values and expiry use. The IDs are not listed. A text can
   * also be `null`.
   */
  readonly columns: { readonly [F in Field<T>]?: ColumnTypeOf<NonNullable<T[F]>> };
  /** Each field that is unique within a workspace, and the error of a duplicate. */
  readonly unique: { readonly [F in Field<T>]?: ConflictReason };
  /**
   * The indexes, each within a workspace. A list orders by the last field of an index. A list is fast if its conditions
   * fix every field of an index but the last to one value, and nothing else. Flags (boolean fields) need no condition.
   */
  readonly indexes: readonly (readonly [...Field<T>[], Field<T>])[];
  /** The values of fields that records of earlier versions lack (docs/adr/0003-repositories.md). */
  readonly defaults?: Partial<T>;
  /**
   * The field with the time (milliseconds since the epoch, on the clock of the engine) at which the record expires. An
   * engine deletes an expired record during a write to the same store, or on its own within about a minute. It never
   * deletes a record before the record expires.
   */
  readonly expires?: Field<T>;
}

/** Options of `RecordStore.add`. */
export interface AddOptions {
  /**
   * Whether `add` may resolve before the record is committed. Until the commit, later writes find the record, but reads
   * may miss it. A crash before the commit, or a failed commit, loses the record. A later write without `isDeferred`
   * also makes this record durable.
   */
  readonly isDeferred?: boolean;
}

/**
 * The records of one schema, as a storage engine offers them. All methods keep the promises of repositories
 * (core/shared/repository.ts), except `add` with `isDeferred`.
 */
export interface RecordStore<T extends Entity> {
  /** Adds a record. Rejects with `conflict` if the ID or a unique value is taken. */
  add(record: T, options?: AddOptions): Promise<void>;
  /**
   * Adds records of one workspace in a few commands. Each has another ID, and other unique values. Rejects with
   * `conflict` if an ID or a unique value is taken. Call it in a transaction, and throw the error: otherwise, some
   * records can be added and others not.
   */
  addMany(records: readonly T[]): Promise<void>;
  /**
   * Returns a record, or `undefined` if it does not exist. If `fields` are given, an engine may omit all other fields
   * except the ID.
   */
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
  /** Returns the records that match a query, in its order. */
  list<F extends Field<T> = Field<T>>(workspaceId: string, query: Query<T, F>): Promise<readonly Pick<T, F>[]>;
  /**
   * Returns up to `take` records with an ID greater than `after`, in the order of their IDs. If `after` is `''`, begins
   * with the first record. So all records can be iterated while records are added or removed (iterate-by-id.ts).
   */
  listById(workspaceId: string, after: string, take: number): Promise<readonly T[]>;
  /** Returns the number of records that meet all conditions. */
  count(workspaceId: string, where: readonly Condition<T>[]): Promise<number>;
  /**
   * Returns the sums of `columns` over the records that meet all conditions. There is one record for each combination
   * of values of `groupBy` that occurs, in any order. Other requests continue meanwhile.
   */
  sum<F extends Field<T>>(workspaceId: string, query: SumQuery<T, F>): Promise<readonly Pick<T, F>[]>;
  /** Returns the new record, or `undefined` if it does not exist. */
  update(workspaceId: string, id: string, change: EntityChange<T>): Promise<T | undefined>;
  /**
   * Replaces the records that exist, each as `update` does, in a few commands. Returns the new records, each once, in
   * any order. If `change` throws, no record changes. Call it in a transaction: outside of one, another error can leave
   * some records changed and others not.
   */
  updateMany(workspaceId: string, ids: readonly string[], change: EntityChange<T>): Promise<readonly T[]>;
  /**
   * Adds 1 to a number of a record in one command, and returns the sum. A missing record is added, with no other
   * fields, and a missing number counts as 0. Call it in a transaction: outside of one, a retry can count twice.
   */
  increment(workspaceId: string, id: string, field: Field<T>): Promise<number>;
  /** Returns whether the record existed. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}

/**
 * Records that are unique over all workspaces and are read without the ID of a workspace. For example, they hold data
 * that is needed before the workspace is known (an API key by its hash), or that only one workspace can have (a
 * verified slug).
 */
export interface GlobalRecordStore<E extends { readonly id: string }> {
  /** Returns a record, or `undefined` if it does not exist. */
  get(id: string): Promise<E | undefined>;
  /**
   * Returns up to `take` records with an ID greater than `after`, in the order of their IDs. If `after` is `''`, begins
   * with the first record.
   */
  list(after: string, take: number): Promise<readonly E[]>;
  /** Adds a record. Rejects with `conflict` if the ID is taken. */
  add(record: E): Promise<void>;
  /** Removes a record. Returns whether it existed. */
  remove(id: string): Promise<boolean>;
}
