/** Transactions over the repositories that a use case needs. */
export interface UnitOfWork<Repositories> {
  /**
   * Runs `work` in a transaction: stores all changes that it makes through its argument, or none if it throws. No
   * reader sees only a part of the changes. Use only the repositories that are passed to `work`. A change through
   * others can deadlock: it may wait for this transaction. After a write conflict, `work` runs again, so it must not
   * have other side effects. Rejects with `conflict` if write conflicts repeat too often. A nested call joins the
   * transaction.
   */
  run<T>(work: (repositories: Repositories) => Promise<T>): Promise<T>;
}
