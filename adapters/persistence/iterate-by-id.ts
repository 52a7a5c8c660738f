const BATCH_SIZE = 1000;

/** Iterates over all records in the order of their ids. It keeps one batch of records in memory at a time. */
export async function* iterateById<T extends { readonly id: string }>(
  read: (after: string, take: number) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  for (let after = ''; ; ) {
    const batch = await read(after, BATCH_SIZE);
    yield* batch;
    const last = batch.at(-1);
    if (!last || batch.length < BATCH_SIZE) return;
    after = last.id;
  }
}
