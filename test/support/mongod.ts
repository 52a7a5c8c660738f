import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { MongoClient } from 'mongodb';
import { Missing } from './missing.ts';
import { type SharedMongod, sharedMongod, WHICH_MONGOD } from './shared-mongod.ts';

/** A database of its own on a replica set that all files of tests share. */
export interface Database {
  readonly uri: string;
  /** Drops it. */
  stop(): Promise<void>;
}

/** Known before the first test of the file begins, so that no test waits for a download. */
const server = await (process.send ? askRunner() : sharedMongod());

/** Makes a database; throws `Missing` where no MongoDB can be had. */
export async function mongod(): Promise<Database> {
  if ('error' in server) throw server.isMissing ? new Missing(server.error) : new Error(server.error);
  const uri = inDatabase(server.uri, `test-${randomUUID()}`);
  return {
    uri,
    async stop() {
      const client = new MongoClient(uri);
      try {
        await client.db().dropDatabase();
      } finally {
        await client.close();
      }
    },
  };
}

async function askRunner(): Promise<SharedMongod> {
  process.send?.(WHICH_MONGOD);
  return (await once(process, 'message'))[0];
}

/** The URI with another database; whoever it names is still known where he was known before. */
export function inDatabase(uri: string, name: string): string {
  const [, server, before, query] = /^([^:]+:\/\/[^/?]+)\/?([^?]*)\??(.*)$/.exec(uri) as RegExpExecArray;
  const options = new URLSearchParams(query);
  if (server?.includes('@') && !options.has('authSource')) options.set('authSource', before || 'admin');
  return `${server}/${name}${options.size > 0 ? `?${options}` : ''}`;
}
