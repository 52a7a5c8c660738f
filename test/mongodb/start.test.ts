import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Document, MongoClient } from 'mongodb';
import pino from 'pino';
import { problemOf } from '../../adapters/mongodb/diagnosis.ts';
import { readSettings, SettingsError } from '../../bootstrap/settings.ts';
import { startServer } from '../../bootstrap/start-server.ts';
import { runProcess } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { inDatabase, mongod } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { type ReplicaSet, startReplicaSet, startStandalone, startUninitiated } from '../support/replica-set.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const GIVEN_UP_MS = 11_000;
/** The driver by itself reports after 5 seconds that there is no server. */
const FOUND_OUT_WITHIN_MS = 4_000;

/** What a start prints that fails, with its exit code. */
async function refusalOf(settings: Readonly<Record<string, string>>): Promise<string> {
  const service = await startProcess(settings).catch((error: Error) => error.message);
  if (typeof service === 'string') return service;
  service.child.kill('SIGKILL');
  return `it listens at ${service.url}`;
}

/** What a start says of its settings. */
async function linesOf(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const starting = async () => startServer(readSettings(environment), pino({ level: 'silent' }));
  const error = await starting().then(
    ({ stop }) => stop().then(() => new Error('it started')),
    (error: Error) => error,
  );
  if (error instanceof SettingsError) return error.lines;
  throw error;
}

suite('a start on a MongoDB that cannot be used', {
  'says in one line what is wrong with the URI, and never the password': () => {
    const connectionString = /: must be a URL (that|with)|: is no connection string that MongoDB can read$/;
    return each(
      {
        'no host': ['mongodb://ada:hunter2@/advocacy', connectionString],
        'no scheme': ['ada:hunter2@localhost', connectionString],
        'a slash in the password': ['mongodb://ada:tea/hunter2@localhost/advocacy', connectionString],
        'a percent sign in the password': ['mongodb://ada:hunter2%@localhost/advocacy', connectionString],
        'a port that is none': ['mongodb://ada:hunter2@localhost:100000/advocacy', connectionString],
        'an option that is none': ['mongodb://ada:hunter2@localhost/?frobnicate=1', /: option frobnicate is not/],
        'a value that an option has not': ['mongodb://ada:hunter2@localhost/?tls=maybe', /: tls\/ssl must be either/],
        'a name that no database has': ['mongodb://ada:hunter2@localhost/a.b', /: Database names cannot contain/],
      },
      async ([MONGODB_URI, problem]) => {
        const lines = await linesOf({ STORAGE: 'mongodb', MONGODB_URI: MONGODB_URI as string, PORT: '0' });
        assert.equal(lines.length, 1);
        assert.match(lines[0] as string, /^MONGODB_URI: [^\n]+$/);
        assert.match(lines[0] as string, problem as RegExp);
        assert.equal(lines[0]?.includes('hunter2'), false, lines[0]);
      },
    );
  },

  'says in one line that it refuses the password, never which, and exits with 1': async () => {
    const { uri, stop } = await mongod();
    try {
      const withPassword = uri.replace(/^(mongodb:\/\/)(?:[^@/]*@)?/, '$1ada:hunter2@');
      assert.equal(
        await refusalOf(onMongodb(withPassword)),
        'ended with exit code 1: MONGODB_URI: Authentication failed.\n',
      );
    } finally {
      await stop();
    }
  },

  'refuses a standalone server with the two commands that make it a set, and exits with 1': async () => {
    const { uri, server } = await startStandalone();
    try {
      const refusal = await refusalOf(onMongodb(inDatabase(uri, 'advocacy')));
      assert.match(refusal, /^ended with exit code 1: MONGODB_URI: [^\n]+\n$/);
      assert.match(refusal, /`mongod --replSet rs0`.*`mongosh --eval 'rs\.initiate\(\)'`/);
    } finally {
      await server.stop();
    }
  },

  'rejects a connection string that does not match the servers, in one line at once, and exits with 1': async () => {
    const [standalone, set] = await Promise.all([startStandalone(), startReplicaSet()]);
    const { port } = standalone.server;
    const [member] = set.members as [ServerProcess];
    const aSet = /`mongod --replSet rs0`.*`mongosh --eval 'rs\.initiate\(\)'`/;
    const otherName = /: the replica set is named rs0, so write replicaSet=rs0 in the connection string$/;
    try {
      await each(
        {
          'a standalone server by the name of a set': [`127.0.0.1:${port}/?replicaSet=rs0`, aSet],
          'a standalone server by two addresses': [`127.0.0.1:${port},localhost:${port}/`, aSet],
          'another name than the set has': [`127.0.0.1:${member.port}/?replicaSet=rs1`, otherName],
          'another name, of one member': [`127.0.0.1:${member.port}/?replicaSet=rs1&directConnection=true`, otherName],
        },
        async ([rest, problem]) => {
          const startedAt = performance.now();
          const lines = await linesOf({ STORAGE: 'mongodb', MONGODB_URI: `mongodb://${rest}`, PORT: '0' });
          assert.ok(performance.now() - startedAt < FOUND_OUT_WITHIN_MS);
          assert.equal(lines.length, 1);
          assert.match(lines[0] as string, /^MONGODB_URI: [^\n]+$/);
          assert.match(lines[0] as string, problem as RegExp);
        },
      );
      const refusal = await refusalOf(onMongodb(`mongodb://127.0.0.1:${port}/advocacy?replicaSet=rs0`));
      assert.match(
        refusal,
        /^ended with exit code 1: MONGODB_URI: this mongod is not a member of a replica set, [^\n]+\n$/,
      );
    } finally {
      await Promise.all([standalone.server.stop(), set.stop()]);
    }
  },

  'accepts a set despite one wrong address': async () => {
    const [standalone, set] = await Promise.all([startStandalone(), startReplicaSet()]);
    try {
      const uri = set.uri.replace('/?', `,127.0.0.1:${standalone.server.port}/?`);
      await withProcess(onMongodb(inDatabase(uri, 'advocacy')), becomesReady);
    } finally {
      await Promise.all([standalone.server.stop(), set.stop()]);
    }
  },

  'says that the port is taken, and exits with 1': () =>
    onSet(async ({ uri, server }) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      try {
        const PORT = String((taken.address() as AddressInfo).port);
        const refusal = /^ended with exit code 1: PORT: cannot listen on 127\.0\.0\.1:\d+, [^\n]+\n$/;
        assert.match(await refusalOf({ ...onMongodb(uri), PORT }), refusal);
        await server.kill();
        const lines = (await refusalOf({ ...onMongodb(uri), PORT, LOG_LEVEL: 'error' })).split('\n');
        assert.match(lines.join('\n'), refusal);
      } finally {
        taken.close();
      }
    }),
});

suite('a MongoDB whose replica set is not initiated', {
  'is reported with the command that initiates it, and is used afterwards': async () => {
    const byName = (uri: string) => uri;
    const byAddress = (uri: string) => uri.replace(/\?.*/, '');
    const direct = (uri: string) => uri.replace(/\?.*/, '?directConnection=true');
    await Promise.all(
      [byName, byAddress, direct].map(async (uriFrom) => {
        const set = await startUninitiated();
        try {
          await withProcess({ ...onMongodb(uriFrom(set.uri)), LOG_LEVEL: 'warn' }, async (service) => {
            await isUnavailable(service);
            await waitUntil(() => service.output.stderr.includes('"msg"'));
            for (const line of service.output.stderr.trim().split('\n')) {
              assert.match(line, /its replica set is not initiated\. .*`mongosh --eval 'rs\.initiate\(\)'`/);
              assert.doesNotMatch(line, /cannot be reached/);
            }
            await set.initiate();
            await becomesReady(service);
          });
        } finally {
          await set.server.stop();
        }
      }),
    );
  },

  'is reported by the command line, too': async () => {
    const set = await startUninitiated();
    try {
      const env = { STORAGE: 'mongodb', MONGODB_URI: set.uri };
      const { code, stdout, stderr } = await runProcess(['workspace', 'list', '--json'], env);
      assert.deepEqual([code, stdout], [2, '']);
      const line =
        "MongoDB cannot be used: its replica set is not initiated. To initiate it, run `mongosh --eval 'rs.initiate()'`";
      assert.equal(stderr, `${line}\nerror: ${line}\n`);
    } finally {
      await set.server.stop();
    }
  },
});

suite('a connection string without the name of a database', {
  'uses advocacy, and authenticates against admin as before': async () => {
    const folder = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
    const keyFile = join(folder, 'key');
    await writeFile(keyFile, 'a key of the members', { mode: 0o400 });
    const set = await startUninitiated('--keyFile', keyFile);
    try {
      const user = { name: 'ada', password: 'hunter2' };
      await set.initiate(user);
      const uri = set.uri.replace('://', `://${user.name}:${user.password}@`);
      for (const named of [uri, uri.replace('/?', '?'), uri.replace('/?', '/other?authSource=admin&')]) {
        await withUseCases(named, newWorkspace);
      }
      const client = new MongoClient(uri);
      const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
      const workspaces = await client.db('advocacy').collection('workspaces').countDocuments();
      await client.close();
      const own = databases.map(({ name }) => name).filter((name) => !['admin', 'config', 'local'].includes(name));
      assert.deepEqual(own.sort(), ['advocacy', 'other']);
      assert.equal(workspaces, 2);
    } finally {
      await set.server.stop();
      await rm(folder, { recursive: true });
    }
  },
});

suite('the reply of a server to hello', {
  'shows whether the connection string can use it': () =>
    each<readonly [Document, string | undefined, boolean | undefined]>(
      {
        'a member of a set': [{ setName: 'rs0' }, undefined, undefined],
        'a member of the set': [{ setName: 'rs0' }, 'rs0', undefined],
        'a member of another set': [{ setName: 'rs1' }, 'rs0', true],
        'a server that waits for its set': [{ isreplicaset: true }, 'rs0', false],
        'a standalone server': [{}, undefined, true],
        'a mongos': [{ msg: 'isdbgrid' }, undefined, undefined],
        'a mongos by the name of a set': [{ msg: 'isdbgrid' }, 'rs0', true],
      },
      ([hello, replicaSet, isPermanent]) => assert.equal(problemOf(hello, replicaSet)?.isPermanent, isPermanent),
    ),
});

suite('a MongoDB that is away', {
  'is told how to become a set where it comes up without being one': async () => {
    const { uri, server } = await startStandalone();
    try {
      await server.kill();
      await withProcess({ ...onMongodb(inDatabase(uri, 'advocacy')), LOG_LEVEL: 'warn' }, async (service) => {
        await server.start();
        await waitUntil(() => service.output.stderr.includes('rs.initiate()'));
        await isUnavailable(service);
      });
    } finally {
      await server.stop();
    }
  },

  'does not keep a service that is told to stop': () =>
    onSet(({ uri, server, key }) =>
      withProcess(onMongodb(uri), async (service) => {
        await becomesReady(service);
        await server.kill();
        const asking = get(service, key).catch(() => 'it was cut');
        await isUnavailable(service);
        const toldAt = performance.now();
        service.child.kill('SIGTERM');
        assert.equal(await service.waitForExit(), 0);
        assert.ok(performance.now() - toldAt < GIVEN_UP_MS);
        await asking;
      }),
    ),

  'does not keep a service that is told to stop before it was there': () =>
    onSet(async ({ uri, server }) => {
      await server.kill();
      await withProcess(onMongodb(uri), async (service) => {
        service.child.kill('SIGTERM');
        assert.equal(await service.waitForExit(), 0);
      });
    }),
});

/** A database of its own on a server that may be killed, with a key to a workspace. */
interface Place {
  readonly uri: string;
  readonly server: ServerProcess;
  readonly key: string;
}

async function onSet(work: (place: Place) => Promise<void>): Promise<void> {
  const set: ReplicaSet = await startReplicaSet();
  try {
    const uri = inDatabase(set.uri, 'advocacy');
    const { key } = await withUseCases(uri, newWorkspace);
    await work({ uri, server: set.members[0] as ServerProcess, key });
  } finally {
    await set.stop();
  }
}

function get({ url }: ServiceProcess, key: string): Promise<Response> {
  return fetch(`${url}/campaigns`, { headers: { Authorization: `Bearer ${key}` } });
}

/** Asks until the service says that its database is missing, in these words. */
async function isUnavailable({ url }: ServiceProcess): Promise<void> {
  const body = { status: 'unavailable', missing: 'storage' };
  await waitUntil(async () => {
    const reply = await fetch(`${url}/readyz`);
    if (reply.status === 503) assert.deepEqual(await reply.json(), body);
    return reply.status === 503;
  });
}

function becomesReady({ url }: ServiceProcess): Promise<void> {
  return waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200);
}
