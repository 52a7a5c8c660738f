import { createClient } from './client.ts';

/**
 * Returns a text that identifies the database of a connection string, or `undefined` if the database has no
 * collections. Another host name of the same server gives the same text, another mongos of the same cluster gives
 * another text.
 */
export async function findDatabase(uri: string): Promise<string | undefined> {
  const client = createClient(uri, { serverSelectionTimeoutMS: 2_000 });
  try {
    const { topologyVersion } = await client.db('admin').command({ hello: 1 });
    const [collection] = await client.db().listCollections({}, { nameOnly: true }).toArray();
    return collection && `${topologyVersion?.processId}/${client.db().databaseName}`;
  } finally {
    await client.close();
  }
}
