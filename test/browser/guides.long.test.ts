import assert from 'node:assert/strict';
import { errorCodes } from '../../adapters/api/errors.ts';
import { ERRORS_PAGE, guides } from '../../adapters/docs/pages.ts';
import { each } from '../support/each.ts';
import { suite } from '../support/suite.ts';
import { assertUsable, screens, withPage } from './pages.ts';

const paths = [...guides, ERRORS_PAGE].map(({ path }) => path);

suite('the guides in a browser', {
  'are accessible and fit on every screen': () =>
    each(screens, (options, screen) =>
      withPage(options, async (page) => {
        for (const path of paths) {
          await page.goto(path);
          await assertUsable(page, path);
          const overflowing = await page.evaluate<string[]>(`[...document.querySelectorAll('main *')]
            .filter((element) => element.scrollWidth > element.clientWidth && getComputedStyle(element).display !== 'inline')
            .map((element) => element.outerHTML.slice(0, 200))`);
          assert.deepEqual(overflowing, [], path);
          const broken = await page.evaluate(`[...document.querySelectorAll('td:first-child code')]
            .filter((code) => /^\\w+$/.test(code.textContent) && code.getClientRects().length > code.textContent.split('_').length)
            .map((code) => code.textContent)`);
          assert.deepEqual(broken, [], 'names in first columns break only after _');
          if (process.env.SCREENSHOTS)
            await page.screenshot({ path: `${process.env.SCREENSHOTS}/${path.slice(6)} ${screen}.png` });
        }
      }),
    ),

  'scroll to a section from the list of sections, which stays in view': () =>
    withPage({ viewport: { width: 1280, height: 600 } }, async (page) => {
      await page.goto('/docs/guide');
      await page.getByRole('navigation', { name: 'On this page' }).getByText('Retry a request safely').click();
      assert.ok(page.url().endsWith('/docs/guide#retry-a-request-safely'));
      const box = await page.locator('h2:target').boundingBox();
      assert.ok(box && box.y >= 0 && box.y < 100);
      const contents = await page.locator('nav.contents').boundingBox();
      assert.ok(contents && contents.y >= 0 && contents.y < 100, 'the list of sections stays in view');
    }),

  'let a reader skip the navigation with the keyboard': () =>
    withPage({}, async (page) => {
      await page.goto('/docs/guide');
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content');
      const box = await page.getByText('Skip to the content').boundingBox();
      assert.ok(box && box.y >= 0, 'the focused link is visible');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Authenticate');
    }),

  'lead from one page to the next': () =>
    withPage({}, async (page) => {
      await page.goto(ERRORS_PAGE.path);
      for (const { path, title } of guides) {
        await page.getByRole('navigation', { name: 'Documentation' }).getByText(title, { exact: true }).click();
        assert.equal(new URL(page.url()).pathname, path);
      }
    }),

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
