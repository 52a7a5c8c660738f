import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { errorCodes } from '../../adapters/api/errors.ts';
import { operations } from '../../adapters/api/operations.ts';
import { browsing } from '../support/browser.ts';
import { each } from '../support/each.ts';
import { type Api, DEMO_API_KEY, serving } from '../support/service.ts';
import { suite } from '../support/suite.ts';

const screens: Readonly<Record<string, BrowserContextOptions>> = {
  'a desk': { viewport: { width: 1280, height: 900 } },
  'a phone': { viewport: { width: 360, height: 640 }, isMobile: true, hasTouch: true },
  'the dark': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
};

/** Looks at a page of a real service; it must not complain, and ask nobody else for anything. */
function looking(options: BrowserContextOptions, test: (page: Page, api: Api) => Promise<void>): Promise<void> {
  return serving((api) =>
    browsing(api.url, options, async (page, complaints) => {
      await test(page, api);
      assert.deepEqual(complaints, { errors: [], foreign: [] });
    }),
  );
}

/** Fails where axe finds a fault that keeps people from using the page, or where the page is wider than its screen. */
async function assertUsable(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    violations: { impact: string; id: string; nodes: { target: string }[] }[];
  }>('axe.run()');
  const faults = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  assert.deepEqual(
    faults.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 5).map(({ target }) => target)}`),
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

async function enterKey(page: Page, key: string): Promise<void> {
  await page.click('button.authorize');
  await page.fill('.auth-container input', key);
  await page.click('.auth-btn-wrapper button[type=submit]');
  await page.click('.btn-done');
}

const blockOf = (page: Page, id: string) => page.locator(`[id$="-${id}"].opblock`);

/** Opens an operation by keyboard. */
async function open(page: Page, id: string): Promise<void> {
  await blockOf(page, id).locator('.opblock-summary-control').press('Enter');
  await blockOf(page, id).locator('.execute').waitFor();
}

async function execute(page: Page, id: string): Promise<{ status: string; body: string }> {
  await blockOf(page, id).locator('.execute:enabled').press('Enter');
  const reply = blockOf(page, id).locator('.live-responses-table .response');
  const status = await reply.locator('.response-col_status').first().innerText();
  return { status: status.trim().slice(0, 3), body: await reply.locator('pre').first().innerText() };
}

suite('the pages in a browser', {
  'have the reference at the root, with every operation': () =>
    looking({}, async (page, { url }) => {
      await page.goto('/');
      assert.equal(page.url(), `${url}/docs`);
      await page.waitForSelector('.opblock');
      assert.equal(await page.locator('.opblock').count(), operations.length);
    }),

  'let an operation be tried with a key, by keyboard': () =>
    looking({}, async (page, { call }) => {
      await openReference(page);
      await enterKey(page, DEMO_API_KEY);
      await open(page, 'createTag');
      const made = await execute(page, 'createTag');
      assert.equal(made.status, '201');
      assert.match(made.body, /"name": "Onboarding"/);
      assert.equal((await call('GET', '/campaigns?tagNames=Onboarding')).text, '[]');
      assert.equal((await call('POST', '/tags', { body: { name: 'onboarding' } })).status, 409);
      await open(page, 'listCampaigns');
      const { status, body } = await execute(page, 'listCampaigns');
      assert.equal(status, '200');
      assert.match(body, /Summer tents are here/);
    }),

  'are not confused by a press that comes before they are ready': () =>
    looking({}, async (page) => {
      await openReference(page);
      await enterKey(page, DEMO_API_KEY);
      await page.evaluate(`new MutationObserver((_, observer) => {
        const button = document.querySelector('.execute');
        if (!button) return;
        observer.disconnect();
        button.click();
      }).observe(document.body, { childList: true, subtree: true })`);
      await open(page, 'listCampaigns');
      assert.equal((await execute(page, 'listCampaigns')).status, '200');
    }),

  'can be used on every screen': () =>
    each(screens, (options, screen) =>
      looking(options, async (page) => {
        await openReference(page);
        await assertUsable(page, `${screen}: the reference`);
        await enterKey(page, DEMO_API_KEY);
        await open(page, 'listCampaigns');
        await execute(page, 'listCampaigns');
        await assertUsable(page, `${screen}: an operation that was tried`);
        await page.goto('/docs/errors');
        await assertUsable(page, `${screen}: the errors`);
        if (process.env.SCREENSHOTS) {
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/errors ${screen}.png` });
          await openReference(page);
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs ${screen}.png` });
        }
      }),
    ),

  'explain each code where doc_url leads to': () =>
    looking({ viewport: { width: 800, height: 300 } }, async (page) => {
      for (const code of errorCodes) {
        await page.goto(`/docs/errors#${code.replaceAll('_', '-')}`);
        const heading = page.locator(':target h2');
        assert.match(await heading.innerText(), new RegExp(`^\\d{3} ${code}$`));
        const box = await heading.boundingBox();
        assert.ok(box && box.y >= 0 && box.y < 300, code);
      }
    }),
});
