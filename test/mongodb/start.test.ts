import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { findProblem } from '../../adapters/mongodb/diagnosis.ts';
import { UnsupportedDatabase } from '../../adapters/mongodb/errors.ts';
import { assertExitCode, runProcess } from '../support/command-line.ts';
import { each } from '../support/each.ts';
import { withMongoClient } from '../support/mongo-client.ts';
import { withDatabase, withDatabaseName } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import {
  startReplicaSet,
  startStandalone,
  startUninitiatedReplicaSet,
  withReplicaSet,
} from '../support/replica-set.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { getStartErrors } from '../support/start-errors.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { withTemporaryFolder } from '../support/temporary-folder.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const MAX_SHUTDOWN_MS = 11_000;
/** Shorter than the five seconds after which the driver itself reports that no server is available. */
const MAX_DIAGNOSIS_MS = 4_000;

/** Starts a process. Resolves to the output and the exit code of a failed start. */
async function failToStart(settings: Readonly<Record<string, string>>): Promise<string> {
  const service = await startProcess(settings).catch((error: Error) => error.message);
  if (typeof service === 'string') return service;
  service.child.kill('SIGKILL');
  return `the service listens at ${service.url}`;
}

suite('a start on a MongoDB that cannot be used', {
  'reports the problem of the URI in one line without the password': () => {
    const connectionString = /: must be a URL (that|with)|: must be a valid MongoDB connection string\. Percent-encode/;
    return each(
      {
        'no host': ['mongodb://ada:hunter2@/advocacy', connectionString],
        'no scheme': ['ada:hunter2@localhost', connectionString],
        'a slash in the password': ['mongodb://ada:tea/hunter2@localhost/advocacy', connectionString],
        'a percent sign in the password': ['mongodb://ada:hunter2%@localhost/advocacy', connectionString],
        'an invalid port': ['mongodb://ada:hunter2@localhost:100000/advocacy', connectionString],
        'an unknown option': ['mongodb://ada:hunter2@localhost/?frobnicate=1', /: option frobnicate is not/],
        'an invalid value of an option': ['mongodb://ada:hunter2@localhost/?tls=maybe', /: tls\/ssl must be either/],
        'a missing certificate': [
          'mongodb://localhost/?tls=true&tlsCAFile=/no.pem',
          /: cannot read \/no\.pem \(ENOENT/,
        ],
        'an invalid name of a database': ['mongodb://ada:hunter2@localhost/a.b', /: Database names cannot contain/],
      },
      async ([MONGODB_URI, problem]) => {
        const lines = await getStartErrors({ STORAGE: 'mongodb', MONGODB_URI: MONGODB_URI as string, PORT: '0' });
        assert.equal(lines.length, 1);
        assert.match(lines[0] as string, /^MONGODB_URI: [^\n]+$/);
        assert.match(lines[0] as string, problem as RegExp);
        assert.equal(lines[0]?.includes('hunter2'), false, lines[0]);
      },
    );
  },

  'reports a wrong password in one line without the password, and exits with 1': () =>
    withDatabase(async (uri) => {
      const withPassword = uri.replace(/^(mongodb:\/\/)(?:[^@/]*@)?/, '$1ada:hunter2@');
      assert.equal(
        await failToStart(createMongodbSettings(withPassword)),
        'ended with exit code 1: MONGODB_URI: Authentication failed.\n',
      );
    }),

  'reports in one line a connection string that does not match the servers, but accepts one wrong address of several':
    async () => {
      const [standalone, set] = await Promise.all([startStandalone(), startReplicaSet()]);
      const { port } = standalone.server;
      const [member] = set.members as [ServerProcess];
      const notAMember = /`mongod --replSet rs0`.*`mongosh --eval 'rs\.initiate\(\)'`/;
      const otherName = /: the replica set is named rs0\. Set replicaSet=rs0 in the connection string$/;
      try {
        await each(
          {
            'a standalone server': [`127.0.0.1:${port}/advocacy`, notAMember],
            'a standalone server with replicaSet': [`127.0.0.1:${port}/?replicaSet=rs0`, notAMember],
            'a standalone server with two addresses': [`127.0.0.1:${port},localhost:${port}/`, notAMember],
            'another name of the replica set': [`127.0.0.1:${member.port}/?replicaSet=rs1`, otherName],
            'another name with a direct connection': [
              `127.0.0.1:${member.port}/?replicaSet=rs1&directConnection=true`,
              otherName,
            ],
          },
          async ([rest, problem]) => {
            const startedAt = performance.now();
            const lines = await getStartErrors({ STORAGE: 'mongodb', MONGODB_URI: `mongodb://${rest}`, PORT: '0' });
            assert.ok(performance.now() - startedAt < MAX_DIAGNOSIS_MS);
            assert.equal(lines.length, 1);
            assert.match(lines[0] as string, /^MONGODB_URI: [^\n]+$/);
            assert.match(lines[0] as string, problem as RegExp);
          },
        );
        const failure = await failToStart(createMongodbSettings(`mongodb://127.0.0.1:${port}/advocacy?replicaSet=rs0`));
        assert.match(
          failure,
          /^ended with exit code 1: MONGODB_URI: this mongod is not a member of a replica set, [^\n]+\n$/,
        );
        const withWrongAddress = set.uri.replace('/?', `,127.0.0.1:${port}/?`);
        await withProcess(createMongodbSettings(withDatabaseName(withWrongAddress, 'advocacy')), waitUntilReady);
      } finally {
        await Promise.all([standalone.server.stop(), set.stop()]);
      }
    },
});

suite('a MongoDB whose replica set is not initiated', {
  'is reported by the service and the command line with the command that initiates it, and can then be used':
    async () => {
      const withSetName = (uri: string) => uri;
      const direct = (uri: string) => uri.replace(/\?.*/, '?directConnection=true');
      await Promise.all(
        [withSetName, direct].map(async (toUri) => {
          const set = await startUninitiatedReplicaSet();
          try {
            await withProcess({ ...createMongodbSettings(toUri(set.uri)), LOG_LEVEL: 'warn' }, async (service) => {
              await waitUntilUnavailable(service);
              await waitUntil(() => service.output.stderr.includes('"msg"'));
              for (const line of service.output.stderr.trim().split('\n')) {
                assert.match(line, /its replica set is not initiated\. .*`mongosh --eval 'rs\.initiate\(\)'`/);
                assert.doesNotMatch(line, /is unavailable/);
              }
              if (toUri === withSetName) await assertReportedByCommandLine(set.uri);
              await set.initiate();
              await waitUntilReady(service);
            });
          } finally {
            await set.server.stop();
          }
        }),
      );
    },
});

suite('a connection string without the name of a database', {
  'selects the database `advocacy`, and authenticates against the database `admin`': () =>
    withTemporaryFolder(async (folder) => {
      const keyFile = join(folder, 'key');
      await writeFile(keyFile, 'a key of the members', { mode: 0o400 });
      const set = await startUninitiatedReplicaSet('--keyFile', keyFile);
      try {
        const user = { name: 'ada', password: 'hunter2' };
        await set.initiate(user);
        const uri = set.uri.replace('://', `://${user.name}:${user.password}@`);
        for (const validUri of [uri, uri.replace('/?', '?'), uri.replace('/?', '/other?authSource=admin&')]) {
          await withApplication(validUri, createWorkspace);
        }
        const [{ databases }, workspaces] = await withMongoClient(uri, (client) =>
          Promise.all([
            client.db().admin().listDatabases({ nameOnly: true }),
            client.db('advocacy').collection('workspaces').countDocuments(),
          ]),
        );
        const createdNames = databases
          .map(({ name }) => name)
          .filter((name) => !['admin', 'config', 'local'].includes(name));
        assert.deepEqual(createdNames.sort(), ['advocacy', 'other']);
        assert.equal(workspaces, 2);
      } finally {
        await set.server.stop();
      }
    }),
});

suite('the response of a MongoDB server to the command `hello`', {
  'shows whether the connection string can be used with the server': () =>
    each<readonly [hello: Document, replicaSet: string | undefined, isPermanent: boolean | undefined]>(
      {
        // `isPermanent` is `undefined` if there is no problem.
        'a member without replicaSet': [{ setName: 'rs0' }, undefined, undefined],
        'a member with replicaSet': [{ setName: 'rs0' }, 'rs0', undefined],
        'a member of another replica set': [{ setName: 'rs1' }, 'rs0', true],
        'a member of a replica set that is not initiated': [{ isreplicaset: true }, 'rs0', false],
        'a standalone server': [{}, undefined, true],
        'a mongos': [{ msg: 'isdbgrid' }, undefined, undefined],
        'a mongos with replicaSet': [{ msg: 'isdbgrid' }, 'rs0', true],
      },
      ([hello, replicaSet, isPermanent]) => {
        const problem = findProblem(hello, replicaSet);
        assert.equal(problem && problem instanceof UnsupportedDatabase, isPermanent);
      },
    ),
});

suite('an unavailable MongoDB', {
  'is reported with the commands that create a replica set if it later starts as a standalone server': async () => {
    const { uri, server } = await startStandalone();
    try {
      await server.kill();
      await withProcess(
        { ...createMongodbSettings(withDatabaseName(uri, 'advocacy')), LOG_LEVEL: 'warn' },
        async (service) => {
          await server.start();
          await waitUntil(() => service.output.stderr.includes('rs.initiate()'));
          await waitUntilUnavailable(service);
        },
      );
    } finally {
      await server.stop();
    }
  },

  'lets the service shut down within its shutdown timeout': () =>
    withReplicaSet(1, async (set) => {
      const uri = withDatabaseName(set.uri, 'advocacy');
      const { key } = await withApplication(uri, createWorkspace);
      await withProcess(createMongodbSettings(uri), async (service) => {
        await waitUntilReady(service);
        await set.members[0]?.kill();
        // The shutdown may close the connection.
        const response = get(service, key).catch(() => undefined);
        await waitUntilUnavailable(service);
        const stoppedAt = performance.now();
        service.child.kill('SIGTERM');
        assert.equal(await service.waitForExit(), 0);
        assert.ok(performance.now() - stoppedAt < MAX_SHUTDOWN_MS);
        await response;
      });
    }),
});

async function assertReportedByCommandLine(uri: string): Promise<void> {
  const env = { STORAGE: 'mongodb', MONGODB_URI: uri };
  const output = await runProcess(['workspace', 'list', '--json'], env);
  assertExitCode(output, 2);
  assert.equal(output.stdout, '');
  const line =
    "MongoDB cannot be used: its replica set is not initiated. To initiate it, run `mongosh --eval 'rs.initiate()'`";
  assert.equal(output.stderr, `${line}\nerror: ${line}\n`);
}

function get({ url }: ServiceProcess, key: string): Promise<Response> {
  return fetch(`${url}/campaigns`, { headers: { Authorization: `Bearer ${key}` } });
}

/** Waits until `/readyz` reports that the storage is missing. */
async function waitUntilUnavailable({ url }: ServiceProcess): Promise<void> {
  const body = { status: 'unavailable', missing: 'storage' };
  await waitUntil(async () => {
    const response = await fetch(`${url}/readyz`);
    if (response.status === 503) assert.deepEqual(await response.json(), body);
    return response.status === 503;
  });
}

function waitUntilReady({ url }: ServiceProcess): Promise<void> {
  return waitUntil(async () => (await fetch(`${url}/readyz`)).status === 200);
}
