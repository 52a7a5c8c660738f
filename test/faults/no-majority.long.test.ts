import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { computeFingerprint } from '../../adapters/http/idempotency-key.ts';
import { RequestTimeout } from '../../adapters/http/request-timeout.ts';
import type { MongoConnection } from '../../adapters/mongodb/connection.ts';
import { createMongodbEngine } from '../../adapters/mongodb/engine.ts';
import { createNodeSystem } from '../../adapters/node/system.ts';
import { createStorage, type StorageEngine } from '../../adapters/persistence/storage-engine.ts';
import { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import { buildTag, newId } from '../contract/samples.ts';
import { each } from '../support/each.ts';
import { assertInternalError } from '../support/ledger.ts';
import { type LoadRequest, send } from '../support/load.ts';
import { withDatabaseName } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { type ReplicaSet, startReplicaSet } from '../support/replica-set.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';

/** How long a primary without a majority stays primary. The tests need more than MongoDB's default of ten seconds. */
const ELECTION_TIMEOUT_MS = 120_000;
/** Longer than the time limit of a MongoDB command, which includes the wait for the majority. */
const FREEZE_DURATION_MS = 3_000;
const RETRY_DELAY_MS = 1_000;
/** In `npm test`, other programs may share the machine, so the limit is higher. */
const MAX_RESPONSE_MS = 11_000;

/**
 * The outcome of a change. The change is acknowledged if the response, such as a 201, 404 or 409, shows that the change
 * is stored.
 */
interface Outcome {
  readonly isAcknowledged: boolean;
  readonly text: string;
  readonly milliseconds: number;
  /** When the response arrived, as of `performance.now()`. */
  readonly endedAt: number;
}

/** A change by a client. */
interface Change {
  /** Sends the change for the first time. */
  send(): Promise<Outcome>;
  /** Retries the change with the other process. */
  retry(): Promise<Outcome>;
  /** Returns whether the change is stored. */
  isStored(app: Application): Promise<boolean>;
}

type Changes = Readonly<Record<string, Change>>;
type Outcomes = Readonly<Record<string, readonly Outcome[]>>;

/** The use cases of the command line, on a separate connection. */
interface Operator {
  readonly app: Application;
  readonly engine: StorageEngine;
  readonly connection: MongoConnection;
}

/** Two processes of the service and an operator, on a replica set of three. */
interface Environment {
  readonly set: ReplicaSet;
  readonly uri: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly key: string;
  readonly services: readonly [ServiceProcess, ServiceProcess];
  readonly operator: Operator;
  /**
   * An operator whose connection string has `wtimeoutMS`. If its write waits too long for the majority, the write fails
   * with WriteConcernFailed instead of MaxTimeMSExpired.
   */
  readonly shortTimeout: Operator;
}

let environment: Promise<Environment> | undefined;

function getEnvironment(): Promise<Environment> {
  environment ??= createEnvironment();
  return environment;
}

async function createEnvironment(): Promise<Environment> {
  const set = await startReplicaSet(3);
  await set.setElectionTimeout(ELECTION_TIMEOUT_MS);
  const uri = withDatabaseName(set.uri, 'advocacy');
  const operator = await createOperator(uri);
  const { app } = operator;
  const { id: workspaceId } = await app.workspaces.create('Northwind');
  const { apiKey, secret } = await app.apiKeys.create(workspaceId, {});
  return {
    set,
    uri,
    workspaceId,
    keyId: apiKey.id,
    key: secret,
    services: await Promise.all([startProcess(createMongodbSettings(uri)), startProcess(createMongodbSettings(uri))]),
    operator,
    shortTimeout: await createOperator(`${uri}&wtimeoutMS=300`),
  };
}

async function createOperator(uri: string): Promise<Operator> {
  const { engine, connection } = createMongodbEngine(uri, () => undefined);
  await connection.waitForStartup();
  return { app: new Application(createStorage(engine), createNodeSystem()), engine, connection };
}

/**
 * Creates records, and returns changes of these records. The first change calls `loseMajority` while this change is in
 * progress.
 */
async function prepareChanges(environment: Environment, loseMajority: () => Promise<void>): Promise<Changes> {
  const { workspaceId, keyId, key, services, operator } = environment;
  const { app } = operator;
  const member = await app.members.create(workspaceId, { name: 'Kim', email: `${randomUUID()}@northwind.example` });
  const tag = await app.tags.create(workspaceId, { name: randomUUID() });
  const pillar = await app.contentPillars.create({ workspaceId, member }, { title: 'Outdoors', color: 'red' });
  // Makes each process record the use of the key before the majority is lost.
  for (const { url } of services) assert.equal((await send(url, { path: '/campaigns', key })).status, 200);

  const createRequests = (options: LoadRequest): Pick<Change, 'send' | 'retry'> => ({
    send: () => sendRequest(services[0], { key, ...options }),
    retry: () => sendRequest(services[1], { key, ...options }),
  });
  const createPost = (path: string, body: object, headers = {}) =>
    createRequests({ method: 'POST', path, body, headers });
  const onceTag = { name: randomUUID() };
  const onceRequest = {
    workspaceId,
    keyId,
    idempotencyKey: onceTag.name,
    fingerprint: computeFingerprint(['POST', '/tags', onceTag]),
  };
  const [name, unique] = [randomUUID(), randomUUID()];
  const hasTag = async (app: Application, name: string) =>
    (await app.tags.list(workspaceId, { search: name, sortBy: 'name', sortOrder: 'asc', page: 1, pageSize: 1 })).items
      .length > 0;
  return {
    'POST with an Idempotency-Key, and its retry': {
      ...createPost('/tags', onceTag, { 'Idempotency-Key': onceTag.name }),
      send: () =>
        runCommand(() => {
          const served = app.runOnce(onceRequest, async (staged) => {
            await loseMajority();
            return { status: 201, body: JSON.stringify(await staged.tags.create(workspaceId, { name: onceTag.name })) };
          });
          return new RequestTimeout(performance.now()).run(served);
        }),
      isStored: (app) => hasTag(app, onceTag.name),
    },
    'PATCH, and its retry': {
      ...createRequests({ method: 'PATCH', path: `/tags/${tag.id}`, body: { name } }),
      isStored: (app) => hasTag(app, name),
    },
    'POST, and its retry, which is rejected because the name is taken': {
      ...createPost('/tags', { name: unique }),
      isStored: (app) => hasTag(app, unique),
    },
    'POST in a transaction, and its retry, which is rejected because the slug is taken': {
      ...createPost('/domains', { slug: `${unique}.example` }),
      isStored: (app) =>
        app.domains.getBySlug(workspaceId, `${unique}.example`).then(
          () => true,
          () => false,
        ),
    },
    'DELETE, and its retry, which is rejected because the record is not found': {
      ...createRequests({ method: 'DELETE', path: `/content-pillars/${pillar.id}` }),
      isStored: (app) =>
        app.contentPillars.get(workspaceId, pillar.id).then(
          () => false,
          () => true,
        ),
    },
  };
}

async function sendRequest({ url }: ServiceProcess, options: LoadRequest): Promise<Outcome> {
  const sent = await send(url, options);
  const { sentAt, milliseconds, status, text } = sent;
  const isInProgress = /is in progress/.test(text);
  if (status === 500) assertInternalError(sent);
  else assert.ok([200, 201, 404, 409].includes(status), `${status} ${text}`);
  const isAcknowledged = status !== 500 && !isInProgress;
  return { isAcknowledged, text: `${status} ${text}`, milliseconds, endedAt: sentAt + milliseconds };
}

async function runCommand(work: () => Promise<unknown>): Promise<Outcome> {
  const startedAt = performance.now();
  const outcome = await work().then(
    (result) => ({ isAcknowledged: true, text: JSON.stringify(result) }),
    (error: Error) => ({ isAcknowledged: error instanceof CoreError, text: error.message }),
  );
  const endedAt = performance.now();
  return { ...outcome, milliseconds: endedAt - startedAt, endedAt };
}

/**
 * Sends the first change, which causes the loss of the majority, and then the others. Retries each after
 * `RETRY_DELAY_MS`.
 */
async function sendAll(environment: Environment, loseMajority: () => Promise<void>): Promise<[Changes, Outcomes]> {
  let markLost: () => void;
  const majorityLost = new Promise<void>((resolve) => (markLost = resolve));
  const changes = await prepareChanges(environment, () => loseMajority().then(() => markLost()));
  const outcomes = Object.entries(changes).map(async ([name, { send, retry }], i) => {
    const retried = majorityLost.then(() => delay(RETRY_DELAY_MS)).then(retry);
    // The change that is listed first causes the loss of the majority. The others are sent after that.
    return [name, await Promise.all([i === 0 ? send() : majorityLost.then(send), retried])] as const;
  });
  return [changes, Object.fromEntries(await Promise.all(outcomes))];
}

/** Fails if a change was acknowledged and is not stored. */
function assertStored(uri: string, changes: Changes, outcomes: Outcomes): Promise<void> {
  return withApplication(uri, (app) =>
    each(changes, async ({ isStored }, name) => {
      const count = outcomes[name]?.filter(({ isAcknowledged }) => isAcknowledged).length ?? 0;
      assert.ok(count === 0 || (await isStored(app)), `was acknowledged ${count} times, but is lost`);
    }),
  );
}

async function findSecondaries(set: ReplicaSet): Promise<[ServerProcess, ServerProcess]> {
  const primary = await set.findPrimary();
  return set.members.filter((member) => member !== primary) as [ServerProcess, ServerProcess];
}

/** Returns calls of each storage method that waits for the confirmation of a majority before it resolves or rejects. */
async function createStorageCalls({ engine }: Operator): Promise<Record<string, () => Promise<unknown>>> {
  const workspaceId = newId();
  const [taken, same, changed, removed] = ['taken', 'same', 'changed', 'removed'].map((name) =>
    buildTag(workspaceId, name),
  );
  for (const it of [taken, same, changed, removed]) await engine.tags.add(it as typeof taken & object);
  const credential = { id: newId(), workspaceId, keyId: newId() };
  await engine.credentials.add(credential);
  const createOwnTag = (name: string) => buildTag(workspaceId, name);
  const getId = (it: typeof taken) => it?.id as string;
  return {
    add: () => engine.tags.add(createOwnTag('added')),
    'add with a taken name': () => engine.tags.add(createOwnTag('taken')),
    'several adds at the same time': () =>
      Promise.all(['one', 'two', 'three'].map((name) => engine.tags.add(createOwnTag(name)))),
    update: () => engine.tags.update(workspaceId, getId(changed), (it) => ({ ...it, name: 'new' })),
    'update without a change': () => engine.tags.update(workspaceId, getId(same), (it) => it),
    'update to a taken name': () =>
      engine.tags.update(workspaceId, getId(same), (it) => ({ ...it, name: 'taken', foldedName: 'taken' })),
    remove: () => engine.tags.remove(workspaceId, getId(removed)),
    'remove of a missing record': () => engine.tags.remove(workspaceId, newId()),
    'add to a global store': () => engine.credentials.add({ ...credential, id: newId() }),
    'add to a global store with a taken id': () => engine.credentials.add(credential),
    'remove from a global store': () => engine.credentials.remove(credential.id),
    'a transaction that adds a record': () => engine.runInTransaction(({ tags }) => tags.add(createOwnTag('staged'))),
    'a transaction that only reads': () => engine.runInTransaction(({ tags }) => tags.get(workspaceId, getId(taken))),
    'a transaction that is rejected': () => engine.runInTransaction(({ tags }) => tags.add(createOwnTag('taken'))),
  };
}

suite('a change that a majority has not stored yet', {
  '(setup: a replica set of three, two processes and an operator)': getEnvironment,

  'is acknowledged only when a majority has stored it, and survives the loss of the primary': async () => {
    const environment = await getEnvironment();
    const { set, uri } = environment;
    const [slow, dead] = await findSecondaries(set);
    let thawedAt = Number.POSITIVE_INFINITY;
    const [changes, outcomes] = await sendAll(environment, async () => {
      slow.freeze();
      await dead.kill();
      setTimeout(() => {
        thawedAt = performance.now();
        slow.thaw();
      }, FREEZE_DURATION_MS);
    });
    const primary = await set.findPrimary();
    await primary.kill();
    await dead.start();
    await set.elect([slow, dead]);
    await primary.start();
    await each(outcomes, (both) => {
      const acknowledged = both.filter(({ isAcknowledged }) => isAcknowledged);
      assert.ok(acknowledged.length > 0, `was not acknowledged: ${both.map(({ text }) => text)}`);
      for (const { endedAt, text } of acknowledged) {
        assert.ok(endedAt >= thawedAt, `was acknowledged ${thawedAt - endedAt} ms too early: ${text}`);
      }
    });
    await assertStored(uri, changes, outcomes);
  },

  'is not acknowledged while both secondaries are dead, but a later retry is acknowledged': async () => {
    const environment = await getEnvironment();
    const { set, uri, shortTimeout } = environment;
    await set.waitUntilHealthy();
    const secondaries = await findSecondaries(set);
    const methods = await createStorageCalls(shortTimeout);
    let calls: Promise<readonly [string, Outcome]>[] = [];
    const [changes, outcomes] = await sendAll(environment, async () => {
      // A frozen secondary acknowledges nothing while the other one is killed.
      for (const secondary of secondaries) secondary.freeze();
      for (const secondary of secondaries) await secondary.kill();
      calls = Object.entries(methods).map(async ([name, method]) => [name, await runCommand(method)] as const);
    });
    await each(outcomes, (both) => {
      for (const { isAcknowledged, text, milliseconds } of both) {
        assert.equal(isAcknowledged, false, text);
        assert.ok(milliseconds < MAX_RESPONSE_MS, `took ${milliseconds} ms`);
      }
    });
    await each(await Promise.all(calls), ({ isAcknowledged, text }) => assert.equal(isAcknowledged, false, text));

    for (const secondary of secondaries) await secondary.start();
    await set.waitUntilHealthy();
    const retried = Object.entries(changes).map(async ([name, { retry }]) => [name, [await retry()]] as const);
    const retryOutcomes = Object.fromEntries(await Promise.all(retried));
    await each(retryOutcomes, ([outcome]) => assert.equal(outcome?.isAcknowledged, true, outcome?.text));
    await (await set.findPrimary()).kill();
    await set.elect(secondaries);
    await assertStored(uri, changes, retryOutcomes);
  },

  '(cleanup: stops the replica set and the processes)': async () => {
    const { set, services, operator, shortTimeout } = await getEnvironment();
    for (const { connection } of [operator, shortTimeout]) await connection.close();
    for (const { child } of services) child.kill('SIGKILL');
    await set.stop();
  },
});
