import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { withBrowserPage } from '../support/browser.ts';
import { jsonOf } from '../support/expected-responses.ts';
import { createFixture } from '../support/fixture.ts';
import { findFreePort } from '../support/server-process.ts';
import { type Api, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const CRAWLER = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
/** After this time, all clicks have been stored. */
const CLICK_STORE_WAIT_MS = 3_000;

/** Runs the website that a campaign links to. */
async function withWebsite(test: (url: string) => Promise<void>): Promise<void> {
  const page =
    '<!doctype html><html lang="en"><title>Spring</title><link rel="icon" href="data:,"><h1>Spring</h1></html>';
  const server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(page));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await test(`http://127.0.0.1:${(server.address() as AddressInfo).port}/spring`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/**
 * Shares a new campaign as an employee. Returns the link, and a function that reads the clicks of the share and the
 * campaign.
 */
async function shareCampaign(api: Api, destinationUrl: string) {
  const fixture = await createFixture(api);
  const campaign = await fixture.create('/campaigns', {
    destinationUrl,
    startDate: '2026-01-01',
    endDate: '2099-12-31',
  });
  const share = jsonOf(await fixture.call('POST', `/campaigns/${campaign.id}/shares`), 201);
  return {
    link: share.link as string,
    async readClicks(): Promise<readonly number[]> {
      const [stored] = await fixture.list(`/campaigns/${campaign.id}/shares`);
      return [stored.clicks, jsonOf(await fixture.call('GET', `/campaigns/${campaign.id}`)).clicks];
    },
  };
}

/** Lets a page prefetch a URL as a browser does. Resolves when the browser has the response. */
async function prefetch(page: Page, url: string): Promise<void> {
  const response = page.waitForResponse(url);
  await page.evaluate(
    `document.head.append(Object.assign(document.createElement('link'), { rel: 'prefetch', href: ${JSON.stringify(url)} }))`,
  );
  assert.match((await (await response).request().allHeaders())['sec-purpose'] ?? '', /^prefetch/);
}

/** Sends a HEAD request to the loopback address, and returns the status. */
async function sendHead(url: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const { port, host, pathname } = new URL(url);
  const options = { host: '127.0.0.1', port, path: pathname, method: 'HEAD', headers: { ...headers, Host: host } };
  const [response] = await once(request(options).end(), 'response');
  return response.statusCode;
}

suite('a short link in a browser', {
  'leads a visitor to the destination, and counts neither prefetches, repetitions, crawlers nor HEAD requests': () =>
    withWebsite(async (destination) => {
      const port = String(await findFreePort());
      const settings = { LINKS_PORT: port, LINKS_URL: `http://links.localhost:${port}` };
      const test = async (api: Api) => {
        const { link, readClicks } = await shareCampaign(api, destination);
        assert.match(link, new RegExp(`^http://links\\.localhost:${port}/[0-9A-Za-z]{8}$`));
        await withBrowserPage(new URL(destination).origin, { userAgent: BROWSER }, async (page) => {
          await page.goto(destination);
          await prefetch(page, link);
          await page.goto('about:blank');
          await page.goto(link);
          assert.equal(page.url(), destination);
          assert.equal(await page.locator('h1').innerText(), 'Spring');
          await waitUntil(async () => (await readClicks()).every((clicks) => clicks === 1));
          await page.goto(link);
          assert.equal(page.url(), destination);
        });
        await withBrowserPage(new URL(destination).origin, { userAgent: CRAWLER }, async (page) => {
          await page.goto(link);
          assert.equal(page.url(), destination);
        });
        assert.equal(await sendHead(link, { 'User-Agent': `${BROWSER} Another/1.0` }), 302);
        await new Promise((resolve) => setTimeout(resolve, CLICK_STORE_WAIT_MS));
        assert.deepEqual(await readClicks(), [1, 1]);
      };
      await withService(test, { settings });
    }),
});
