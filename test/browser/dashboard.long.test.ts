import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { withBrowserPage } from '../support/browser.ts';
import { each } from '../support/each.ts';
import { createFixture } from '../support/fixture.ts';
import { type Api, DEMO_API_KEY, withService } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { waitUntil } from '../support/wait-until.ts';
import { assertUsable, screens, withPage } from './pages.ts';

const MAX_IMAGE_BYTES = 150_000;
const FIGURES = ['shares', 'clicks', 'rewards'] as const;
type Row = { readonly key: string; readonly name: string } & Readonly<
  Record<(typeof FIGURES)[number], number | string>
>;

/** Opens the dashboard, enters an API key with the keyboard, and waits for the figures. */
async function openDashboard(page: Page, key = DEMO_API_KEY): Promise<void> {
  await page.goto('/dashboard');
  await enterKey(page, key);
  await waitForFigures(page);
}

async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByRole('textbox', { name: 'API key' }).fill(key);
  await page.keyboard.press('Enter');
}

/** Waits until the figures of the last request are shown. */
async function waitForFigures(page: Page): Promise<void> {
  await page.locator('#figures[aria-busy=false]').waitFor();
}

/** Returns the texts of the cells of a table, also if the table is hidden. The bar and the details are left out. */
async function readTable(page: Page, name: 'days' | 'members' | 'campaigns'): Promise<string[][]> {
  return page.evaluate(
    `[...document.querySelectorAll('#${name} tr')].map((row) => [...row.cells].map((cell) => cell.firstChild.textContent))`,
  );
}

const format = (value: number | string, places = 0) =>
  new Intl.NumberFormat('en', { minimumFractionDigits: places, maximumFractionDigits: 4 }).format(value as number);

const formatFigures = (row: Row) => FIGURES.map((figure) => format(row[figure], figure === 'rewards' ? 2 : 0));

const formatDay = (day: string) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' }).format(
    new Date(day),
  );

async function getAnalytics({ call }: Api, query: string): Promise<Row[]> {
  return (await call('GET', `/analytics?${query}`)).json;
}

/** Opens a page whose requests may fail, which the browser logs. */
function withFailingPage(test: (page: Page, api: Api) => Promise<void>): Promise<void> {
  return withService((api) =>
    withBrowserPage(api.url, {}, async (page, { errors, foreignRequests }) => {
      await test(page, api);
      for (const error of errors) assert.match(error, /^Failed to load resource/);
      assert.deepEqual(foreignRequests, []);
    }),
  );
}

suite('the dashboard in a browser', {
  'shows the figures that the API returns, for each day and in total': () =>
    withPage({}, async (page, api) => {
      await openDashboard(page);
      await page.getByRole('heading', { name: 'Northwind Outdoor' }).waitFor();
      const days = await getAnalytics(api, 'groupBy=day');
      const shown = days.map((day) => [formatDay(day.key), ...formatFigures(day)]);
      assert.deepEqual(await readTable(page, 'days'), shown.reverse());
      const [total] = await getAnalytics(api, 'groupBy=total');
      assert.deepEqual(await page.locator('.total').allInnerTexts(), formatFigures(total as Row));
      assert.ok(Number(total?.clicks) > 0 && Number(total?.rewards) > 0);
      assert.equal(await page.locator('.chart canvas').count(), FIGURES.length);
    }),

  'shows the leaderboard by the chosen figure, and published campaigns with their budgets': () =>
    withPage({}, async (page, api) => {
      await openDashboard(page);
      for (const figure of FIGURES) {
        const sorted = page.waitForRequest((request) => request.url().includes(`sortBy=${figure}`));
        await page.getByRole('combobox', { name: 'by' }).selectOption(figure);
        await sorted;
        await page.locator(`#members.${figure}`).waitFor();
        const members = await getAnalytics(api, `groupBy=member&sortBy=${figure}`);
        const shown = members.map((member) => [member.name, ...formatFigures(member)]);
        assert.deepEqual(await readTable(page, 'members'), shown);
      }
      const campaigns: { id: string; name: string }[] = (await api.call('GET', '/campaigns?status=published')).json;
      const briefs = (await api.call('GET', `/briefs?campaignIds=${campaigns.map(({ id }) => id)}`)).json;
      assert.deepEqual(
        await readTable(page, 'campaigns'),
        campaigns.map(({ name }, i) => [name, format(briefs[i].rewardsSpent, 2), format(briefs[i].totalBudget, 2)]),
      );
    }),

  'reads out a day under the pointer, and a day that the keyboard selects': () =>
    withPage({ viewport: { width: 1280, height: 900 } }, async (page, api) => {
      await openDashboard(page);
      const days = await getAnalytics(api, 'groupBy=day');
      const assertRead = async (day: Row) =>
        assert.deepEqual(
          await page.locator('.reading').allInnerTexts(),
          formatFigures(day).map((text) => `${formatDay(day.key)}: ${text}`),
        );
      const slider = page.getByRole('slider', { name: 'Day' });
      await slider.focus();
      await assertRead(days.at(-1) as Row);
      for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowLeft');
      const day = days.at(-4) as Row;
      await assertRead(day);
      assert.equal(await slider.getAttribute('aria-valuetext'), formatDay(day.key));
      const [shares, clicks, rewards] = formatFigures(day);
      assert.equal(
        await page.locator('output').textContent(),
        `${shares} shares, ${clicks} clicks, ${rewards} rewards`,
      );
      await page.keyboard.press('Home');
      await assertRead(days[0] as Row);
      await page.keyboard.press('Tab');
      assert.deepEqual(await page.locator('.reading').allInnerTexts(), ['', '', '']);
      const box = await page.locator('.clicks .u-over').boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + box.width - 1, box.y + 50);
      await assertRead(days.at(-1) as Row);
      await page.mouse.move(box.x + 1, box.y + 50);
      await assertRead(days[0] as Row);
    }),

  'shows the period that the reader chooses': () =>
    withFailingPage(async (page, api) => {
      await openDashboard(page);
      const assertDays = async (from: string, to: string) => {
        await waitForFigures(page);
        const days = await getAnalytics(api, `groupBy=day&from=${from}&to=${to}`);
        assert.deepEqual(
          (await readTable(page, 'days')).map(([day]) => day),
          days.map(({ key }) => formatDay(key)).reverse(),
        );
      };
      const period = page.getByLabel('Period');
      const [from, to] = [page.getByLabel('From'), page.getByLabel('To', { exact: true })];
      await period.selectOption('Last 7 days');
      const [first, last] = [await from.inputValue(), await to.inputValue()];
      assert.equal(Date.parse(last) - Date.parse(first), 6 * 24 * 60 * 60_000);
      await assertDays(first, last);
      await from.fill(last);
      assert.equal(await period.inputValue(), '');
      await assertDays(last, last);
      await to.fill(first);
      await page.getByText(/^to: /).waitFor();
      await from.fill(first);
      await assertDays(first, first);
    }),

  'knows an API key that was entered in the reference, and the reference one that was entered here': () =>
    withPage({}, async (page) => {
      const key = page.getByRole('textbox', { name: 'API key' });
      await page.goto('/docs');
      await key.fill(DEMO_API_KEY);
      await page.getByRole('link', { name: 'Dashboard' }).click();
      await waitForFigures(page);
      assert.equal(await key.inputValue(), DEMO_API_KEY);
      await key.fill('another-key');
      await page.getByRole('link', { name: 'Reference' }).click();
      assert.equal(await key.inputValue(), 'another-key');
      const stored = await page.evaluate('[sessionStorage.length, localStorage.length, document.cookie]');
      assert.deepEqual(stored, [1, 0, '']);
    }),

  'says what is wrong if there is no valid key, if there are too many requests, and after an error': () =>
    withFailingPage(async (page) => {
      const assertMessage = async (message: RegExp) => {
        await page.locator('#message').getByText(message).first().waitFor();
        assert.equal(await page.locator('#figures').isVisible(), false);
      };
      await page.goto('/dashboard');
      await assertMessage(/^No API key$/);
      await enterKey(page, 'a-wrong-key-of-somebody');
      await assertMessage(/^The API key is not valid$/);
      const error = (code: string, message: string) => ({ error: { code, message, doc_url: '/docs/errors' } });
      const responses: Readonly<Record<string, Parameters<Route['fulfill']>[0]>> = {
        'Too many requests': { status: 429, json: error('rate_limit_exceeded', 'Retry in 9 seconds.') },
        'Internal error': { status: 500, json: error('internal_server_error', 'Internal error. Retry the request.') },
        'The request failed': { status: 502, body: '<h1>Bad gateway</h1>' },
      };
      for (const [message, response] of Object.entries(responses)) {
        await page.route('**/analytics?*', (route) => route.fulfill(response));
        await enterKey(page, DEMO_API_KEY);
        await assertMessage(new RegExp(message));
        await page.unrouteAll();
        await page.getByRole('button', { name: 'Try again' }).click();
        await waitForFigures(page);
        assert.equal(await page.locator('#message').innerText(), '');
      }
      await enterKey(page, '');
      await assertMessage(/^No API key$/);
    }),

  'says that a new workspace has nothing to show': () =>
    withPage({}, async (page, { app }) => {
      const { id } = await app.workspaces.create('Fabrikam');
      const { secret } = await app.apiKeys.create(id, { access: 'read' });
      await page.goto('/dashboard');
      await enterKey(page, secret);
      await page.getByText('No campaign is published').waitFor();
      await assertUsable(page, 'a new workspace');
      await page.getByRole('link', { name: 'Create a campaign' }).click();
      assert.match(page.url(), /\/docs#createCampaign$/);
    }),

  'shows names as text and amounts with all digits, and adds further pages of campaigns': () =>
    withPage({}, async (page, api) => {
      const fixture = await createFixture(api);
      const name = '<img src=x onerror=alert(1)><script>alert(2)</script>';
      const amount = '999999999999.9999';
      const amounts = { shareRewardAmount: amount, maxRewardPerEmployee: amount, totalBudget: amount };
      const days = { startDate: '2020-01-01', endDate: '2099-12-31' };
      for (let i = 0; i < 11; i++) await fixture.create('/campaigns', days);
      const { id } = await fixture.create('/campaigns', { name, ...days, ...amounts });
      assert.equal((await fixture.call('POST', `/campaigns/${id}/shares`)).status, 201);
      page.on('dialog', (dialog) => assert.fail(dialog.message()));
      await openDashboard(page, fixture.key);
      const [first] = await readTable(page, 'campaigns');
      assert.deepEqual(first, [name, '999,999,999,999.9999', '999,999,999,999.9999']);
      assert.equal(await page.locator('.rewards .total').innerText(), '999,999,999,999.9999');
      assert.match(await page.locator('#campaigns tr').first().innerText(), /Exhausted, ends 31 Dec 2099/);
      assert.equal(await page.locator('main img, main script').count(), 0);
      assert.equal((await readTable(page, 'campaigns')).length, 10);
      await page.getByRole('button', { name: 'Show more campaigns' }).click();
      await page.locator('#campaigns tr:nth-child(11):focus').waitFor();
      assert.equal((await readTable(page, 'campaigns')).length, 12);
      await page.setViewportSize({ width: 320, height: 640 });
      await assertUsable(page, 'long amounts');
    }),

  'is accessible on every screen, and not wider than the screen': () =>
    each(screens, (options, screen) =>
      withPage(options, async (page) => {
        await page.goto('/dashboard');
        await assertUsable(page, `${screen}: without a key`);
        await openDashboard(page);
        await page.locator('summary').click();
        await assertUsable(page, screen);
        await page.getByRole('slider').focus();
        await assertUsable(page, `${screen}: a selected day`);
      }),
    ),

  'is on the pictures of the README, which UPDATE_DOCS=1 takes': () =>
    each({ light: {}, dark: {} }, async (_, colorScheme) => {
      const options = { viewport: { width: 1200, height: 800 }, colorScheme: colorScheme as 'light' | 'dark' };
      await withPage(options, async (page) => {
        await openDashboard(page);
        await page.getByRole('textbox', { name: 'API key' }).blur();
        const image = await page.screenshot();
        assert.ok(image.length < MAX_IMAGE_BYTES);
        const file = join(import.meta.dirname, `../../../docs/images/dashboard-${colorScheme}.png`);
        if (process.env.UPDATE_DOCS) await writeFile(file, image);
        else assert.ok(existsSync(file));
      });
    }),

  'adapts its charts to the color scheme and to the width of the window': () =>
    withPage({ viewport: { width: 1280, height: 900 } }, async (page) => {
      await openDashboard(page);
      const canvas = page.locator('.clicks canvas');
      const readPixels = () => page.evaluate<string>("document.querySelector('.clicks canvas').toDataURL()");
      const light = await readPixels();
      await page.emulateMedia({ colorScheme: 'dark' });
      await waitUntil(async () => (await readPixels()) !== light);
      await page.setViewportSize({ width: 390, height: 844 });
      await waitUntil(async () => ((await canvas.boundingBox())?.width ?? 390) < 390);
      await assertUsable(page, 'a narrow window');
    }),
});
