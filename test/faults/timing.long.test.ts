import assert from 'node:assert/strict';
import { apiKeySecret } from '../../core/access/api-key.ts';
import { quantile, send } from '../support/load.ts';
import { mongod } from '../support/mongod.ts';
import { onMongodb, withUseCases } from '../support/mongodb-service.ts';
import { withProcess } from '../support/process.ts';
import { suite } from '../support/suite.ts';
import { createTenant, NEVER } from '../support/tenants.ts';

const PAIRS = 1_500;
/** One question more to the database is a third of the time or more. */
const MOST_APART = 0.15;

type Ask = () => Promise<{ readonly status: number }>;

/** How far apart the medians are of what is asked in turn, as a part of the one. */
async function apart(one: Ask, other: Ask, status: number): Promise<number> {
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < PAIRS; i++) {
    for (const [at, ask] of i % 2 === 0
      ? ([
          [0, one],
          [1, other],
        ] as const)
      : ([
          [1, other],
          [0, one],
        ] as const)) {
      const start = performance.now();
      assert.equal((await ask()).status, status);
      times[at].push(performance.now() - start);
    }
  }
  const [a, b] = [quantile(times[0], 0.5), quantile(times[1], 0.5)];
  return Math.abs(a - b) / Math.min(a, b);
}

suite('the time of an answer', {
  'does not tell whether a record is another workspace’s, or a key was there': async () => {
    const database = await mongod();
    try {
      await withUseCases(database.uri, async (application) => {
        const [own, other] = [await createTenant({ application }, 'own'), await createTenant({ application }, 'other')];
        const { apiKey, secret: revoked } = await application.apiKeys.create(own.workspaceId, {});
        await application.apiKeys.revoke(own.workspaceId, apiKey.id);
        const unknown = apiKeySecret('0'.repeat(32));
        const settings = { ...onMongodb(database.uri), LOG_LEVEL: 'error', REFUSED_CREDENTIALS_PER_MINUTE: '1000000' };
        await withProcess(settings, async ({ url }) => {
          const get = (id: string, key: string) => () => send(url, { method: 'GET', path: `/campaigns/${id}`, key });
          const told = {
            record: await apart(get(NEVER, own.key), get(other.ids.campaigns, own.key), 404),
            key: await apart(get(NEVER, unknown), get(NEVER, revoked), 401),
          };
          assert.ok(told.record < MOST_APART && told.key < MOST_APART, JSON.stringify(told));
        });
      });
    } finally {
      await database.stop();
    }
  },
});
