import assert from 'node:assert/strict';
import { shareDemoCampaign } from '../support/demo-link.ts';
import { send } from '../support/load.ts';
import { createDatabase } from '../support/mongod.ts';
import { startMongodbProxy } from '../support/mongodb-proxy.ts';
import { createMongodbSettings } from '../support/mongodb-settings.ts';
import { withProcess } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { scrape } from '../support/scrape.ts';
import { withApplication } from '../support/storage.ts';
import { suite } from '../support/suite.ts';
import { createWorkspace } from '../support/tenants.ts';
import { waitUntil } from '../support/wait-until.ts';

suite('the metrics of short links', {
  'count responses by outcome, and clicks by result': () =>
    withProcess({ LINKS_PORT: '0', METRICS_PORT: '0' }, async (service) => {
      const linksUrl = /^Short links: (.*)$/m.exec(service.output.stdout)?.[1] as string;
      const { host, path } = await shareDemoCampaign(service.url);
      const visit = (visitedPath: string, userAgent: string) =>
        send(linksUrl, { path: visitedPath, headers: { Host: host, 'User-Agent': userAgent } });
      for (const userAgent of ['Mozilla/5.0 Firefox/140.0', 'Mozilla/5.0 Firefox/140.0', 'Googlebot/2.1']) {
        assert.equal((await visit(path, userAgent)).status, 302);
      }
      assert.equal((await visit('/unknown1', '')).status, 404);
      await waitUntil(async () => {
        const metrics = await scrape(service);
        const results = ['counted', 'repeated', 'bot'].map((result) =>
          metrics.get(`link_clicks_total{result="${result}"}`),
        );
        return results.every((count) => count === 1);
      });
      const after = await scrape(service);
      assert.equal(after.get('link_request_duration_seconds_count{outcome="destination"}'), 3);
      assert.equal(after.get('link_request_duration_seconds_count{outcome="not_found"}'), 1);
    }),
});

suite('the metrics of a service on MongoDB and Redis', {
  'show outages of Redis and MongoDB and their end': async () => {
    const [database, redis] = await Promise.all([createDatabase(), startRedis()]);
    const proxy = await startMongodbProxy(database.uri);
    try {
      const { key } = await withApplication(database.uri, async (app) => {
        const workspace = await createWorkspace(app);
        // Otherwise the service would record the first use of the key in the background, and use a connection for that.
        const { caller } = await app.apiKeys.authenticate(workspace.key);
        await app.apiKeys.recordUse(caller.workspaceId, caller.keyId);
        return workspace;
      });
      const settings = { RATE_LIMITER: 'redis', REDIS_URL: redis.url, METRICS_PORT: '0', LOG_LEVEL: 'silent' };
      await withProcess({ ...createMongodbSettings(proxy.uri), ...settings }, async (service) => {
        const { url } = service;
        const headers = { Authorization: `Bearer ${key}` };
        const list = async () => (await fetch(`${url}/campaigns`, { headers })).status;
        const waitForMetric = (name: string, isExpected: (value: number) => boolean) =>
          waitUntil(async () => isExpected((await scrape(service)).get(name) ?? Number.NaN));

        await waitUntil(async () => (await list()) === 200);
        await waitForMetric('rate_limit_shared', (value) => value === 1);
        await waitForMetric('storage_up', (value) => value === 1);
        await redis.kill();
        await waitForMetric('rate_limit_shared', (value) => value === 0);
        await redis.start();
        await waitForMetric('rate_limit_shared', (value) => value === 1);

        proxy.isUnavailable = true;
        proxy.lose('find', 'request', 1_000);
        const failing = list();
        await waitForMetric('storage_up', (value) => value === 0);
        proxy.lose('find', 'request', 0);
        proxy.isUnavailable = false;
        await waitForMetric('storage_up', (value) => value === 1);
        await failing;
      });
    } finally {
      await proxy.close();
      await Promise.all([redis.stop(), database.stop()]);
    }
  },
});
