const BATCH = 1000;

/** Goes through all that a read by id gives, in the order of the ids, and holds one batch of it at a time. */
export async function* walk<T extends { readonly id: string }>(
  read: (after: string, take: number) => Promise<readonly T[]>,
): AsyncGenerator<T> {
  for (let after = ''; ; ) {
    const batch = await read(after, BATCH);
    yield* batch;
    const last = batch.at(-1);
    if (!last || batch.length < BATCH) return;
    after = last.id;
  }
}
