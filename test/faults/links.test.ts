import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { listCampaigns } from '../support/list-campaigns.ts';
import { type LoadResponse, send } from '../support/load.ts';
import { withMongodbProxy } from '../support/mongodb-proxy.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { type ServiceProcess, startProcess, withProcess } from '../support/process.ts';
import { getRedis } from '../support/redis.ts';
import { withReplicaSet } from '../support/replica-set.ts';
import { quickOrLong } from '../support/scale.ts';
import { scrape } from '../support/scrape.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { type Environment, withApplication, withDurableStorage } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createCampaignFields, createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

const LINK_SETTINGS: Environment = { LINKS_PORT: '0', LINKS_URL: 'http://127.0.0.1' };
const DESTINATION = 'https://northwind.example/spring';
const CLICK_COUNT = quickOrLong(200, 2_000);
const PROCESS_COUNT = quickOrLong(2, 16);
const VISIT_INTERVAL_MS = 20;
/** Counted clicks are stored within this time, on an idle machine. */
const STORE_MS = 2_000;
/** After a link was read, it redirects for this time even if the storage is unavailable. */
const MAX_AGE_MS = 5_000;

/** The short link of a share. */
interface SharedLink {
  readonly workspaceId: string;
  readonly campaignId: string;
  readonly path: string;
}

function createLink(settings: Environment): Promise<SharedLink> {
  return withApplication({ ...settings, ...LINK_SETTINGS }, async (app) => {
    const { workspaceId, admin: member } = await createWorkspace(app);
    const fields = { ...createCampaignFields(), destinationUrl: DESTINATION };
    const { id: campaignId } = await app.campaigns.create({ workspaceId, member }, fields);
    const { link } = (await app.shares.create({ workspaceId, member }, campaignId)).share;
    return { workspaceId, campaignId, path: new URL(link as string).pathname };
  });
}

/** Returns the stored clicks of the share and of the campaign. */
function readClicks(settings: Environment, { workspaceId, campaignId }: SharedLink): Promise<readonly number[]> {
  return withApplication(settings, async (app) => {
    const query = { page: 1, pageSize: 1, sortBy: 'createdAt', sortOrder: 'asc' } as const;
    const { items } = await app.shares.list(workspaceId, campaignId, query);
    const campaign = (await listCampaigns(app, workspaceId)).find(({ id }) => id === campaignId);
    return [items[0]?.clicks ?? 0, campaign?.clicks ?? 0];
  });
}

const linksUrlOf = ({ output }: ServiceProcess): string => /Short links: (\S+)/.exec(output.stdout)?.[1] as string;

/** Long enough for a cached link to be loaded again in the background. */
const RELOAD_MS = 500;

let visitorCount = 0;

/** Opens a link as a new visitor. */
function visit(service: ServiceProcess, { path }: SharedLink): Promise<LoadResponse> {
  return send(linksUrlOf(service), { path, headers: { 'User-Agent': `Mozilla/5.0 Firefox/${++visitorCount}` } });
}

/**
 * Opens a link as many new visitors, some at the same time. Resolves with the number of redirects to the destination.
 */
async function visitOften(services: readonly ServiceProcess[], link: SharedLink, count: number): Promise<number> {
  let redirectCount = 0;
  for (let i = 0; i < count; i += 20) {
    const visits = Array.from({ length: 20 }, (_, j) => visit(services[(i + j) % services.length] as never, link));
    for (const { status, headers } of await Promise.all(visits)) {
      assert.deepEqual([status, headers.location], [302, DESTINATION]);
      redirectCount++;
    }
  }
  return redirectCount;
}

suite('the clicks on short links', {
  'are all stored when the server is stopped': () =>
    withDurableStorage(async (settings) => {
      const link = await createLink(settings);
      await withProcess({ ...settings, ...LINK_SETTINGS }, async (service) => {
        const count = await visitOften([service], link, CLICK_COUNT);
        service.child.kill('SIGTERM');
        assert.equal(await service.waitForExit(), 0);
        assert.deepEqual(await readClicks(settings, link), [count, count]);
      });
    }),

  'can be lost only from the last two seconds before the server is killed, and are never counted twice': () =>
    withDurableStorage(async (settings) => {
      const link = await createLink(settings);
      await withProcess({ ...settings, ...LINK_SETTINGS }, async (service) => {
        const times: number[] = [];
        for (const start = performance.now(); performance.now() - start < 2.5 * STORE_MS; ) {
          assert.equal((await visit(service, link)).status, 302);
          times.push(performance.now());
          await delay(VISIT_INTERVAL_MS);
        }
        const killedAt = performance.now();
        await service.kill();
        // The machine may be busy, so storing may take a while.
        const oldCount = times.filter((time) => time < killedAt - STORE_MS - quickOrLong(1_000, 300)).length;
        const [ofShare = 0, ofCampaign] = await readClicks(settings, link);
        assert.equal(ofShare, ofCampaign);
        assert.ok(oldCount > 0 && ofShare >= oldCount && ofShare <= times.length, `${oldCount} ${ofShare}`);
      });
    }),

  'of several processes with Redis are counted once per visitor, and stored once, even if responses to commits are lost':
    () =>
      withMongodbProxy(async (proxy, uri) => {
        const redis = await getRedis();
        const shared = { RATE_LIMITER: 'redis', REDIS_URL: redis.url, METRICS_PORT: '0' };
        const services: ServiceProcess[] = [];
        try {
          const link = await createLink(createMongodbSettings(uri));
          const settings = { ...createMongodbSettings(proxy.uri), ...LINK_SETTINGS, ...shared };
          services.push(...(await Promise.all(Array.from({ length: PROCESS_COUNT }, () => startProcess(settings)))));
          proxy.lose('commitTransaction', 'response', PROCESS_COUNT);
          const count = await visitOften(services, link, CLICK_COUNT);
          const headers = { 'User-Agent': 'Mozilla/5.0 Firefox/0' };
          for (const service of services) await send(linksUrlOf(service), { path: link.path, headers });
          const countRepeated = async (service: ServiceProcess) =>
            (await scrape(service)).get('link_clicks_total{result="repeated"}') ?? 0;
          await waitUntil(async () => {
            const counts = await Promise.all(services.map(countRepeated));
            return counts.reduce((sum, it) => sum + it, 0) === PROCESS_COUNT - 1;
          });
          await waitUntil(() => proxy.remainingLossCount === 0);
          for (const { child } of services) child.kill('SIGTERM');
          await Promise.all(services.map((service) => service.waitForExit()));
          assert.deepEqual(await readClicks(createMongodbSettings(uri), link), [count + 1, count + 1]);
        } finally {
          await Promise.all(services.map((service) => service.kill()));
          await redis.stop();
        }
      }),
});

suite('a short link while the database is unavailable', {
  'redirects for five seconds, then responds with 503 until the outage ends, and a shutdown logs the lost clicks': () =>
    withReplicaSet(1, async (set) => {
      const server = set.members[0] as ServerProcess;
      const settings = createMongodbSettings(set.uri);
      const link = await createLink(settings);
      await withProcess({ ...settings, ...LINK_SETTINGS }, async (service) => {
        await waitUntil(async () => (await visit(service, link)).status === 302);
        const before = await visitOften([service], link, 20);
        await server.kill();
        const during = await visitOften([service], link, 20);
        await delay(MAX_AGE_MS);
        const response = await visit(service, link);
        assert.deepEqual([response.status, response.headers['retry-after']], [503, '1']);
        assert.ok(response.milliseconds < 3_000, `${response.milliseconds} ms`);
        assert.equal(response.headers.location, undefined);
        await server.start();
        await waitUntil(async () => (await visit(service, link)).status === 302);
        const count = 1 + before + during + 1;
        await waitUntil(async () => (await readClicks(settings, link)).every((clicks) => clicks === count));
        await delay(STORE_MS);
        assert.deepEqual(await readClicks(settings, link), [count, count]);
        // The request of a bot caches the link again, and is not counted.
        await waitUntil(async () => (await send(linksUrlOf(service), { path: link.path })).status === 302);
        await delay(RELOAD_MS);
        await server.kill();
        const lost = await visitOften([service], link, 20);
        service.child.kill('SIGTERM');
        assert.equal(await service.waitForExit(), 0);
        const [line = '{}'] = service.output.stderr.split('\n').filter((it) => it.includes('clicks were lost'));
        assert.equal(JSON.parse(line).clicks, lost);
      });
    }),
});
