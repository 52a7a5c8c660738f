/** The secrets that visitors are hashed with, one for each day. */
export interface VisitorKeyRepository {
  /** Returns the secret of a day such as `2026-01-31`, or `undefined`. */
  findByDay(day: string): Promise<string | undefined>;
  /** Adds the secret of a day. Rejects with `conflict` if the day has one. */
  add(day: string, secret: string): Promise<void>;
  /** Removes the secrets of all earlier days. */
  removeBefore(day: string): Promise<void>;
}
