import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { MongoClient } from 'mongodb';

/** What is lost of a command: the server never gets it, or does it and its answer never comes. */
export type Loss = 'request' | 'answer';

/** A way to a MongoDB on which commands get lost, as on a network; each loss cuts the connection. */
export interface MongodbProxy {
  readonly uri: string;
  /** Loses the next commands of a name; does `meanwhile` after each, before anybody knows of the loss. */
  lose(command: string, what: Loss, times: number, meanwhile?: () => Promise<unknown>): void;
  /** How many are still to be lost. */
  readonly toLose: number;
  /** While it is true, nobody can connect. */
  isAway: boolean;
  /** How long each answer takes on its way. */
  delayMs: number;
  close(): Promise<void>;
}

/** Makes a way to the primary of the database that a URI names. */
export async function mongodbProxy(uri: string): Promise<MongodbProxy> {
  const [, host, port] = /^(.+):(\d+)$/.exec(await primaryOf(uri)) as RegExpExecArray;
  const sockets = new Set<Socket>();
  let plan = { command: '', what: 'answer' as Loss, times: 0, meanwhile: async (): Promise<unknown> => undefined };

  const server = createServer((client) => {
    if (way.isAway) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), host);
    const pair = [client, upstream];
    const unanswered = new Set<number>();
    const cut = async (loses: boolean) => {
      if (loses) await plan.meanwhile();
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      sockets.add(socket);
      socket.on('error', () => cut(false));
      socket.on('close', () => cut(false).then(() => sockets.delete(socket)));
    }
    onMessages(client, (message) => {
      const isChosen = plan.times > 0 && commandOf(message) === plan.command;
      if (isChosen) plan.times--;
      if (isChosen && plan.what === 'request') cut(true);
      else upstream.write(message);
      if (isChosen) unanswered.add(message.readInt32LE(REQUEST_ID));
    });
    onMessages(upstream, (message) => {
      if (unanswered.has(message.readInt32LE(RESPONSE_TO))) cut(true);
      else if (way.delayMs > 0) setTimeout(() => client.write(message), way.delayMs);
      else client.write(message);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const way: MongodbProxy = {
    uri: toServer(uri, at),
    isAway: false,
    delayMs: 0,
    lose(command, what, times, meanwhile = async () => undefined) {
      plan = { command, what, times, meanwhile };
    },
    get toLose() {
      return plan.times;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return way;
}

/** MongoDB's wire protocol: a header of four numbers (length, request id, answer to, kind), then what is said. */
const REQUEST_ID = 4;
const RESPONSE_TO = 8;
const KIND = 12;
const OP_MSG = 2013;
/** In an OP_MSG the name of the command is the first name of the document behind flags and section. */
const COMMAND = 26;

function commandOf(message: Buffer): string {
  if (message.readInt32LE(KIND) !== OP_MSG) return '';
  return message.toString('latin1', COMMAND, message.indexOf(0, COMMAND));
}

export function onMessages(socket: Socket, take: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= REQUEST_ID && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      take(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}

async function primaryOf(uri: string): Promise<string> {
  const client = new MongoClient(uri);
  try {
    return (await client.db().command({ hello: 1 })).me;
  } finally {
    await client.close();
  }
}

/** The URI of the same database at another address, past which the client looks for no other members. */
function toServer(uri: string, address: string): string {
  const [, scheme, user = '', database, query = ''] = /^([^:]+:\/\/)([^@/]+@)?[^/]+\/([^?]*)(\?.*)?$/.exec(
    uri,
  ) as RegExpExecArray;
  const options = new URLSearchParams(query);
  options.delete('replicaSet');
  options.set('directConnection', 'true');
  return `${scheme}${user}${address}/${database}?${options}`;
}
