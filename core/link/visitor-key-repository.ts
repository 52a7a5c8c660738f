/** The visitor keys: random secrets with which visitors are hashed, one for each day. */
export interface VisitorKeyRepository {
  /** Returns the visitor key of a day such as `2026-01-31`, or `undefined`. */
  findByDay(day: string): Promise<string | undefined>;
  /** Adds the visitor key of a day. Rejects with `conflict` if the day has one. */
  add(day: string, key: string): Promise<void>;
  /** Removes the visitor keys of all other days. */
  removeOthers(day: string): Promise<void>;
}
