import assert from 'node:assert/strict';
import type { Event } from '../../core/event/event.ts';
import { send } from '../support/load.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { startProcess } from '../support/process.ts';
import { quickOrLong } from '../support/scale.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createKey, createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const MEMBER_COUNT = quickOrLong(3, 20);
const CAMPAIGN_COUNT = quickOrLong(10, 50);
const SHARE_COUNT = MEMBER_COUNT * CAMPAIGN_COUNT;
const CLIENT_COUNT = 40;
const SERVICE_COUNT = 2;

suite(`${SERVICE_COUNT} services on MongoDB`, {
  [`add ${SHARE_COUNT} shares of ${CAMPAIGN_COUNT} campaigns, and number their events without a gap`]: () =>
    withDatabase(async (uri) => {
      const settings = createMongodbSettings(uri);
      const services = await Promise.all(Array.from({ length: SERVICE_COUNT }, () => startProcess(settings)));
      try {
        await withApplication(settings, async (app) => {
          const { workspaceId, admin: member } = await createWorkspace(app);
          const fields = createCampaignFields();
          const campaigns = await Promise.all(
            Array.from({ length: CAMPAIGN_COUNT }, () => app.campaigns.create({ workspaceId, member }, fields)),
          );
          const keys = await Promise.all(
            Array.from({ length: MEMBER_COUNT }, () => createKey({ app }, workspaceId, { member: {} })),
          );
          const { items: earlier } = await app.events.list(workspaceId, { after: 0, pageSize: 100 });
          const requests = keys.flatMap((key) =>
            campaigns.map(({ id }) => ({ method: 'POST', path: `/campaigns/${id}/shares`, key })),
          );
          const statuses: number[] = [];
          const runClient = async () => {
            for (let request = requests.pop(); request; request = requests.pop()) {
              const { url } = services[requests.length % SERVICE_COUNT] as (typeof services)[number];
              const sent = request;
              let status = 0;
              // A busy machine can be too slow for so many requests in flight.
              await waitUntil(async () => {
                status = (await send(url, sent)).status;
                return status !== 429;
              });
              statuses.push(status);
            }
          };
          await Promise.all(Array.from({ length: CLIENT_COUNT }, runClient));
          assert.deepEqual(new Set(statuses), new Set([201]));
          const events: Event[] = [...earlier];
          for (let hasNext = true; hasNext; ) {
            const after = events.at(-1)?.sequence ?? 0;
            const page = await app.events.list(workspaceId, { after, pageSize: 100 });
            events.push(...page.items);
            hasNext = page.hasNext;
          }
          assert.deepEqual(
            events.map(({ sequence }) => sequence),
            events.map((_, i) => i + 1),
          );
          const added = events.filter(({ type }) => type === 'share.created');
          assert.equal(new Set(added.map(({ data }) => JSON.stringify(data))).size, SHARE_COUNT);
          for (const { id } of campaigns)
            assert.equal((await app.campaigns.get({ workspaceId, member }, id)).shares, MEMBER_COUNT);
        });
      } finally {
        await Promise.all(services.map((service) => service.kill()));
      }
    }),
});
