import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { operations } from '../../adapters/api/operations.ts';
import { each, textCases } from '../support/each.ts';
import { DEMO_API_KEY } from '../support/service.ts';
import { suite } from '../support/suite.ts';
import { assertUsable, screens, withPage } from './pages.ts';

/** The languages of the samples, with the command that runs a sample. */
const interpreters: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  curl: ['sh', '-c'],
  JavaScript: [process.execPath, '--input-type=module', '--eval'],
  Python: ['python3', '-c'],
};

const CLIPBOARD = { permissions: ['clipboard-read', 'clipboard-write'] };

async function openReference(page: Page): Promise<void> {
  await page.goto('/docs');
  await page.getByRole('textbox', { name: 'API key' }).waitFor();
}

const enterApiKey = (page: Page, key = DEMO_API_KEY) => page.getByRole('textbox', { name: 'API key' }).fill(key);
const findOperation = (page: Page, id: string) => page.locator(`section[id="${id}"]`);
const findForm = (page: Page, id: string) => findOperation(page, id).locator('form');
const findLink = (page: Page, id: string) => page.locator(`nav a[href="#${id}"]:visible`);

async function openForm(page: Page, id: string): Promise<void> {
  await findOperation(page, id).locator('.try > summary').click();
}

/** Sends the request of an open form with the keyboard. */
async function sendRequest(page: Page, id: string): Promise<{ status: string; headers: string; body: string }> {
  await findForm(page, id).getByRole('button').press('Enter');
  return readResponse(page, id);
}

async function readResponse(page: Page, id: string): Promise<{ status: string; headers: string; body: string }> {
  const result = findOperation(page, id).locator('.result');
  const body = await result.locator('.body').innerText();
  return {
    status: (await result.getByRole('status').innerText()).slice(0, 3),
    headers: await result.locator('.headers').innerText(),
    body,
  };
}

const findTab = (page: Page, id: string, language: string) =>
  findOperation(page, id).getByRole('tab', { name: language });
const readSample = (page: Page, id: string) => findOperation(page, id).getByRole('tabpanel').innerText();

async function copySample(page: Page, id: string, language: string): Promise<string> {
  await findTab(page, id, language).click();
  await findOperation(page, id).getByRole('button', { name: 'Copy' }).click();
  await findOperation(page, id).getByRole('button', { name: 'Copied' }).waitFor();
  return page.evaluate<string>('navigator.clipboard.readText()');
}

async function canRun(command: string): Promise<boolean> {
  return promisify(execFile)(command, ['--version']).then(
    () => true,
    () => false,
  );
}

suite('the documentation pages in a browser', {
  'show every operation in the reference, to which the root path redirects': () =>
    withPage({}, async (page, { url }) => {
      await page.goto('/');
      assert.equal(page.url(), `${url}/docs`);
      const shown = await page.locator('.operation .endpoint').allInnerTexts();
      assert.deepEqual(shown.sort(), operations.map(({ method, path }) => `${method} ${path}`).sort());
    }),

  'find the sections of all pages that contain all words, also in fields, values, causes of errors and guides': () =>
    withPage({}, async (page) => {
      await openReference(page);
      const search = async (words: string) => {
        await page.getByRole('searchbox').fill(words);
        await page.locator('.results').waitFor();
        const results = await page.locator('.results li').allInnerTexts();
        const titles = results.map((text) => text.split('\n')[0]);
        const status = await page.locator('.results').getByRole('status').innerText();
        assert.equal(status, `${titles.length} ${titles.length === 1 ? 'result' : 'results'}`);
        return titles;
      };
      const expected: Readonly<Record<string, string>> = {
        'thumbnailUrl PATCH': 'Update a campaign Reference',
        'building-skyscraper': 'List inspiration questions Reference',
        'txt DNS zone': 'Verify a domain Guide',
        'last admin role': 'conflict-last-admin Errors',
        'byte-order': '400 bad_request Errors',
      };
      await each(expected, async (title, words) => assert.ok((await search(words)).includes(title), words));
      assert.deepEqual(await search('xyzzy'), []);
      assert.equal((await search('archive domain')).at(0), 'Create or archive a domain Reference');
      assert.match(await page.locator('.results li p').first().innerText(), /archives or unarchives/);
      await search('last admin');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL('/docs/errors#conflict-last-admin');
      assert.equal(await page.locator('.results').isVisible(), false);
      await search('last admin');
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.results').isVisible(), false);
    }),

  'have samples in three languages, of which the copy button returns one that runs with the entered API key': () =>
    withPage(CLIPBOARD, async (page, { call }) => {
      await openReference(page);
      assert.match(await copySample(page, 'getCampaign', 'curl'), /campaigns\/\$ID".*Bearer \$KEY"/s);
      await enterApiKey(page);
      const keys = await page.locator('[data-fill=idempotencyKey]').allInnerTexts();
      assert.equal(new Set(keys).size, keys.length, 'each sample has its own Idempotency-Key');
      await each(interpreters, async ([command, ...args], language) => {
        if (language === 'Python' && !(await canRun(command))) return;
        const run = async (id: string) => {
          const sample = await copySample(page, id, language);
          const { stdout } = await promisify(execFile)(command, [...args, sample]);
          // JavaScript and Python print an object in their own way.
          return language === 'curl' ? stdout : stdout.replaceAll("'", '"');
        };
        assert.match(await run('createCampaign'), /Summer tents are here/);
        assert.match(await run('createInspirationQuestion'), /"?question"?: ?"/);
        assert.match(await run('getMe'), /Ada Winter/);
        assert.match(await run('getDomain'), /go\.northwind\.example/);
        assert.match(await run('listBriefs'), /campaignId/);
        assert.match(await copySample(page, 'deleteTag', language), /tags\/\$ID/, 'no ID for a write');
      });
      const created = (await call('GET', '/campaigns?search=Summer tents')).json.length;
      assert.ok(created >= 3);
    }),

  'show the samples of all operations in the language of a tab, also with the keyboard': () =>
    withPage({}, async (page) => {
      await openReference(page);
      await findTab(page, 'getTag', 'curl').focus();
      const keys = { ArrowRight: 'JavaScript', End: 'Python', ' ': 'Python', ArrowLeft: 'JavaScript', Home: 'curl' };
      for (const [key, language] of Object.entries({ ...keys, ArrowUp: 'curl' })) {
        await page.keyboard.press(key);
        for (const id of ['getTag', 'createTag']) {
          assert.equal(await findOperation(page, id).getByRole('tab', { selected: true }).innerText(), language);
          assert.equal(await findOperation(page, id).getByRole('tabpanel', { name: language }).count(), 1);
          assert.equal(await findOperation(page, id).locator('[role=tabpanel]:visible').count(), 1);
        }
        assert.equal(await page.evaluate('document.activeElement.textContent'), language);
      }
      await page.keyboard.press('ArrowLeft');
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'Python');
    }),

  'do not copy a key that could end a string': () =>
    withPage(CLIPBOARD, async (page) => {
      await openReference(page);
      await enterApiKey(page, "adv_'; touch /tmp/x; '");
      await each(textCases(...Object.keys(interpreters)), async (language) =>
        assert.match(await copySample(page, 'createTag', language), /Bearer \$KEY"/s),
      );
      assert.equal(await page.locator('#key:invalid').count(), 1);
    }),

  'send a request with the keyboard, and show the response beside the operation': () =>
    withPage({ viewport: { width: 1280, height: 900 } }, async (page, { call }) => {
      await openReference(page);
      await enterApiKey(page);
      await findLink(page, 'createTag').click();
      const pressTabUntil = async (selector: string) => {
        for (let i = 0; i < 40; i++) {
          if (await page.locator(`${selector}:focus`).count()) return;
          await page.keyboard.press('Tab');
        }
        assert.fail(`the focus does not reach ${selector}`);
      };
      await pressTabUntil('#createTag .try > summary');
      await page.keyboard.press('Enter');
      await pressTabUntil('#createTag form input');
      await page.keyboard.type('a-key');
      await page.keyboard.press('Enter');
      assert.equal((await call('GET', '/tags?search=Onboarding')).text, '[]', 'Enter in a field must not write');
      await pressTabUntil('#createTag form button');
      await page.keyboard.press('Enter');
      const created = await readResponse(page, 'createTag');
      assert.equal(created.status, '201');
      assert.equal(JSON.parse(created.body).name, 'Onboarding');
      assert.match(created.headers, /^RateLimit: .*\nRateLimit-Policy: .*\nX-Request-Id: [0-9a-f-]{36}$/);
      assert.equal(await page.locator('#createTag form button:focus').count(), 1);
      await page.keyboard.press('Enter');
      await page.locator('#createTag .headers', { hasText: 'Idempotency-Replayed: true' }).waitFor();
      const [form, response] = [
        await findOperation(page, 'createTag').locator('h3').boundingBox(),
        await findOperation(page, 'createTag').locator('.result p').boundingBox(),
      ];
      assert.ok(form && response && response.x > form.x + 300 && response.y < 900, 'the response is not in view');
    }),

  'send the path, the query and the body that the reader enters': () =>
    withPage({}, async (page, { call }) => {
      const [tag] = (await call('GET', '/tags?search=launch')).json;
      await openReference(page);
      await enterApiKey(page);
      await openForm(page, 'listCampaigns');
      const list = findForm(page, 'listCampaigns');
      await list.getByLabel('includeArchived').selectOption('true');
      await list.getByLabel('pageSize').fill('5');
      await list.getByLabel('pageSize').press('Enter');
      const first = await readResponse(page, 'listCampaigns');
      assert.equal(JSON.parse(first.body).length, 5);
      assert.match(first.headers, /^Link: .*page=2>; rel="next"/);
      await openForm(page, 'updateTag');
      await findForm(page, 'updateTag').getByLabel('id').fill(tag.id);
      await findForm(page, 'updateTag').getByLabel('Body').fill('{"name": "Start"}');
      assert.equal((await sendRequest(page, 'updateTag')).status, '200');
      assert.equal((await call('GET', `/tags/${tag.id}`)).json.name, 'Start');
      await openForm(page, 'deleteTag');
      await findForm(page, 'deleteTag').getByLabel('id').fill(tag.id);
      assert.equal((await sendRequest(page, 'deleteTag')).status, '200');
      assert.equal((await call('GET', `/tags/${tag.id}`)).status, 404);
    }),

  'ask for the API key and for required values before they send a request': () =>
    withPage({}, async (page) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(new URL(request.url()).pathname));
      await openReference(page);
      await openForm(page, 'getTag');
      await findForm(page, 'getTag').getByLabel('id').fill('x');
      await findForm(page, 'getTag').getByRole('button').click();
      assert.equal(await page.locator('#key:invalid:focus').count(), 1);
      await page.keyboard.type(DEMO_API_KEY);
      await findForm(page, 'getTag').getByLabel('id').fill('');
      await findForm(page, 'getTag').getByRole('button').click();
      assert.equal(await page.locator('#getTag form :invalid:focus').count(), 1);
      assert.deepEqual(
        sent.filter((path) => !path.startsWith('/docs')),
        [],
      );
    }),

  'show a response as text, whatever it contains': () =>
    withPage({}, async (page, { call }) => {
      const name = '<img src=x onerror=alert(1)><script>alert(2)</script>';
      await call('POST', '/tags', { body: { name } });
      page.on('dialog', (dialog) => assert.fail(dialog.message()));
      await openReference(page);
      await enterApiKey(page);
      await openForm(page, 'listTags');
      assert.ok((await sendRequest(page, 'listTags')).body.includes(name));
      assert.equal(await page.locator('main img, main script').count(), 0);
    }),

  'mask the API key, and fold the list of sections behind a triangle on a phone': () =>
    withPage(screens['a phone'] as object, async (page) => {
      await page.goto('/docs');
      const getStyle = (selector: string, property: string) =>
        page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`);
      assert.equal(await getStyle('#key', 'webkitTextSecurity'), 'disc');
      assert.equal(await getStyle('.contents summary', 'display'), 'list-item');
      const header = await page.locator('.site-header nav').boundingBox();
      assert.ok(header && header.height < 40, 'the links are in one row');
    }),

  'keep the API key in the tab, and nowhere else': () =>
    withPage(CLIPBOARD, async (page, { url }) => {
      await openReference(page);
      await enterApiKey(page);
      await page.reload();
      assert.equal(await page.getByRole('textbox', { name: 'API key' }).inputValue(), DEMO_API_KEY);
      assert.ok((await copySample(page, 'getMe', 'curl')).includes(`Bearer ${DEMO_API_KEY}"`));
      assert.match(await readSample(page, 'getMe'), /Bearer \$KEY"/, 'the page shows no key');
      const stored = await page.evaluate(
        `indexedDB.databases().then((databases) => [localStorage.length, document.cookie, databases.length, location.href])`,
      );
      assert.deepEqual(stored, [0, '', 0, `${url}/docs`]);
      assert.deepEqual(await page.context().cookies(), []);
      const openTab = async () => {
        const tab = page.context().waitForEvent('page');
        await findLink(page, 'getMe').click({ modifiers: ['ControlOrMeta'] });
        return tab;
      };
      const openContext = async () => {
        const other = await page.context().browser()?.newPage();
        await other?.goto(`${url}/docs`);
        return other as Page;
      };
      await each({ 'another tab': openTab, 'another context': openContext }, async (open) => {
        const other = await open();
        assert.equal(await other.getByRole('textbox', { name: 'API key' }).inputValue(), '');
        assert.equal(await other.evaluate('sessionStorage.length'), 0);
      });
      await enterApiKey(page, '');
      await page.reload();
      assert.equal(await page.getByRole('textbox', { name: 'API key' }).inputValue(), '');
    }),

  'are accessible on every screen, and not wider than the screen': () =>
    each(screens, (options, screen) =>
      withPage(options, async (page) => {
        await openReference(page);
        await assertUsable(page, `${screen}: reference`);
        await enterApiKey(page);
        await page.evaluate('for (const element of document.querySelectorAll("main details")) element.open = true');
        await sendRequest(page, 'listCampaigns');
        await sendRequest(page, 'createDomain');
        await findTab(page, 'getMe', 'Python').click();
        await page.getByRole('searchbox').fill('campaign');
        await page.locator('.results li').first().waitFor();
        await assertUsable(page, `${screen}: everything unfolded`);
        if (process.env.SCREENSHOTS) {
          await openReference(page);
          await page.screenshot({ path: `${process.env.SCREENSHOTS}/docs ${screen}.png` });
        }
      }),
    ),

  'can be read without JavaScript': () =>
    withPage({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } }, async (page) => {
      await page.goto('/docs');
      assert.match(
        await page.locator('noscript').innerText(),
        /^Without JavaScript, you can read everything on this page/,
      );
      for (const selector of ['.key-form', '.try', 'search', '.samples .bar']) {
        assert.equal(await page.locator(selector).first().isVisible(), false, selector);
      }
      await findOperation(page, 'createCampaign').getByText('thumbnailUrl', { exact: true }).waitFor();
      const samples = await findOperation(page, 'createCampaign').locator('.samples').innerText();
      for (const text of ['curl -X POST', 'await fetch', 'urllib.request']) assert.ok(samples.includes(text), text);
      await findLink(page, 'listGroups').click();
      assert.ok(((await findOperation(page, 'listGroups').boundingBox())?.y ?? 900) < 100);
    }),
});
