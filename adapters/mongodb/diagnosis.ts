import type { Document, MongoClient } from 'mongodb';
import { DatabaseUnavailable, UnsupportedDatabase } from './errors.ts';

const STANDALONE = [
  'this mongod is not a member of a replica set, which transactions need. To make it a replica set of one, start it with',
  "`mongod --replSet rs0` and then run `mongosh --eval 'rs.initiate()'`",
].join(' ');
const NOT_INITIATED =
  "MongoDB cannot be used: its replica set is not initiated. To initiate it, run `mongosh --eval 'rs.initiate()'`";

/**
 * Returns the problem that a server's response to `hello` shows, or `undefined` if the server can be used. If the
 * replica set is not initiated yet, the problem is `DatabaseUnavailable`, because a retry may succeed. `replicaSet` is
 * the name in the connection string, if any.
 */
export function findProblem(
  { isreplicaset, setName, msg }: Document,
  replicaSet?: string,
): UnsupportedDatabase | DatabaseUnavailable | undefined {
  const isMongos = msg === 'isdbgrid';
  if (isreplicaset) return new DatabaseUnavailable(NOT_INITIATED);
  if (setName === undefined && !isMongos) return new UnsupportedDatabase(STANDALONE);
  if (!replicaSet || setName === replicaSet) return undefined;
  return new UnsupportedDatabase(
    isMongos
      ? 'this is a mongos of a sharded cluster. Remove replicaSet from the connection string'
      : `the replica set is named ${setName}. Set replicaSet=${setName} in the connection string`,
  );
}

/**
 * Finds out why no server can be used. The driver itself drops servers that do not match the connection string, and
 * only reports that they do not respond.
 */
export class ServerDiagnosis {
  private readonly servers = new Map<string, Error | 'usable' | 'unknown'>();

  /**
   * The problem of the first server that has a problem. `undefined` if any server is usable, or if no problem is known.
   */
  get problem(): Error | undefined {
    const states = [...this.servers.values()];
    return states.includes('usable') ? undefined : states.find((state) => state instanceof Error);
  }

  /**
   * Watches a client that has not connected yet. Rejects with the problem of the first server when every server is
   * known to have a problem that a person must fix.
   */
  watch(client: MongoClient): Promise<never> {
    const { replicaSet } = client.options;
    client.on('serverOpening', ({ address }) => {
      if (!this.servers.has(address)) this.servers.set(address, 'unknown');
    });
    client.on('serverHeartbeatFailed', ({ connectionId }) => this.servers.set(connectionId, 'unknown'));
    return new Promise((_, reject) => {
      client.on('serverHeartbeatSucceeded', ({ connectionId, reply }) => {
        this.servers.set(connectionId, findProblem(reply, replicaSet) ?? 'usable');
        const states = [...this.servers.values()];
        if (states.every((state) => state instanceof UnsupportedDatabase)) reject(states[0]);
      });
    });
  }
}
