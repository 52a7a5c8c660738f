import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { decodeMessage, encodeMessage, REQUEST_ID_OFFSET, readMessages } from './mongodb-wire.ts';
import { type ReplicaSet, startReplicaSet } from './replica-set.ts';
import type { ServerProcess } from './server-process.ts';

/**
 * A stand-in for mongos in front of real replica sets of one member, because the tests have no mongos. It routes commands by
 * the first field of the shard key that `shardCollection` names, and keeps collections without a shard key on the first shard.
 * As mongos does, it responds to `ping` without a shard, and waits for the primary of a shard until `maxTimeMS` (or
 * `hostTimeoutMs`) is over. Then it reports error code 50 (or 133) for a read, or a write error for each document. It splits an
 * insert by shard. It supports only the commands that the service sends, and rejects all others. It also rejects updates and
 * deletes that are not for exactly one shard.
 *
 * Differences from mongos: a document is on the shard of the hash of its shard key value, so a workspace is never split and no
 * chunk moves. A transaction over several shards is committed on one shard after the other (no two-phase commit), with a
 * separate snapshot on each. The cluster time is not passed on. Cursors over several shards must fit into one batch. There are
 * no config servers.
 */
export interface FakeMongos {
  /** The URI of all routers, which are in front of the same shards. */
  readonly uri: string;
  readonly shards: readonly ServerProcess[];
  /** Commands, such as `find workspaces`, that were sent to several shards because they do not name one value of the shard key. */
  readonly broadcasts: string[];
  /** How long a router waits for the primary of a shard before it reports error 133 (`defaultFindReplicaSetHostTimeoutMS`). */
  hostTimeoutMs: number;
  /** The index of the shard with the documents that have this value in the first field of the shard key. */
  shardOf(value: string): number;
  /** Rejects the next `times` commands with the name `command` before any shard gets them, with the error code `code`. */
  fail(command: string, code: number, times: number): void;
  /** The number of commands that `fail` has still to reject. */
  readonly remainingFailureCount: number;
  stop(): Promise<void>;
}

type CommandResponse = Document & { readonly ok: number };

class CommandError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

const [UNSUPPORTED, CURSOR_NOT_FOUND, NO_SUCH_TRANSACTION] = [238, 43, 251];
const [MAX_TIME_EXPIRED, NO_PRIMARY, HOST_UNREACHABLE] = [50, 133, 6];
/** Error codes of a member that is not the primary yet. mongos then waits for the primary. */
const NOT_PRIMARY_CODES = new Set([10107, 11602, 13435, 13436]);
const RETRY_INTERVAL_MS = 20;

const HELLO_RESPONSE = {
  helloOk: true,
  ismaster: true,
  isWritablePrimary: true,
  msg: 'isdbgrid',
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 17,
  ok: 1,
};

/** Starts shards, and routers in front of them. Routers share the shards, the shard keys and the transactions, but no cursors. */
export async function startFakeMongos(shardCount = 2, routerCount = 1): Promise<FakeMongos> {
  const sets: ReplicaSet[] = await Promise.all(Array.from({ length: shardCount }, () => startReplicaSet()));
  const shards = sets.map(({ members }) => members[0] as ServerProcess);
  const cluster: Cluster = {
    shards,
    keys: new Map(),
    transactions: new Map(),
    broadcasts: [],
    hostTimeoutMs: 15_000,
    shardOf: (value) => (createHash('sha256').update(value).digest()[0] as number) % shardCount,
    plannedFailure: { command: '', code: 0, times: 0 },
    get remainingFailureCount() {
      return cluster.plannedFailure.times;
    },
  };
  const routers = await Promise.all(Array.from({ length: routerCount }, () => listen(cluster)));
  return Object.assign(cluster, {
    // Under load, one router may be slower than another. By default, the driver would then not use the slower one for up to ten seconds.
    uri: `mongodb://${routers.map(({ address }) => address).join(',')}/?localThresholdMS=10000`,
    fail(command: string, code: number, times: number) {
      cluster.plannedFailure = { command, code, times };
    },
    async stop() {
      await Promise.all(routers.map(({ close }) => close()));
      await Promise.all(sets.map((set) => set.stop()));
    },
  });
}

interface Cluster extends Pick<FakeMongos, 'shards' | 'broadcasts' | 'shardOf' | 'remainingFailureCount'> {
  hostTimeoutMs: number;
  /** The first field of the shard key of each sharded collection, by `database.collection`. */
  readonly keys: Map<string, string>;
  /** The open transactions. A router may end a transaction that another router started, as mongos does with a recovery token. */
  readonly transactions: Map<string, Transaction>;
  plannedFailure: { command: string; code: number; times: number };
}

async function listen(cluster: Cluster) {
  const sockets = new Set<Socket>();
  /** The shard of each cursor. Other routers do not know the cursors of this router. */
  const cursors = new Map<string, number>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const connections = cluster.shards.map((shard) => new ShardConnection(shard.port, cluster));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      for (const connection of connections) connection.close();
    });
    readMessages(socket, async (message) => {
      const { document: command, isQuery, expectsResponse } = decodeMessage(message);
      const response = await execute(command, connections, cluster, cursors).catch(toErrorResponse);
      if (expectsResponse) socket.write(encodeMessage(response, message.readInt32LE(REQUEST_ID_OFFSET), isQuery));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

interface Transaction {
  readonly shards: Set<number>;
  readonly readConcern: unknown;
}

/** Executes a command as mongos does. */
async function execute(
  command: Document,
  connections: readonly ShardConnection[],
  cluster: Cluster,
  cursors: Map<string, number>,
): Promise<CommandResponse> {
  const name = Object.keys(command)[0] as string;
  const collection = String(command.collection ?? command[name]);
  const namespace = `${command.$db}.${collection}`;
  const { plannedFailure } = cluster;
  if (plannedFailure.times > 0 && plannedFailure.command === name) {
    plannedFailure.times--;
    throw new CommandError(plannedFailure.code, 'failure planned by the test');
  }

  const transactionId =
    command.autocommit === false ? `${command.lsid.id.toString('hex')} ${command.txnNumber}` : undefined;
  const transaction = transactionId === undefined ? undefined : cluster.transactions.get(transactionId);
  if (transactionId !== undefined && command.startTransaction) {
    cluster.transactions.set(transactionId, { shards: new Set(), readConcern: command.readConcern });
  }
  /** Sends a command to a shard. The first command of a transaction on each shard starts the transaction there. */
  const send = (shard: number, sent: Document): Promise<CommandResponse> => {
    const connection = connections[shard] as ShardConnection;
    const current = transactionId === undefined ? undefined : cluster.transactions.get(transactionId);
    if (!current) return connection.send(sent);
    const { startTransaction: _, readConcern: __, ...rest } = sent;
    if (current.shards.has(shard)) return connection.send(rest);
    current.shards.add(shard);
    return connection.send({ ...rest, startTransaction: true, readConcern: current.readConcern });
  };
  const allShards = connections.map((_, shard) => shard);
  /** Returns the shards that may have documents that match a filter. */
  const findShards = (filter: Document = {}): readonly number[] => {
    const key = cluster.keys.get(namespace);
    if (key === undefined) return [0];
    const values = typeof filter[key] === 'string' ? [filter[key]] : filter[key]?.$in;
    const shards = values ? [...new Set<number>(values.map((value: string) => cluster.shardOf(value)))] : allShards;
    if (shards.length !== 1) cluster.broadcasts.push(`${name} ${collection}`);
    return shards;
  };
  const readFromShards = async (filter: Document) => {
    const shards = findShards(filter);
    const responses = await Promise.all(shards.map((shard) => send(shard, command)));
    for (const [i, { cursor }] of responses.entries()) {
      if (String(cursor?.id ?? 0) !== '0') cursors.set(String(cursor.id), shards[i] as number);
    }
    return responses.length === 1 ? (responses[0] as CommandResponse) : mergeResponses(responses, command);
  };

  switch (name) {
    case 'hello':
    case 'ismaster':
      return HELLO_RESPONSE;
    case 'ping':
    case 'endSessions':
      return { ok: 1 };
    case 'shardCollection':
      cluster.keys.set(command[name], Object.keys(command.key)[0] as string);
      return { ok: 1 };
    case 'create':
    case 'createIndexes':
    case 'dropDatabase':
      return (
        (await Promise.all(allShards.map((shard) => send(shard, command)))).find(({ ok }) => !Number(ok)) ?? { ok: 1 }
      );
    case 'listCollections':
    case 'listIndexes':
      // The primary shard of the database has all collections and indexes.
      return send(0, command);
    case 'find':
      return readFromShards(command.filter);
    case 'aggregate':
      return readFromShards(command.pipeline[0]?.$match);
    case 'getMore': {
      const shard = cursors.get(String(command[name]));
      if (shard === undefined) throw new CommandError(CURSOR_NOT_FOUND, 'this router does not have this cursor');
      return send(shard, command);
    }
    case 'killCursors': {
      const shard = cursors.get(String(command.cursors[0]));
      if (shard === undefined) return { cursorsKilled: [], cursorsNotFound: command.cursors, ok: 1 };
      return send(shard, command);
    }
    case 'insert':
      return insert(command, findShards, send);
    case 'update':
    case 'delete': {
      const statements = command[`${name}s`] as readonly Document[];
      const shards = new Set(statements.flatMap(({ q }) => findShards(q)));
      if (shards.size !== 1) throw new CommandError(UNSUPPORTED, `this ${name} is not for exactly one shard`);
      return send([...shards][0] as number, command).catch((error) => toWriteErrors(error, statements));
    }
    case 'commitTransaction':
    case 'abortTransaction': {
      const { recoveryToken: _, ...commandForShards } = command;
      if (!transaction) throw new CommandError(NO_SUCH_TRANSACTION, 'this transaction was not started');
      let response: CommandResponse = { ok: 1 };
      for (const shard of transaction.shards) {
        const shardResponse = await send(shard, commandForShards);
        if (!Number(shardResponse.ok)) response = shardResponse;
      }
      return response;
    }
    default:
      throw new CommandError(UNSUPPORTED, `the stand-in for mongos does not support ${name}`);
  }
}

type SendToShard = (shard: number, command: Document) => Promise<CommandResponse>;

/** Inserts each document on its shard. Each document of an unavailable shard gets a write error. */
async function insert(
  command: Document,
  findShards: (filter: Document) => readonly number[],
  send: SendToShard,
): Promise<CommandResponse> {
  const documents = command.documents as readonly Document[];
  const indexesByShard = new Map<number, number[]>();
  for (const [i, document] of documents.entries()) {
    const shard = findShards(document)[0] as number;
    indexesByShard.set(shard, [...(indexesByShard.get(shard) ?? []), i]);
  }
  const responses = await Promise.all(
    [...indexesByShard].map(async ([shard, ownIndexes]) => {
      const part = ownIndexes.map((i) => documents[i] as Document);
      const response = await send(shard, { ...command, documents: part }).catch((error) => toWriteErrors(error, part));
      const errors = (response.writeErrors ?? []) as readonly Document[];
      return {
        ...response,
        writeErrors: errors.map((it) => ({ ...it, index: ownIndexes[Number(String(it.index))] })),
      } as CommandResponse;
    }),
  );
  const failed = responses.find(({ ok }) => !Number(ok));
  if (failed) return failed;
  const errors = responses.flatMap((response) => response.writeErrors);
  const n = responses.reduce((sum, response) => sum + Number(String(response.n)), 0);
  return { n, ok: 1, ...(errors.length > 0 && { writeErrors: errors }) };
}

function toWriteErrors(error: unknown, statements: readonly unknown[]): CommandResponse {
  if (!(error instanceof CommandError)) throw error;
  const { code, message } = error;
  return { n: 0, nModified: 0, ok: 1, writeErrors: statements.map((_, index) => ({ index, code, errmsg: message })) };
}

/** Merges the results of several shards, sorted by ID if the command sorts by ID. */
function mergeResponses(
  responses: readonly CommandResponse[],
  { limit, sort = {}, skip, aggregate }: Document,
): CommandResponse {
  const failed = responses.find(({ ok }) => !Number(ok));
  if (failed) return failed;
  const isSimple = Object.keys(sort).every((field) => field === '_id') && !Number(skip ?? 0) && !aggregate;
  if (!isSimple || responses.some(({ cursor }) => String(cursor.id) !== '0')) {
    throw new CommandError(UNSUPPORTED, 'the stand-in for mongos does not support merging these results');
  }
  const found = responses.flatMap(({ cursor }) => cursor.firstBatch as Document[]);
  if (sort._id) found.sort((a, b) => Number(sort._id) * (a._id < b._id ? -1 : 1));
  return {
    ...(responses[0] as CommandResponse),
    cursor: { ...responses[0]?.cursor, firstBatch: found.slice(0, Number(limit)) },
  };
}

function toErrorResponse(error: unknown): CommandResponse {
  const code = error instanceof CommandError ? error.code : 1;
  return { ok: 0, code, errmsg: String(error instanceof Error ? error.message : error) };
}

/** A connection to the primary of a shard, for one command at a time. The connection opens at the first command. */
class ShardConnection {
  private socket: Socket | undefined;
  private onResponse: ((response: CommandResponse) => void) | undefined;

  constructor(
    private readonly port: number,
    private readonly cluster: Cluster,
  ) {}

  /** Waits for the primary as mongos does. Rejects with `CommandError` if the shard is unavailable. */
  async send({ $clusterTime: _, ...command }: Document): Promise<CommandResponse> {
    const maxTimeMs = Number(command.maxTimeMS ?? Number.POSITIVE_INFINITY);
    const deadline = Date.now() + Math.min(maxTimeMs, this.cluster.hostTimeoutMs);
    for (;;) {
      const socket = await this.connect();
      const response = socket && (await this.request(socket, command));
      if (response && !NOT_PRIMARY_CODES.has(Number(response.code ?? 0))) return response;
      if (Date.now() >= deadline) break;
      await delay(RETRY_INTERVAL_MS);
    }
    const code = maxTimeMs < this.cluster.hostTimeoutMs ? MAX_TIME_EXPIRED : NO_PRIMARY;
    throw new CommandError(
      code,
      `Could not find host matching read preference { mode: "primary" } for set ${this.port}`,
    );
  }

  close(): void {
    this.socket?.destroy();
  }

  private async connect(): Promise<Socket | undefined> {
    if (this.socket) return this.socket;
    const socket = connect(this.port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (!isOpen) return undefined;
    socket.on('close', () => {
      this.socket = undefined;
      this.onResponse?.({ ok: 0, code: HOST_UNREACHABLE, errmsg: 'connection closed by peer' });
    });
    readMessages(socket, (message) => {
      const { $clusterTime: _, operationTime: __, ...response } = decodeMessage(message).document;
      this.onResponse?.(response as CommandResponse);
    });
    this.socket = socket;
    return socket;
  }

  private request(socket: Socket, command: Document): Promise<CommandResponse> {
    return new Promise((resolve) => {
      this.onResponse = resolve;
      socket.write(encodeMessage(command, 0, false));
    });
  }
}
