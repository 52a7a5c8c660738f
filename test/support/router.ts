import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { BSON, type Document } from 'mongodb';
import { onMessages } from './mongodb-proxy.ts';
import { type ReplicaSet, startReplicaSet } from './replica-set.ts';
import type { ServerProcess } from './server-process.ts';

/**
 * A stand-in for mongos in front of real replica sets of one member, because the tests have no mongos. It routes commands by
 * the first field of the shard key that `shardCollection` names, and keeps collections without a shard key on the first shard.
 * As mongos does, it answers `ping` itself, waits for the primary of a shard until `maxTimeMS` is over, and then reports 50
 * for a read, or a write error for each document. It knows only the commands that the service sends, and rejects others, among
 * them a write that is not for exactly one shard.
 *
 * Limits: a value of the shard key is on the shard of its hash, so a workspace is never split and no chunk moves. A transaction
 * over several shards is committed on one after the other (no two-phase commit), with a snapshot of its own on each. The
 * cluster time is not passed on. Cursors over several shards must fit into one batch. There are no config servers.
 */
export interface Router {
  /** Names as many routers in front of the same shards as were asked for. */
  readonly uri: string;
  readonly shards: readonly ServerProcess[];
  /** Reads and inserts that more than one shard was asked for, such as `find workspaces`. */
  readonly broadcasts: string[];
  /** How long a router waits for the primary of a shard before it reports 133 (`defaultFindReplicaSetHostTimeoutMS`). */
  hostTimeoutMs: number;
  /** The index of the shard with the documents that have this value in the first field of the shard key. */
  shardOf(value: string): number;
  /** Has the next commands of a name rejected with an error code, before any shard gets them. */
  fail(command: string, code: number, times: number): void;
  /** How many commands are still to be rejected. */
  readonly toFail: number;
  stop(): Promise<void>;
}

type Reply = Document & { readonly ok: number };

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
/** Codes of a member that is not the primary yet, which mongos waits for. */
const NOT_PRIMARY = new Set([10107, 11602, 13435, 13436]);
const RETRY_EVERY_MS = 20;
const BSON_OPTIONS = { promoteValues: false, promoteBuffers: false };

const HELLO = {
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

/** Starts shards, and routers in front of them that share nothing but the shards and the shard keys. */
export async function startRouter(shardCount = 2, routerCount = 1): Promise<Router> {
  const sets: ReplicaSet[] = await Promise.all(Array.from({ length: shardCount }, () => startReplicaSet()));
  const shards = sets.map(({ members }) => members[0] as ServerProcess);
  const cluster: Cluster = {
    shards,
    keys: new Map(),
    transactions: new Map(),
    broadcasts: [],
    hostTimeoutMs: 15_000,
    shardOf: (value) => (createHash('sha256').update(value).digest()[0] as number) % shardCount,
    failing: { command: '', code: 0, times: 0 },
    get toFail() {
      return cluster.failing.times;
    },
  };
  const routers = await Promise.all(Array.from({ length: routerCount }, () => listen(cluster)));
  return Object.assign(cluster, {
    uri: `mongodb://${routers.map(({ address }) => address).join(',')}/`,
    fail(command: string, code: number, times: number) {
      cluster.failing = { command, code, times };
    },
    async stop() {
      await Promise.all(routers.map(({ close }) => close()));
      await Promise.all(sets.map((set) => set.stop()));
    },
  });
}

interface Cluster extends Pick<Router, 'shards' | 'broadcasts' | 'shardOf' | 'toFail'> {
  hostTimeoutMs: number;
  /** The first field of the shard key of each sharded collection, by `database.collection`. */
  readonly keys: Map<string, string>;
  /** The open transactions. A router may end one that another has begun, as with the recovery token of mongos. */
  readonly transactions: Map<string, Transaction>;
  failing: { command: string; code: number; times: number };
}

async function listen(cluster: Cluster) {
  const sockets = new Set<Socket>();
  /** The shard of each cursor, which only this router knows. */
  const cursors = new Map<string, number>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const links = cluster.shards.map((shard) => new Link(shard.port, cluster));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      for (const link of links) link.close();
    });
    onMessages(socket, async (message) => {
      const { command, isQuery, isUnanswered } = decode(message);
      const reply = await answer(command, links, cluster, cursors).catch(errorReply);
      if (!isUnanswered) socket.write(encode(reply, message.readInt32LE(REQUEST_ID), isQuery));
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

/** Answers a command as mongos does. */
async function answer(
  command: Document,
  links: readonly Link[],
  cluster: Cluster,
  cursors: Map<string, number>,
): Promise<Reply> {
  const name = Object.keys(command)[0] as string;
  const collection = String(command.collection ?? command[name]);
  const namespace = `${command.$db}.${collection}`;
  const { failing } = cluster;
  if (failing.times > 0 && failing.command === name) {
    failing.times--;
    throw new CommandError(failing.code, 'the test says so');
  }

  const transactionId =
    command.autocommit === false ? `${command.lsid.id.toString('hex')} ${command.txnNumber}` : undefined;
  const transaction = transactionId === undefined ? undefined : cluster.transactions.get(transactionId);
  if (transactionId !== undefined && command.startTransaction) {
    cluster.transactions.set(transactionId, { shards: new Set(), readConcern: command.readConcern });
  }
  /** Has a shard do a command; the first one of a transaction on each shard starts it there. */
  const ask = (shard: number, asked: Document): Promise<Reply> => {
    const link = links[shard] as Link;
    const taking = transactionId === undefined ? undefined : cluster.transactions.get(transactionId);
    if (!taking) return link.ask(asked);
    const { startTransaction: _, readConcern: __, ...rest } = asked;
    if (taking.shards.has(shard)) return link.ask(rest);
    taking.shards.add(shard);
    return link.ask({ ...rest, startTransaction: true, readConcern: taking.readConcern });
  };
  const all = links.map((_, shard) => shard);
  /** The shards that may have what a filter finds. */
  const shardsFor = (filter: Document = {}): readonly number[] => {
    const key = cluster.keys.get(namespace);
    if (key === undefined) return [0];
    const values = typeof filter[key] === 'string' ? [filter[key]] : filter[key]?.$in;
    const shards = values ? [...new Set<number>(values.map((value: string) => cluster.shardOf(value)))] : all;
    if (shards.length !== 1) cluster.broadcasts.push(`${name} ${collection}`);
    return shards;
  };
  const readFrom = async (filter: Document) => {
    const shards = shardsFor(filter);
    const replies = await Promise.all(shards.map((shard) => ask(shard, command)));
    for (const [i, { cursor }] of replies.entries()) {
      if (String(cursor?.id ?? 0) !== '0') cursors.set(String(cursor.id), shards[i] as number);
    }
    return replies.length === 1 ? (replies[0] as Reply) : merged(replies, command);
  };

  switch (name) {
    case 'hello':
    case 'ismaster':
      return HELLO;
    case 'ping':
    case 'endSessions':
      return { ok: 1 };
    case 'shardCollection':
      cluster.keys.set(command[name], Object.keys(command.key)[0] as string);
      return { ok: 1 };
    case 'create':
    case 'createIndexes':
      return (await Promise.all(all.map((shard) => ask(shard, command)))).find(({ ok }) => !Number(ok)) ?? { ok: 1 };
    case 'listCollections':
    case 'listIndexes':
      // The primary shard of the database has all of them.
      return ask(0, command);
    case 'find':
      return readFrom(command.filter);
    case 'aggregate':
      return readFrom(command.pipeline[0]?.$match);
    case 'getMore': {
      const shard = cursors.get(String(command[name]));
      if (shard === undefined) throw new CommandError(CURSOR_NOT_FOUND, 'this router has no such cursor');
      return ask(shard, command);
    }
    case 'killCursors': {
      const shard = cursors.get(String(command.cursors[0]));
      if (shard === undefined) return { cursorsKilled: [], cursorsNotFound: command.cursors, ok: 1 };
      return ask(shard, command);
    }
    case 'insert':
      return insert(command, shardsFor, ask);
    case 'update':
    case 'delete': {
      const statements = command[`${name}s`] as readonly Document[];
      const shards = new Set(statements.flatMap(({ q }) => shardsFor(q)));
      if (shards.size !== 1) throw new CommandError(UNSUPPORTED, `this ${name} is not for one shard`);
      return ask([...shards][0] as number, command).catch((error) => writeErrors(error, statements));
    }
    case 'commitTransaction':
    case 'abortTransaction': {
      const { recoveryToken: _, ...ending } = command;
      if (!transaction) throw new CommandError(NO_SUCH_TRANSACTION, 'no router has begun this transaction');
      let reply: Reply = { ok: 1 };
      for (const shard of transaction.shards) {
        const ended = await ask(shard, ending);
        if (!Number(ended.ok)) reply = ended;
      }
      return reply;
    }
    default:
      throw new CommandError(UNSUPPORTED, `the stand-in for mongos does not know ${name}`);
  }
}

type Ask = (shard: number, command: Document) => Promise<Reply>;

/** Inserts each document on its shard; those of a shard that is unavailable have a write error each. */
async function insert(command: Document, shardsFor: (filter: Document) => readonly number[], ask: Ask): Promise<Reply> {
  const documents = command.documents as readonly Document[];
  const indexes = new Map<number, number[]>();
  for (const [i, document] of documents.entries()) {
    const shard = shardsFor(document)[0] as number;
    indexes.set(shard, [...(indexes.get(shard) ?? []), i]);
  }
  const replies = await Promise.all(
    [...indexes].map(async ([shard, own]) => {
      const part = own.map((i) => documents[i] as Document);
      const reply = await ask(shard, { ...command, documents: part }).catch((error) => writeErrors(error, part));
      const errors = (reply.writeErrors ?? []) as readonly Document[];
      return { ...reply, writeErrors: errors.map((it) => ({ ...it, index: own[Number(String(it.index))] })) } as Reply;
    }),
  );
  const failed = replies.find(({ ok }) => !Number(ok));
  if (failed) return failed;
  const errors = replies.flatMap((reply) => reply.writeErrors);
  const n = replies.reduce((sum, reply) => sum + Number(String(reply.n)), 0);
  return { n, ok: 1, ...(errors.length > 0 && { writeErrors: errors }) };
}

function writeErrors(error: unknown, statements: readonly unknown[]): Reply {
  if (!(error instanceof CommandError)) throw error;
  const { code, message } = error;
  return { n: 0, nModified: 0, ok: 1, writeErrors: statements.map((_, index) => ({ index, code, errmsg: message })) };
}

/** One reply of what several shards found, in the order of the ids where the command names one. */
function merged(replies: readonly Reply[], { limit, sort = {}, skip, aggregate }: Document): Reply {
  const failed = replies.find(({ ok }) => !Number(ok));
  if (failed) return failed;
  const isSimple = Object.keys(sort).every((field) => field === '_id') && !Number(skip ?? 0) && !aggregate;
  if (!isSimple || replies.some(({ cursor }) => String(cursor.id) !== '0')) {
    throw new CommandError(UNSUPPORTED, 'the stand-in for mongos cannot merge this');
  }
  const found = replies.flatMap(({ cursor }) => cursor.firstBatch as Document[]);
  if (sort._id) found.sort((a, b) => Number(sort._id) * (a._id < b._id ? -1 : 1));
  return { ...(replies[0] as Reply), cursor: { ...replies[0]?.cursor, firstBatch: found.slice(0, Number(limit)) } };
}

function errorReply(error: unknown): Reply {
  const code = error instanceof CommandError ? error.code : 1;
  return { ok: 0, code, errmsg: String(error instanceof Error ? error.message : error) };
}

/** A connection to the primary of a shard, for one command after the other; opened when it is needed. */
class Link {
  private socket: Socket | undefined;
  private take: ((reply: Reply) => void) | undefined;

  constructor(
    private readonly port: number,
    private readonly cluster: Cluster,
  ) {}

  /** Waits for the primary as mongos does. Rejects with `CommandError` if the shard is unavailable. */
  async ask({ $clusterTime: _, ...command }: Document): Promise<Reply> {
    const maxTimeMs = Number(command.maxTimeMS ?? Number.POSITIVE_INFINITY);
    const deadline = Date.now() + Math.min(maxTimeMs, this.cluster.hostTimeoutMs);
    for (;;) {
      const socket = await this.connected();
      const reply = socket && (await this.exchange(socket, command));
      if (reply && !NOT_PRIMARY.has(Number(reply.code ?? 0))) return reply;
      if (Date.now() >= deadline) break;
      await delay(RETRY_EVERY_MS);
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

  private async connected(): Promise<Socket | undefined> {
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
      this.take?.({ ok: 0, code: HOST_UNREACHABLE, errmsg: 'connection closed by peer' });
    });
    onMessages(socket, (message) => {
      const { $clusterTime: _, operationTime: __, ...reply } = decode(message).command;
      this.take?.(reply as Reply);
    });
    this.socket = socket;
    return socket;
  }

  private exchange(socket: Socket, command: Document): Promise<Reply> {
    return new Promise((resolve) => {
      this.take = resolve;
      socket.write(encode(command, 0, false));
    });
  }
}

/** MongoDB's wire protocol: https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/. */
const [REQUEST_ID, KIND, BODY] = [4, 12, 16];
const [OP_REPLY, OP_QUERY, OP_MSG] = [1, 2004, 2013];
const MORE_TO_COME = 2;

/** The command or the reply of a message; drivers begin with a query, and send batches as sections of their own. */
function decode(message: Buffer): { command: Document; isQuery: boolean; isUnanswered: boolean } {
  const read = (at: number) => BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)), BSON_OPTIONS);
  if (message.readInt32LE(KIND) === OP_QUERY) {
    return { command: read(message.indexOf(0, BODY + 4) + 9), isQuery: true, isUnanswered: false };
  }
  let command: Document = {};
  for (let at = BODY + 4; at < message.length; ) {
    const isBatch = message[at++] === 1;
    const end = at + message.readInt32LE(at);
    if (isBatch) {
      const nameEnd = message.indexOf(0, at + 4);
      const batch: Document[] = [];
      for (let i = nameEnd + 1; i < end; i += message.readInt32LE(i)) batch.push(read(i));
      command = { ...command, [message.toString('utf8', at + 4, nameEnd)]: batch };
    } else {
      command = { ...read(at), ...command };
    }
    at = end;
  }
  return { command, isQuery: false, isUnanswered: (message.readInt32LE(BODY) & MORE_TO_COME) !== 0 };
}

let lastRequestId = 0;

function encode(document: Document, responseTo: number, isReply: boolean): Buffer {
  const body = BSON.serialize(document);
  const prefix = Buffer.alloc(isReply ? BODY + 20 : BODY + 5);
  prefix.writeInt32LE(prefix.length + body.length, 0);
  prefix.writeInt32LE(++lastRequestId, REQUEST_ID);
  prefix.writeInt32LE(responseTo, REQUEST_ID + 4);
  prefix.writeInt32LE(isReply ? OP_REPLY : OP_MSG, KIND);
  if (isReply) prefix.writeInt32LE(1, BODY + 16);
  return Buffer.concat([prefix, body]);
}
