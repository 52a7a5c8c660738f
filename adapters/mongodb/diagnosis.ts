import type { Document, MongoClient } from 'mongodb';

/** The reason why a server cannot be used. It is permanent if a person must change the server or the connection string. */
export interface ServerProblem {
  readonly message: string;
  readonly isPermanent: boolean;
}

const STANDALONE = [
  'this mongod is not a member of a replica set, which transactions need. To make it a replica set of one, start it with',
  "`mongod --replSet rs0` and then run `mongosh --eval 'rs.initiate()'`",
].join(' ');
const NOT_INITIATED = "its replica set is not initiated. To initiate it, run `mongosh --eval 'rs.initiate()'`";

/**
 * Returns the problem that a server's response to `hello` shows, or `undefined` if the server can be used. `replicaSet` is the
 * name in the connection string, if any.
 */
export function findProblem({ isreplicaset, setName, msg }: Document, replicaSet?: string): ServerProblem | undefined {
  const isMongos = msg === 'isdbgrid';
  if (isreplicaset) return { message: NOT_INITIATED, isPermanent: false };
  if (setName === undefined && !isMongos) return { message: STANDALONE, isPermanent: true };
  if (!replicaSet || setName === replicaSet) return undefined;
  const message = isMongos
    ? 'this is a mongos of a sharded cluster. Remove replicaSet from the connection string'
    : `the replica set is named ${setName}. Set replicaSet=${setName} in the connection string`;
  return { message, isPermanent: true };
}

/**
 * Finds out why no server can be used. The driver itself drops servers that do not match the connection string, and only
 * reports that they do not respond.
 */
export class ServerDiagnosis {
  private readonly servers = new Map<string, ServerProblem | 'usable' | 'unknown'>();

  /** The problem of the first server that has a problem, or `undefined` if any server is usable. */
  get problem(): ServerProblem | undefined {
    const states = [...this.servers.values()];
    return states.includes('usable') ? undefined : states.find((state) => typeof state === 'object');
  }

  /**
   * Watches a client that has not connected yet. Resolves to the problem of the first server when every server is known to
   * have a permanent problem.
   */
  watch(client: MongoClient): Promise<ServerProblem> {
    const { replicaSet } = client.options;
    client.on('serverOpening', ({ address }) => {
      if (!this.servers.has(address)) this.servers.set(address, 'unknown');
    });
    client.on('serverHeartbeatFailed', ({ connectionId }) => this.servers.set(connectionId, 'unknown'));
    return new Promise((resolve) => {
      client.on('serverHeartbeatSucceeded', ({ connectionId, reply }) => {
        this.servers.set(connectionId, findProblem(reply, replicaSet) ?? 'usable');
        const states = [...this.servers.values()];
        const isPermanent = states.every((state) => typeof state === 'object' && state.isPermanent);
        if (isPermanent) resolve(states[0] as ServerProblem);
      });
    });
  }
}
