import { MongoClient } from 'mongodb';

/** Passes a client of a MongoDB to some work, and closes the client afterwards. */
export async function withMongoClient<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
