import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { errorCodes } from '../../adapters/api/errors.ts';
import { operations } from '../../adapters/api/operations.ts';
import { withBrowserPage } from '../support/browser.ts';
import { each } from '../support/each.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const screens: Readonly<Record<string, BrowserContextOptions>> = {
  'a desktop': { viewport: { width: 1280, height: 900 } },
  'a phone': { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true },
  'dark mode': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
};

/** Opens a page of a running service. The page must not log errors or load anything from another origin. */
function withPage(options: BrowserContextOptions, test: (page: Page, api: Api) => Promise<void>): Promise<void> {
  return withService((api) =>
    withBrowserPage(api.url, options, async (page, problems) => {
      await test(page, api);
      assert.deepEqual(problems, { errors: [], foreignRequests: [] });
    }),
  );
}

/** Fails if axe finds a serious or critical violation, or if the page is wider than the screen. */
async function assertUsable(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { impact: string; id: string; nodes: { target: string }[] }[];
  }>('axe.run()');
  const severe = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(
    severe.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 5).map(({ target }) => target)}`),
    [],
    what,
  );
  assert.equal(
    await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
    0,
    what,
  );
}

async function openReference(page: Page): Promise<void> {
  await page.goto('/docs');
  await page.waitForSelector('.opblock');
}

async function enterApiKey(page: Page, key: string): Promise<void> {
  await page.click('button.authorize');
  await page.fill('.auth-container input', key);
  await page.click('.auth-btn-wrapper button[type=submit]');
  await page.click('.btn-done');
}

const findOperation = (page: Page, id: string) => page.locator(`[id$="-${id}"].opblock`);

/** Opens an operation with the keyboard. */
async function openOperation(page: Page, id: string): Promise<void> {
  await findOperation(page, id).locator('.opblock-summary-control').press('Enter');
  await findOperation(page, id).locator('.execute').waitFor();
}

/** Sends the request of an open operation with the keyboard. */
async function executeOperation(page: Page, id: string): Promise<{ status: string; body: string }> {
  await findOperation(page, id).locator('.execute:enabled').press('Enter');
  const response = findOperation(page, id).locator('.live-responses-table .response');
  const status = await response.locator('.response-col_status').first().innerText();
  return { status: status.trim().slice(0, 3), body: await response.locator('pre').first().innerText() };
}

suite('the documentation pages in a browser', {
  'show every operation in the reference, to which the root path redirects': () =>
    withPage({}, async (page, { url }) => {
      await page.goto('/');
      assert.equal(page.url(), `${url}/docs`);
      await page.waitForSelector('.opblock');
      assert.equal(await page.locator('.opblock').count(), operations.length);
    }),

  'send requests with the entered API key if the operations are opened and executed with the keyboard': () =>
    withPage({}, async (page, { call }) => {
      await openReference(page);
      await enterApiKey(page, DEMO_API_KEY);
      await openOperation(page, 'createTag');
      const created = await executeOperation(page, 'createTag');
      assert.equal(created.status, '201');
      assert.match(created.body, /"name": "Onboarding"/);
      assert.equal((await call('GET', '/campaigns?tagNames=Onboarding')).text, '[]');
      assert.equal((await call('POST', '/tags', { body: { name: 'onboarding' } })).status, 409);
      await openOperation(page, 'listCampaigns');
      const { status, body } = await executeOperation(page, 'listCampaigns');
      assert.equal(status, '200');
      assert.match(body, /Summer tents are here/);
    }),

  'can still send a request if its button was clicked before Swagger UI resolved the operation': () =>
    withPage({}, async (page) => {
      await openReference(page);
      await enterApiKey(page, DEMO_API_KEY);
      await page.evaluate(`new MutationObserver((_, observer) => {
        const button = document.querySelector('.execute');
        if (!button) return;
        observer.disconnect();
        button.click();
      }).observe(document.body, { childList: true, subtree: true })`);
      await openOperation(page, 'listCampaigns');
      assert.equal((await executeOperation(page, 'listCampaigns')).status, '200');
    }),

  'are accessible on every screen': () =>
    each(screens, (options, screen) =>
      withPage(options, async (page) => {
        await openReference(page);
        await assertUsable(page, `${screen}: reference`);
        await enterApiKey(page, DEMO_API_KEY);
        await openOperation(page, 'listCampaigns');
        await executeOperation(page, 'listCampaigns');
        await assertUsable(page, `${screen}: executed operation`);
        await page.goto('/docs/errors');
        await assertUsable(page, `${screen}: errors`);
        if (process.env.SCREENSHOTS) {
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/errors ${screen}.png` });
          await openReference(page);
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs ${screen}.png` });
        }
      }),
    ),

  'show the explanation of each error code at the fragment that its doc_url links to': () =>
    withPage({ viewport: { width: 800, height: 300 } }, async (page) => {
      for (const code of errorCodes) {
        await page.goto(`/docs/errors#${code.replaceAll('_', '-')}`);
        const heading = page.locator(':target h2');
        assert.match(await heading.innerText(), new RegExp(`^\\d{3} ${code}$`));
        const box = await heading.boundingBox();
        assert.ok(box && box.y >= 0 && box.y < 300, code);
      }
    }),
});
