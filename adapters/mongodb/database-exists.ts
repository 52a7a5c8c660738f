import { createClient } from './client.ts';

/** Returns whether the database of a connection string has a collection. */
export async function databaseExists(uri: string): Promise<boolean> {
  const client = createClient(uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    return (await client.db().listCollections({}, { nameOnly: true }).toArray()).length > 0;
  } finally {
    await client.close();
  }
}
