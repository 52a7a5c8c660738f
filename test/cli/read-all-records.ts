import { iterateById } from '../../adapters/persistence/iterate-by-id.ts';
import { globalStoreNames, recordSchemas, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { collectAll } from '../support/collect-all.ts';

const storeNames = Object.keys(recordSchemas) as (keyof typeof recordSchemas)[];

/** Returns all records of a storage by the names of their stores, in the order of their workspaces and IDs. */
export async function readAllRecords(engine: StorageEngine): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const records: Record<string, unknown[]> = {};
  for (const name of globalStoreNames) {
    records[name] = await collectAll(
      iterateById<{ readonly id: string }>((after, take) => engine[name].list(after, take)),
    );
  }
  for (const name of storeNames) {
    records[name] = [];
    for (const { id } of records.workspaces as { readonly id: string }[]) {
      const all = iterateById<{ readonly id: string }>((after, take) => engine[name].listById(id, after, take));
      records[name].push(...(await collectAll(all)));
    }
  }
  return records;
}
