import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { withBrowserPage } from '../support/browser.ts';
import { type Api, withService } from '../support/service.ts';

export const screens: Readonly<Record<string, BrowserContextOptions>> = {
  'a desktop': { viewport: { width: 1280, height: 900 } },
  'a phone': { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  'a small phone': { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true },
  'dark mode': { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
};

/** Opens a page of a running service. The page must not log errors or load anything from another origin. */
export function withPage(options: BrowserContextOptions, test: (page: Page, api: Api) => Promise<void>): Promise<void> {
  return withService((api) =>
    withBrowserPage(api.url, options, async (page, problems) => {
      await test(page, api);
      assert.deepEqual(problems, { errors: [], foreignRequests: [] });
    }),
  );
}

/** Fails if axe finds a violation, or if the page is wider than the screen. */
export async function assertUsable(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { target: string }[] }[] }>(
    'axe.run()',
  );
  assert.deepEqual(
    violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 5).map(({ target }) => target)}`),
    [],
    what,
  );
  const excess = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  assert.equal(excess, 0, what);
}
