/** Adds records to a store at the same time. */
export async function addAll<T>(store: { add(record: T): Promise<void> }, records: readonly T[]): Promise<void> {
  await Promise.all(records.map((record) => store.add(record)));
}
