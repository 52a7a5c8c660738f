import assert from 'node:assert/strict';
import { createApiKeySecret } from '../../core/access/api-key.ts';
import type { Application } from '../../core/application.ts';
import { each } from '../support/each.ts';
import { type LoadRequest, quantile, send } from '../support/load.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { places } from '../support/places.ts';
import { withProcess } from '../support/process.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createExpiredKey, createTenant, type Tenant } from '../support/tenants.ts';

const SAMPLE_COUNT = 800;
/** Lower than the share of an additional database query, which takes at least a third of the time of a request. */
const MAX_DIFFERENCE_RATIO = 0.15;

/**
 * Two requests with the same response. One refers to a record or key that never existed, the other to an existing
 * record or key.
 */
interface Pair {
  readonly status: number;
  readonly missing: LoadRequest;
  readonly existing: LoadRequest;
}

/** Returns the median difference between the times of the two requests, as a fraction of the median time. */
async function measureDifference(url: string, { status, missing, existing }: Pair): Promise<number> {
  const getMilliseconds = async (options: LoadRequest) => {
    const sent = await send(url, options);
    assert.equal(sent.status, status, sent.text);
    return sent.milliseconds;
  };
  const [times, differences]: [number[], number[]] = [[], []];
  for (let i = 0; i < SAMPLE_COUNT; i++) {
    const [one, other] = i % 2 === 0 ? [missing, existing] : [existing, missing];
    const [first, second] = [await getMilliseconds(one), await getMilliseconds(other)];
    times.push(first, second);
    differences.push(i % 2 === 0 ? second - first : first - second);
  }
  return Math.abs(quantile(differences, 0.5)) / quantile(times, 0.5);
}

/**
 * Returns a pair for each part of a request that can refer to a record, except searches. The existing record is of
 * another workspace.
 */
function createRecordPairs(own: Tenant, other: Tenant): Readonly<Record<string, Pair>> {
  const referring = Object.entries(places).filter(([name]) => !name.startsWith('search of'));
  const pairs = referring.map(([name, { getValue, unknown, status, createRequest }]) => {
    const [missing, existing] = [unknown, getValue(other)].map((value) => {
      const [method, path, body] = createRequest([encodeURIComponent(value)], own);
      return { method, path, key: own.key, ...(body && { body }) };
    }) as [LoadRequest, LoadRequest];
    return [name, { status, missing, existing }] as const;
  });
  return Object.fromEntries(pairs);
}

/**
 * Returns pairs of rejected keys. In each pair, both checksums are right or both are wrong. If a checksum is wrong, a
 * rejection may take a different time. This reveals nothing, because anybody can compute a checksum.
 */
async function createKeyPairs(app: Application, { workspaceId, key }: Tenant): Promise<Record<string, Pair>> {
  const unknown = createApiKeySecret('0'.repeat(32));
  const mistype = (secret: string) => `${secret.slice(0, -6)}______`;
  const { apiKey, secret: revoked } = await app.apiKeys.create(workspaceId, {});
  await app.apiKeys.revoke(workspaceId, apiKey.id);
  const expired = await createExpiredKey(app, workspaceId);
  const createPair = (missing: string, existing: string): Pair => ({
    status: 401,
    missing: { path: '/campaigns', key: missing },
    existing: { path: '/campaigns', key: existing },
  });
  return {
    'a revoked key': createPair(unknown, revoked),
    'an expired key': createPair(unknown, expired),
    'a mistyped key': createPair(mistype(unknown), mistype(key)),
  };
}

suite('the time of a response', {
  'does not reveal whether a key, or a record of another workspace, exists': () =>
    withDatabase((uri) =>
      withApplication(uri, async (app) => {
        const [own, other] = [await createTenant({ app }, 'own'), await createTenant({ app }, 'other')];
        const pairs = { ...createRecordPairs(own, other), ...(await createKeyPairs(app, own)) };
        const settings = {
          ...createMongodbSettings(uri),
          LOG_LEVEL: 'error',
          REJECTED_CREDENTIALS_PER_MINUTE: '1000000',
        };
        await withProcess(settings, async ({ url }) => {
          await each(pairs, async (pair) => {
            const difference = await measureDifference(url, pair);
            assert.ok(difference < MAX_DIFFERENCE_RATIO, `the times differ by ${difference}`);
          });
        });
      }),
    ),
});
