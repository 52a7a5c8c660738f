import assert from 'node:assert/strict';
import { apiKeySecret } from '../../core/access/api-key.ts';
import type { Application } from '../../core/application.ts';
import { each } from '../support/each.ts';
import { quantile, type Sending, send } from '../support/load.ts';
import { mongod } from '../support/mongod.ts';
import { onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { callOf, kindOf, pathOf, withId } from '../support/operations.ts';
import { withProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { campaignBody, createEndedKey, createTenant, NEVER, type Tenant } from '../support/tenants.ts';

const TIMES = 800;
/** One question more to the database is a third of the time or more. */
const MOST_APART = 0.15;

/** Two requests that are answered alike, of which the one is about what never was and the other about what is there. */
interface Pair {
  readonly status: number;
  readonly never: Sending;
  readonly there: Sending;
}

/** The median of how much longer the one takes than the other right beside it, as a part of the median time. */
async function apart(url: string, { status, never, there }: Pair): Promise<number> {
  const millisecondsOf = async (sending: Sending) => {
    const sent = await send(url, sending);
    assert.equal(sent.status, status, sent.text);
    return sent.milliseconds;
  };
  const [times, differences]: [number[], number[]] = [[], []];
  for (let i = 0; i < TIMES; i++) {
    const [one, other] = i % 2 === 0 ? [never, there] : [there, never];
    const [first, second] = [await millisecondsOf(one), await millisecondsOf(other)];
    times.push(first, second);
    differences.push(i % 2 === 0 ? second - first : first - second);
  }
  return Math.abs(quantile(differences, 0.5)) / quantile(times, 0.5);
}

/** What another workspace has, in every path that takes an id and in all that a body or a filter may name. */
function pairsOfRecords(own: Tenant, other: Tenant): Readonly<Record<string, Pair>> {
  const pair = (status: number, ask: (id: string, slug: string) => Sending, foreignId: string): Pair => ({
    status,
    never: { key: own.key, ...ask(NEVER, 'never.example') },
    there: { key: own.key, ...ask(foreignId, other.names.domain) },
  });
  const inPaths = withId.map(([name, operation]) => {
    const { body } = callOf(operation, own);
    const ask = (id: string) => ({ method: operation.method, path: pathOf(operation, id), ...(body && { body }) });
    return [name, pair(404, ask, other.ids[kindOf(operation)])] as const;
  });
  const create = (path: string, body: object): Sending => ({ method: 'POST', path, body });
  const campaign = (more: object) => create('/campaigns', { ...campaignBody(), ...more });
  const { tags, groups, 'content-pillars': pillar } = other.ids;
  return {
    ...Object.fromEntries(inPaths),
    tagIds: pair(422, (id) => campaign({ tagIds: [id] }), tags),
    groupIds: pair(422, (id) => campaign({ groupIds: [id] }), groups),
    contentPillarId: pair(422, (id) => campaign({ contentPillarId: id }), pillar),
    domain: pair(422, (_, domain) => campaign({ domain }), ''),
    groups: pair(422, (id) => create('/inspiration-questions', { question: 'Why?', groups: [id] }), groups),
    'a filter by tag': pair(200, (id) => ({ path: `/campaigns?tagIds=${id}` }), tags),
    'a filter by member': pair(200, (id) => ({ path: `/campaigns?userId=${id}` }), other.adminId),
    'a filter by group': pair(200, (id) => ({ path: `/inspiration-questions?groupIds=${id}` }), groups),
  };
}

/** Keys that are refused. What is wrong about a checksum can be seen without us, so that it may take another time. */
async function pairsOfKeys(app: Application, { workspaceId, key }: Tenant): Promise<Record<string, Pair>> {
  const [unknown, mistyped] = [apiKeySecret('0'.repeat(32)), (secret: string) => `${secret.slice(0, -6)}______`];
  const { apiKey, secret: revoked } = await app.apiKeys.create(workspaceId, {});
  await app.apiKeys.revoke(workspaceId, apiKey.id);
  const ended = await createEndedKey(app, workspaceId);
  const pair = (never: string, there: string): Pair => ({
    status: 401,
    never: { path: '/campaigns', key: never },
    there: { path: '/campaigns', key: there },
  });
  return {
    'a revoked key': pair(unknown, revoked),
    'an ended key': pair(unknown, ended),
    'a mistyped key': pair(mistyped(unknown), mistyped(key)),
  };
}

suite('the time of an answer', {
  'does not tell whether a record is another workspace’s, or a key was there': async () => {
    const database = await mongod();
    try {
      await withUseCases(database.uri, async (app) => {
        const [own, other] = [await createTenant({ app }, 'own'), await createTenant({ app }, 'other')];
        const pairs = { ...pairsOfRecords(own, other), ...(await pairsOfKeys(app, own)) };
        const settings = { ...onMongodb(database.uri), LOG_LEVEL: 'error', REFUSED_CREDENTIALS_PER_MINUTE: '1000000' };
        await withProcess(settings, async ({ url }) => {
          await each(pairs, async (pair) => {
            const told = await apart(url, pair);
            assert.ok(told < MOST_APART, `${told} apart`);
          });
        });
      });
    } finally {
      await database.stop();
    }
  },
});
