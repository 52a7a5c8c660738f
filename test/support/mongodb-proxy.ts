import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { withMongoClient } from './mongo-client.ts';
import { withDatabase } from './mongod.ts';
import { REQUEST_ID_OFFSET, RESPONSE_TO_OFFSET, readCommandName, readMessages } from './mongodb-wire.ts';

/** The lost part of a command: the server never gets the request, or executes the command and the response is lost. */
export type Loss = 'request' | 'response';

/** A proxy that loses some commands to MongoDB, as a network can. Each loss closes the connection. */
export interface MongodbProxy {
  readonly uri: string;
  /**
   * Loses the next `times` commands with the name `command`. Runs `onLoss` after each loss, before the connection is
   * closed.
   */
  lose(command: string, what: Loss, times: number, onLoss?: () => Promise<unknown>): void;
  /** The number of commands that `lose` has still to lose. */
  readonly remainingLossCount: number;
  /** While `true`, each new connection is closed. */
  isUnavailable: boolean;
  /** The delay of each response. */
  delayMs: number;
  /** The number of commands that the proxy has received, by name. */
  readonly commandCounts: Map<string, number>;
  close(): Promise<void>;
}

/** Starts a proxy in front of the primary of a database. */
export async function startMongodbProxy(uri: string): Promise<MongodbProxy> {
  const [, host, port] = /^(.+):(\d+)$/.exec(await findPrimaryAddress(uri)) as RegExpExecArray;
  const sockets = new Set<Socket>();
  let plan = { command: '', what: 'response' as Loss, times: 0, onLoss: async (): Promise<unknown> => undefined };

  const server = createServer((client) => {
    if (proxy.isUnavailable) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), host);
    const pair = [client, upstream];
    const lostRequestIds = new Set<number>();
    const close = async (isLoss: boolean) => {
      if (isLoss) await plan.onLoss();
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      sockets.add(socket);
      socket.on('error', () => close(false));
      socket.on('close', () => close(false).then(() => sockets.delete(socket)));
    }
    readMessages(client, (message) => {
      const command = readCommandName(message);
      proxy.commandCounts.set(command, (proxy.commandCounts.get(command) ?? 0) + 1);
      const isLost = plan.times > 0 && command === plan.command;
      if (isLost) plan.times--;
      if (isLost && plan.what === 'request') close(true);
      else upstream.write(message);
      if (isLost) lostRequestIds.add(message.readInt32LE(REQUEST_ID_OFFSET));
    });
    readMessages(upstream, (message) => {
      if (lostRequestIds.has(message.readInt32LE(RESPONSE_TO_OFFSET))) close(true);
      else if (proxy.delayMs > 0) setTimeout(() => client.write(message), proxy.delayMs);
      else client.write(message);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy: MongodbProxy = {
    uri: toDirectUri(uri, address),
    isUnavailable: false,
    delayMs: 0,
    commandCounts: new Map(),
    lose(command, what, times, onLoss = async () => undefined) {
      plan = { command, what, times, onLoss };
    },
    get remainingLossCount() {
      return plan.times;
    },
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
  return proxy;
}

/** Passes a proxy in front of an empty database to a test, and the URI of the database without the proxy. */
export function withMongodbProxy(test: (proxy: MongodbProxy, uri: string) => Promise<void>): Promise<void> {
  return withDatabase(async (uri) => {
    const proxy = await startMongodbProxy(uri);
    try {
      await test(proxy, uri);
    } finally {
      await proxy.close();
    }
  });
}

async function findPrimaryAddress(uri: string): Promise<string> {
  return withMongoClient(uri, async (client) => (await client.db().command({ hello: 1 })).me);
}

/**
 * Returns the URI of the same database at another address. The client connects to no other members of the replica set.
 */
function toDirectUri(uri: string, address: string): string {
  const [, scheme, user = '', database, query = ''] = /^([^:]+:\/\/)([^@/]+@)?[^/]+\/([^?]*)(\?.*)?$/.exec(
    uri,
  ) as RegExpExecArray;
  const options = new URLSearchParams(query);
  options.delete('replicaSet');
  options.set('directConnection', 'true');
  return `${scheme}${user}${address}/${database}?${options}`;
}
