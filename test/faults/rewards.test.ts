import assert from 'node:assert/strict';
import { send, startLoad } from '../support/load.ts';
import { withDatabase } from '../support/mongod.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess } from '../support/process.ts';
import { assertRewardsAgree } from '../support/rewards.ts';
import { quickOrLong } from '../support/scale.ts';
import { type Environment, withApplication, withDurableStorage, withEngine } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const SHARER_COUNT = quickOrLong(20, 200);
const VISITS_PER_LINK = quickOrLong(10, 25);
const CLIENT_COUNT = quickOrLong(6, 16);
const KILL_COUNT = quickOrLong(1, 5);
const LINK_SETTINGS: Environment = { LINKS_PORT: '0', LINKS_URL: 'http://127.0.0.1' };
/** The rewards for all shares and clicks of a test would exceed both limits. */
const TOTAL_BUDGET = `${SHARER_COUNT / 4}.0001`;
const AMOUNTS = { shareRewardAmount: '0.1', clickRewardAmount: '0.07', maxRewardPerEmployee: '0.4' };

/** A campaign and the keys of the members who share it. */
interface SharedCampaign {
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly keys: readonly string[];
}

function createCampaign(settings: Environment): Promise<SharedCampaign> {
  return withApplication(settings, async (app) => {
    const { workspaceId } = await createWorkspace(app);
    const fields = { ...createCampaignFields(), ...AMOUNTS, totalBudget: TOTAL_BUDGET };
    const { id: campaignId } = await app.campaigns.create({ workspaceId }, fields);
    const keys: string[] = [];
    for (let i = 0; i < SHARER_COUNT; i++) {
      const member = { name: 'Ada', email: `${i}@northwind.example`, invitation: 'accepted' } as const;
      const { id: memberId } = await app.members.create(workspaceId, member);
      keys.push((await app.apiKeys.create(workspaceId, { memberId })).secret);
    }
    return { workspaceId, campaignId, keys };
  });
}

/** Shares the campaign. Returns the path of the short link, or `undefined` if the request failed. */
async function share({ url }: ServiceProcess, campaignId: string, key: string): Promise<string | undefined> {
  const { status, text } = await send(url, { method: 'POST', path: `/campaigns/${campaignId}/shares`, key });
  return status === 200 || status === 201 ? new URL(JSON.parse(text).link).pathname : undefined;
}

let visitorCount = 0;

/** Opens a short link as a new visitor. */
function visit({ output }: ServiceProcess, path: string) {
  const url = /Short links: (\S+)/.exec(output.stdout)?.[1] as string;
  return send(url, { path, headers: { 'User-Agent': `Mozilla/5.0 Firefox/${++visitorCount}` } });
}

async function stop(service: ServiceProcess): Promise<void> {
  service.child.kill('SIGTERM');
  assert.equal(await service.waitForExit(), 0);
}

const readRewards = (settings: Environment, workspaceId: string) =>
  withEngine(settings, (engine) => assertRewardsAgree(engine, workspaceId));

suite('the rewards of a campaign', {
  'agree with the shares and the activity, and exceed no limit, if the server is killed': () =>
    withDurableStorage(async (storage) => {
      const settings = { ...storage, ...LINK_SETTINGS };
      const { workspaceId, campaignId, keys } = await createCampaign(settings);
      let service = await startProcess(settings);
      try {
        const load = startLoad(CLIENT_COUNT, async (client, i) => {
          const key = keys[(client + i * CLIENT_COUNT) % keys.length] as string;
          return visit(service, (await share(service, campaignId, key)) ?? '/');
        });
        const countVisits = () => load.responses.filter(({ status }) => status === 302).length;
        for (let kill = 0; kill < KILL_COUNT; kill++) {
          const count = countVisits();
          await waitUntil(() => countVisits() > count + SHARER_COUNT);
          await service.kill();
          await readRewards(settings, workspaceId);
          service = await startProcess(settings);
        }
        const count = countVisits();
        await waitUntil(() => countVisits() > count + VISITS_PER_LINK * SHARER_COUNT);
        await load.stop();
        await stop(service);
        assert.equal((await readRewards(settings, workspaceId)).rewards, TOTAL_BUDGET);
      } finally {
        await service.kill();
      }
    }),

  'agree with the shares and the activity, and exceed no limit, if two processes count at the same time': () =>
    withDatabase(async (uri) => {
      const settings = { ...createMongodbSettings(uri), ...LINK_SETTINGS };
      const { workspaceId, campaignId, keys } = await createCampaign(settings);
      const services = await Promise.all([startProcess(settings), startProcess(settings)]);
      try {
        const shareAndVisit = async (key: string, number: number) => {
          let path: string | undefined;
          await waitUntil(async () => {
            path = await share(services[number % 2] as ServiceProcess, campaignId, key);
            return path !== undefined;
          });
          for (let i = 0; i < VISITS_PER_LINK; i++) {
            const { status } = await visit(services[i % 2] as ServiceProcess, path as string);
            assert.equal(status, 302);
          }
        };
        await Promise.all(keys.map(shareAndVisit));
        await Promise.all(services.map(stop));
        const expected = { clicks: SHARER_COUNT * VISITS_PER_LINK, rewards: TOTAL_BUDGET };
        assert.deepEqual(await readRewards(settings, workspaceId), expected);
      } finally {
        await Promise.all(services.map((service) => service.kill()));
      }
    }),
});
