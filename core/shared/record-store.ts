/** What every record of a workspace has. No two records of a kind have the same id, whatever their workspaces. */
export interface Entity {
  readonly id: string;
  readonly workspaceId: string;
}

export type Field<T> = keyof T & string;

/**
 * One condition of a query, a value that each storage reads by itself:
 * - `is`: the field equals the value;
 * - `in`: the field, or any item of it where it is an array, equals one of the values (`[false, true]` of a flag is no
 *   filter, but names the values by which a storage finds all in order);
 * - `from`, `to`: the field lies between the two, both included, where they are given;
 * - `contains`: the field, a folded text (text.ts), has the folded term in it.
 */
export type Condition<T> =
  | { readonly field: Field<T>; readonly is: string | boolean }
  | { readonly field: Field<T>; readonly in: readonly (string | boolean)[] }
  | Range<T>
  | Contains<T>;

export interface Range<T> {
  readonly field: Field<T>;
  readonly from?: number;
  readonly to?: number;
}

export interface Contains<T> {
  readonly field: Field<T>;
  readonly contains: string;
}

export type Order = 'asc' | 'desc';

/**
 * All conditions hold (AND). Records come ordered `by` a field, then by id in the same direction. Where `fields` are
 * given, a storage may leave out the others.
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
 * How a storage keeps one kind of record. `indexes` lists, within a workspace, the equality fields of an index and, last,
 * the field that it orders by; a query may be `by` such a last field only. `unique` names the fields of which no two
 * records of a workspace share a value, each with the sentence that refuses the second.
 */
export interface RecordSchema<T extends Entity> {
  readonly name: string;
  readonly unique: { readonly [F in Field<T>]?: string };
  readonly indexes: readonly (readonly [...Field<T>[], Field<T>])[];
  /** The field (milliseconds since the epoch) after which a storage may forget the record. */
  readonly expires?: Field<T>;
}

/**
 * The records of one kind. No method can see or touch a record of another workspace. What is returned is a value:
 * changing it changes nothing that is stored. Every method rejects when the storage cannot be reached. A change that
 * resolves is durable. If there was nothing to change, the state that it found is durable, because a caller that retries a
 * change takes it for an acknowledgment of the first attempt.
 */
export interface RecordStore<T extends Entity> {
  /** Where `fields` are given, a storage may leave out the others, but for the id. */
  get<F extends Field<T> = Field<T>>(
    workspaceId: string,
    id: string,
    fields?: readonly F[],
  ): Promise<Pick<T, F | 'id'> | undefined>;
  /** Those of the ids that exist, in no particular order; of `fields` as `get`. */
  getMany<F extends Field<T> = Field<T>>(
    workspaceId: string,
    ids: readonly string[],
    fields?: readonly F[],
  ): Promise<readonly Pick<T, F | 'id'>[]>;
  list<F extends Field<T> = Field<T>>(workspaceId: string, query: Query<T, F>): Promise<readonly Pick<T, F>[]>;
  /**
   * At most `take` records in the order of their ids, those above `after` (`''`: from the first on): the way through
   * all of them, however many, while others change (iterate-by-id.ts).
   */
  listById(workspaceId: string, after: string, take: number): Promise<readonly T[]>;
  count(workspaceId: string, where: readonly Condition<T>[]): Promise<number>;
  /** Refuses with `conflict` where the id or a unique field is taken. */
  add(record: T): Promise<void>;
  /**
   * Adds many records at less cost than one by one, each for itself: one whose id or unique field is taken, also by
   * another of them, is left out while the others are kept. Resolves to the sentence that refuses each of those, by
   * its index. It is for use outside of `atomically`, where one refusal may end all of the work.
   */
  addMany(records: readonly T[]): Promise<ReadonlyMap<number, string>>;
  /**
   * Replaces a record by what `change` makes of it, atomically: no concurrent change is lost. `change` may run again
   * on newer values, so it only computes; what it throws leaves the record as it was. Returning the value that it was
   * given writes nothing. Resolves to the record as it now is, or `undefined` where there is none.
   */
  update(workspaceId: string, id: string, change: (current: T) => T): Promise<T | undefined>;
  /** Whether there was such a record. */
  remove(workspaceId: string, id: string): Promise<boolean>;
}

/**
 * Entries that are unique over all workspaces, found by their id alone: what must be known before the workspace is
 * (a key by its hash), or be held by one workspace only (a verified slug).
 */
export interface GlobalRecordStore<E extends { readonly id: string }> {
  get(id: string): Promise<E | undefined>;
  /** At most `take` entries in the order of their ids, those above `after` (`''`: from the first on). */
  list(after: string, take: number): Promise<readonly E[]>;
  /** Refuses with `conflict` where the id is taken. */
  add(entry: E): Promise<void>;
  remove(id: string): Promise<boolean>;
}
