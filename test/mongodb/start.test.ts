import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import pino from 'pino';
import { start } from '../../bootstrap/server.ts';
import { readSettings, SettingsError } from '../../bootstrap/settings.ts';
import { each } from '../support/each.ts';
import { inDatabase, mongod } from '../support/mongod.ts';
import { newWorkspace, onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { type ReplicaSet, startReplicaSet, startStandalone } from '../support/replica-set.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { until } from '../support/until.ts';

const GIVEN_UP_MS = 11_000;

/** What a start prints that fails, with its exit code. */
async function refusalOf(settings: Readonly<Record<string, string>>): Promise<string> {
  const service = await startProcess(settings).catch((error: Error) => error.message);
  if (typeof service === 'string') return service;
  service.child.kill('SIGKILL');
  return `it listens at ${service.url}`;
}

/** What a start says of its settings. */
async function linesOf(environment: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const starting = async () => start(readSettings(environment), pino({ level: 'silent' }));
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

  'says that the port is taken, and exits with 1': () =>
    onSet(async ({ uri, server }) => {
      const taken = createServer().listen(0, '127.0.0.1');
      await once(taken, 'listening');
      try {
        const PORT = String((taken.address() as AddressInfo).port);
        const refusal = /^ended with exit code 1: 127\.0\.0\.1:\d+ cannot be listened at: [^\n]+\n$/;
        assert.match(await refusalOf({ ...onMongodb(uri), PORT }), refusal);
        await server.kill();
        const lines = (await refusalOf({ ...onMongodb(uri), PORT, LOG_LEVEL: 'error' })).split('\n');
        assert.match(lines.join('\n'), refusal);
      } finally {
        taken.close();
      }
    }),
});

suite('a MongoDB that is away', {
  'is told how to become a set where it comes up without being one': async () => {
    const { uri, server } = await startStandalone();
    try {
      await server.kill();
      await withProcess({ ...onMongodb(inDatabase(uri, 'advocacy')), LOG_LEVEL: 'warn' }, async (service) => {
        await server.start();
        await until(() => service.printed.stderr.includes('rs.initiate()'));
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
        assert.equal(await service.ended(), 0);
        assert.ok(performance.now() - toldAt < GIVEN_UP_MS);
        await asking;
      }),
    ),

  'does not keep a service that is told to stop before it was there': () =>
    onSet(async ({ uri, server }) => {
      await server.kill();
      await withProcess(onMongodb(uri), async (service) => {
        service.child.kill('SIGTERM');
        assert.equal(await service.ended(), 0);
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
  await until(async () => {
    const reply = await fetch(`${url}/readyz`);
    if (reply.status === 503) assert.deepEqual(await reply.json(), body);
    return reply.status === 503;
  });
}

function becomesReady({ url }: ServiceProcess): Promise<void> {
  return until(async () => (await fetch(`${url}/readyz`)).status === 200);
}
