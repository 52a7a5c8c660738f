import assert from 'node:assert/strict';
import { each } from '../support/each.ts';
import { type Fixture, withFixture } from '../support/fixture.ts';
import { createDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { suite } from '../support/suite.ts';
import { createCampaignBody } from '../support/tenants.ts';

const ROUND_COUNT = 10;
const READER_COUNT = 4;

/** Fields of one response. They agree if both say that the campaign was shared, or both that it was not. */
interface Pair {
  readonly shares: number;
  readonly hasShared: boolean;
}

/** Reads a campaign repeatedly from `path`, as the member who shares it, until the share is counted. */
async function readPairs({ call }: Fixture, id: string, path: string): Promise<Pair[]> {
  const pairs: Pair[] = [];
  while (pairs.at(-1)?.shares !== 1) {
    const { json } = await call('GET', path);
    const { shares, hasShared } = [json].flat().find((campaign) => campaign.id === id);
    pairs.push({ shares, hasShared });
  }
  return pairs;
}

suite('a campaign that is read while it is shared', {
  'has shares and hasShared that agree in each response': async () => {
    const database = await createDatabase();
    try {
      await each({ default: {}, mongodb: createMongodbSettings(database.uri) }, (settings) =>
        withFixture(
          async (fixture, { app }) => {
            const { workspaceId, admin, call } = fixture;
            const inconsistent: Pair[] = [];
            for (let round = 0; round < ROUND_COUNT; round++) {
              const { id } = (await call('POST', '/campaigns', createCampaignBody())).json;
              const paths = [`/campaigns/${id}`, '/campaigns'];
              const reading = Array.from({ length: READER_COUNT }, (_, i) =>
                readPairs(fixture, id, paths[i % 2] as string),
              );
              await app.shares.createForMember(workspaceId, id, admin.id);
              const pairs = (await Promise.all(reading)).flat();
              inconsistent.push(...pairs.filter(({ shares, hasShared }) => hasShared !== (shares === 1)));
            }
            assert.deepEqual(inconsistent, []);
          },
          { settings },
        ),
      );
    } finally {
      await database.stop();
    }
  },
});
