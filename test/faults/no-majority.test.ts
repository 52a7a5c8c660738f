import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Deadline } from '../../adapters/http/deadline.ts';
import { fingerprint } from '../../adapters/http/request-body.ts';
import type { MongoConnection } from '../../adapters/mongodb/connection.ts';
import { mongodbStorage } from '../../adapters/mongodb/storage.ts';
import { nodeSystem } from '../../bootstrap/system.ts';
import { Application } from '../../core/application.ts';
import { CoreError } from '../../core/shared/core-error.ts';
import type { Storage } from '../../core/storage.ts';
import { newId, tag } from '../contract/samples.ts';
import { collected } from '../support/collected.ts';
import { each } from '../support/each.ts';
import { assertFailure } from '../support/ledger.ts';
import { type Sending, send } from '../support/load.ts';
import { inDatabase } from '../support/mongod.ts';
import { onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { type ReplicaSet, startReplicaSet } from '../support/replica-set.ts';
import { scale } from '../support/scale.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { suite } from '../support/suite.ts';
import { campaignBody } from '../support/tenants.ts';

/** Longer than the tests last: the primary goes on without a majority, as it does for ten seconds by default. */
const ELECTION_TIMEOUT_MS = 120_000;
/** Longer than MongoDB may work on a command, its wait for the majority included. */
const FROZEN_MS = 3_000;
/** As the service does (pipeline.ts). */
const WORKS_FOR_MS = 10_000;
const RESENT_AFTER_MS = 1_000;
/** A quick run may be one of many things that the machine does. */
const MAX_RESPONSE_MS = scale(20_000, 11_000);

/** A response to a change. `isAcknowledged`: it says that the change is there, also as "not found" or "name taken". */
interface Outcome {
  readonly isAcknowledged: boolean;
  readonly text: string;
  readonly milliseconds: number;
  /** As of `performance.now()`. */
  readonly endedAt: number;
}

/** A change as a client or an operator makes it. */
interface Change {
  first(): Promise<Outcome>;
  /** Sends it again, to another process. */
  again(): Promise<Outcome>;
  /** Whether the change is stored that was acknowledged so many times. */
  isStored(app: Application, acknowledged: number): Promise<boolean>;
}

type Changes = Readonly<Record<string, Change>>;
type Outcomes = Readonly<Record<string, readonly Outcome[]>>;

/** The use cases of the command line, over a connection of its own. */
interface Operator {
  readonly app: Application;
  readonly storage: Storage;
  readonly connection: MongoConnection;
}

/** Two processes of the service and two operators, on a replica set of three. */
interface World {
  readonly set: ReplicaSet;
  readonly uri: string;
  readonly workspaceId: string;
  readonly keyId: string;
  readonly key: string;
  readonly services: readonly [ServiceProcess, ServiceProcess];
  readonly operators: readonly [Operator, Operator];
  /** An operator whose connection string limits the wait for the majority: MongoDB then fails with another error. */
  readonly impatient: Operator;
}

let opened: Promise<World> | undefined;

function world(): Promise<World> {
  opened ??= open();
  return opened;
}

async function open(): Promise<World> {
  const set = await startReplicaSet(3);
  await set.setElectionTimeout(ELECTION_TIMEOUT_MS);
  const uri = inDatabase(set.uri, 'advocacy');
  const operators = await Promise.all([newOperator(uri), newOperator(uri)]);
  const [{ app }] = operators;
  const { id: workspaceId } = await app.workspaces.create('Northwind');
  const { apiKey, secret } = await app.apiKeys.create(workspaceId, {});
  return {
    set,
    uri,
    workspaceId,
    keyId: apiKey.id,
    key: secret,
    services: await Promise.all([startProcess(onMongodb(uri)), startProcess(onMongodb(uri))]),
    operators,
    impatient: await newOperator(`${uri}&wtimeoutMS=300`),
  };
}

async function newOperator(uri: string): Promise<Operator> {
  const { storage, connection } = mongodbStorage(uri, () => undefined);
  await connection.firstAttempt();
  return { app: new Application(storage, nodeSystem()), storage, connection };
}

/** Makes records to change. `loseMajority` is called when the first request with an `Idempotency-Key` has begun. */
async function prepare(world: World, loseMajority: () => Promise<void>): Promise<Changes> {
  const { workspaceId, keyId, key, services, operators } = world;
  const [{ app }] = operators;
  const member = await app.members.create(workspaceId, { name: 'Kim', email: 'kim@northwind.example' });
  const [{ apiKey }, { domain }, tag, campaign, pillar] = await Promise.all([
    app.apiKeys.create(workspaceId, {}),
    app.domains.createOrArchive(workspaceId, { slug: `${randomUUID()}.example` }),
    app.tags.create(workspaceId, randomUUID()),
    app.campaigns.create({ workspaceId }, campaignBody()),
    app.contentPillars.create(workspaceId, { authorId: member.id, title: 'Outdoors', color: 'red' }),
  ]);
  // Each process notes the use of the key before the majority is lost.
  for (const { url } of services) assert.equal((await send(url, { path: '/campaigns', key })).status, 200);

  const requests = (sending: Sending): Pick<Change, 'first' | 'again'> => ({
    first: () => request(services[0], { key, ...sending }),
    again: () => request(services[1], { key, ...sending }),
  });
  const commands = (work: (app: Application) => Promise<unknown>): Pick<Change, 'first' | 'again'> => ({
    first: () => command(() => work(operators[0].app)),
    again: () => command(() => work(operators[1].app)),
  });
  const post = (path: string, body: object, headers = {}) => requests({ method: 'POST', path, body, headers });
  const once = { name: randomUUID() };
  const onceRequest = {
    workspaceId,
    keyId,
    operationId: 'createTag',
    idempotencyKey: once.name,
    fingerprint: fingerprint(once),
  };
  const [name, unique] = [randomUUID(), randomUUID()];
  const hasTag = async (app: Application, name: string) =>
    (await collected(app.tags.iterate(workspaceId))).some((it) => it.name === name);
  const hasDomain = async (app: Application, slug: string, isArchived: boolean) =>
    (await collected(app.domains.iterate(workspaceId))).some((it) => it.slug === slug && it.archived === isArchived);
  const campaignOf = (app: Application) => app.campaigns.get({ workspaceId }, campaign.id);
  return {
    'POST with an Idempotency-Key, and its retry': {
      ...post('/tags', once, { 'Idempotency-Key': once.name }),
      first: () =>
        command(() => {
          const served = app.runOnce(onceRequest, async (staged) => {
            await loseMajority();
            return { status: 201, body: JSON.stringify(await staged.tags.create(workspaceId, once.name)) };
          });
          return new Deadline(WORKS_FOR_MS).run(served);
        }),
      isStored: (app) => hasTag(app, once.name),
    },
    'PATCH, and the same again': {
      ...requests({ method: 'PATCH', path: `/tags/${tag.id}`, body: { name } }),
      isStored: (app) => hasTag(app, name),
    },
    'POST, and again: the name is taken': {
      ...post('/tags', { name: unique }),
      isStored: (app) => hasTag(app, unique),
    },
    'POST in a transaction, and again: the slug is taken': {
      ...post('/domains', { slug: `${unique}.example` }),
      isStored: (app) => hasDomain(app, `${unique}.example`, false),
    },
    'POST in a transaction, and again, which changes nothing': {
      ...post('/domains', { slug: domain.slug, archived: true }),
      isStored: (app) => hasDomain(app, domain.slug, true),
    },
    'DELETE, and again: not found': {
      ...requests({ method: 'DELETE', path: `/content-pillars/${pillar.id}` }),
      isStored: async (app) =>
        (await collected(app.contentPillars.iterate(workspaceId))).every(({ id }) => id !== pillar.id),
    },
    'key revoke, and again': {
      ...commands((app) => app.apiKeys.revoke(workspaceId, apiKey.id)),
      isStored: async (app) => {
        const keys = await collected(app.apiKeys.iterate(workspaceId));
        return keys.find(({ id }) => id === apiKey.id)?.revokedAt !== null;
      },
    },
    'member update, and again': {
      ...commands((app) => app.members.update(workspaceId, member.id, { name: 'Robin' })),
      isStored: async (app) => {
        const members = await collected(app.members.iterate(workspaceId));
        return members.find(({ id }) => id === member.id)?.name === 'Robin';
      },
    },
    'share record, and again': {
      ...commands((app) => app.campaigns.recordShare(workspaceId, campaign.id, member.id)),
      isStored: async (app) => (await campaignOf(app)).shares === 1,
    },
    'click record, and another one': {
      ...commands((app) => app.campaigns.recordClicks(workspaceId, campaign.id, 1)),
      isStored: async (app, acknowledged) => (await campaignOf(app)).clicks >= acknowledged,
    },
  };
}

async function request({ url }: ServiceProcess, sending: Sending): Promise<Outcome> {
  const sent = await send(url, sending);
  const { at, milliseconds, status, text } = sent;
  const isInProgress = /is being served/.test(text);
  if (status === 500) assertFailure(sent);
  else assert.ok([200, 201, 404, 409].includes(status), `${status} ${text}`);
  const isAcknowledged = status !== 500 && !isInProgress;
  return { isAcknowledged, text: `${status} ${text}`, milliseconds, endedAt: at + milliseconds };
}

async function command(work: () => Promise<unknown>): Promise<Outcome> {
  const at = performance.now();
  const outcome = await work().then(
    (result) => ({ isAcknowledged: true, text: JSON.stringify(result) }),
    (error: Error) => ({ isAcknowledged: error instanceof CoreError, text: error.message }),
  );
  const endedAt = performance.now();
  return { ...outcome, milliseconds: endedAt - at, endedAt };
}

/** Makes all changes as soon as the majority is lost, and all again while the first ones may still wait for it. */
async function makeAll(world: World, loseMajority: () => Promise<void>): Promise<[Changes, Outcomes]> {
  let start: () => void;
  const isLost = new Promise<void>((resolve) => (start = resolve));
  const changes = await prepare(world, () => loseMajority().then(() => start()));
  const outcomes = Object.entries(changes).map(async ([name, { first, again }], i) => {
    const resent = isLost.then(() => delay(RESENT_AFTER_MS)).then(again);
    return [name, await Promise.all([i === 0 ? first() : isLost.then(first), resent])] as const;
  });
  return [changes, Object.fromEntries(await Promise.all(outcomes))];
}

/** Fails if a change was acknowledged and is not there. */
function assertStored(uri: string, changes: Changes, outcomes: Outcomes): Promise<void> {
  return withUseCases(uri, (app) =>
    each(changes, async ({ isStored }, name) => {
      const count = outcomes[name]?.filter(({ isAcknowledged }) => isAcknowledged).length ?? 0;
      assert.ok(count === 0 || (await isStored(app, count)), `was acknowledged ${count} times, and is lost`);
    }),
  );
}

async function secondariesOf(set: ReplicaSet): Promise<[ServerProcess, ServerProcess]> {
  const primary = await set.primary();
  return set.members.filter((member) => member !== primary) as [ServerProcess, ServerProcess];
}

/** Every method of the storage that acknowledges something. */
async function storageMethods({ storage }: Operator): Promise<Record<string, () => Promise<unknown>>> {
  const workspaceId = newId();
  const [taken, same, changed, removed] = ['taken', 'same', 'changed', 'removed'].map((name) => tag(workspaceId, name));
  for (const it of [taken, same, changed, removed]) await storage.tags.add(it as typeof taken & object);
  const entry = { id: newId(), workspaceId, keyId: newId() };
  await storage.credentials.add(entry);
  const another = (name: string) => tag(workspaceId, name);
  const idOf = (it: typeof taken) => it?.id as string;
  return {
    add: () => storage.tags.add(another('added')),
    'add what is taken': () => storage.tags.add(another('taken')),
    'several at once': () => Promise.all(['one', 'two', 'three'].map((name) => storage.tags.add(another(name)))),
    addMany: () => storage.tags.addMany([another('many'), another('more')]),
    'addMany, some of which are taken': () => storage.tags.addMany([another('taken'), another('most')]),
    update: () => storage.tags.update(workspaceId, idOf(changed), (it) => ({ ...it, name: 'new' })),
    'update of nothing': () => storage.tags.update(workspaceId, idOf(same), (it) => it),
    'update to what is taken': () =>
      storage.tags.update(workspaceId, idOf(same), (it) => ({ ...it, name: 'taken', foldedName: 'taken' })),
    remove: () => storage.tags.remove(workspaceId, idOf(removed)),
    'remove of nothing': () => storage.tags.remove(workspaceId, newId()),
    'add to a registry': () => storage.credentials.add({ ...entry, id: newId() }),
    'add to a registry what is taken': () => storage.credentials.add(entry),
    'remove from a registry': () => storage.credentials.remove(entry.id),
    'a transaction that changes': () => storage.runInTransaction(({ tags }) => tags.add(another('staged'))),
    'a transaction that only reads': () => storage.runInTransaction(({ tags }) => tags.get(workspaceId, idOf(taken))),
    'a transaction that is rejected': () => storage.runInTransaction(({ tags }) => tags.add(another('taken'))),
  };
}

suite('a change that no majority has yet', {
  'needs a replica set of three, two processes and two operators': world,

  'is acknowledged only when a majority has it, and then survives the loss of the primary': async () => {
    const all = await world();
    const { set, uri } = all;
    const [slow, dead] = await secondariesOf(set);
    let thawedAt = Number.POSITIVE_INFINITY;
    const [changes, outcomes] = await makeAll(all, async () => {
      slow.freeze();
      await dead.kill();
      setTimeout(() => {
        thawedAt = performance.now();
        slow.thaw();
      }, FROZEN_MS);
    });
    const primary = await set.primary();
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

  'is not acknowledged while both secondaries are dead, but is at a retry afterwards': async () => {
    const all = await world();
    const { set, uri, impatient } = all;
    await set.healthy();
    const secondaries = await secondariesOf(set);
    const methods = await storageMethods(impatient);
    let calls: Promise<readonly [string, Outcome]>[] = [];
    const [changes, outcomes] = await makeAll(all, async () => {
      // Whoever is frozen acknowledges nothing while the other one is killed.
      for (const secondary of secondaries) secondary.freeze();
      for (const secondary of secondaries) await secondary.kill();
      calls = Object.entries(methods).map(async ([name, method]) => [name, await command(method)] as const);
    });
    await each(outcomes, (both) => {
      for (const { isAcknowledged, text, milliseconds } of both) {
        assert.equal(isAcknowledged, false, text);
        assert.ok(milliseconds < MAX_RESPONSE_MS, `took ${milliseconds} ms`);
      }
    });
    await each(await Promise.all(calls), ({ isAcknowledged, text }) => assert.equal(isAcknowledged, false, text));

    for (const secondary of secondaries) await secondary.start();
    await set.healthy();
    const resent = Object.entries(changes).map(async ([name, { again }]) => [name, [await again()]] as const);
    const outcomesAgain = Object.fromEntries(await Promise.all(resent));
    await each(outcomesAgain, ([outcome]) => assert.equal(outcome?.isAcknowledged, true, outcome?.text));
    await (await set.primary()).kill();
    await set.elect(secondaries);
    await assertStored(uri, changes, outcomesAgain);
  },

  'leaves nothing behind': async () => {
    const { set, services, operators, impatient } = await world();
    for (const { connection } of [...operators, impatient]) await connection.close();
    for (const { child } of services) child.kill('SIGKILL');
    await set.stop();
  },
});
