import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { MissingDependencyError } from './missing-dependency-error.ts';
import { withMongoClient } from './mongo-client.ts';
import { getSharedMongod, SHARED_MONGOD_REQUEST, type SharedMongod } from './shared-mongod.ts';

/** A database of one test, on a replica set that all test files share. */
export interface MongoDatabase {
  readonly uri: string;
  /** Drops the database. */
  stop(): Promise<void>;
}

/**
 * The server, or why there is none. It is awaited before the first test, so that no time limit of a test includes a
 * download.
 */
const server = await (process.send ? requestFromRunner() : getSharedMongod());

/** Creates a database. Rejects with `MissingDependencyError` if MongoDB is missing. */
export async function createDatabase(): Promise<MongoDatabase> {
  if ('error' in server)
    throw server.isProgramMissing ? new MissingDependencyError(server.error) : new Error(server.error);
  const uri = withDatabaseName(server.uri, `test-${randomUUID()}`);
  return {
    uri,
    stop: () => withMongoClient(uri, async (client) => void (await client.db().dropDatabase())),
  };
}

/** Passes the URI of an empty database to a test, and drops the database afterwards. */
export async function withDatabase<T>(test: (uri: string) => Promise<T>): Promise<T> {
  const { uri, stop } = await createDatabase();
  try {
    return await test(uri);
  } finally {
    await stop();
  }
}

async function requestFromRunner(): Promise<SharedMongod> {
  process.send?.(SHARED_MONGOD_REQUEST);
  return (await once(process, 'message'))[0];
}

/** Returns the URI with another database. The user of the URI is still authenticated against the same database. */
export function withDatabaseName(uri: string, name: string): string {
  const [, server, oldName, query] = /^([^:]+:\/\/[^/?]+)\/?([^?]*)\??(.*)$/.exec(uri) as RegExpExecArray;
  const options = new URLSearchParams(query);
  if (server?.includes('@') && !options.has('authSource')) options.set('authSource', oldName || 'admin');
  return `${server}/${name}${options.size > 0 ? `?${options}` : ''}`;
}
