import { createClient } from './client.ts';

/**
 * Returns a text that identifies the database of a connection string, or `undefined` if the database has no
 * collections. The text does not depend on the host name of the server, but each mongos of a cluster gives another
 * text.
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
