import { existsSync } from 'node:fs';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { MissingDependencyError } from './missing-dependency-error.ts';

const PLACES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** What a page did that nobody wants of it: messages of the console, and requests that went elsewhere. */
export interface PageProblems {
  readonly errors: readonly string[];
  readonly foreign: readonly string[];
}

/** Lets a test look at a page of a service in a headless Chromium of its own. */
export async function withBrowserPage(
  origin: string,
  options: BrowserContextOptions,
  test: (page: Page, complaints: PageProblems) => Promise<void>,
): Promise<void> {
  const executablePath = PLACES.find((path) => path !== undefined && existsSync(path));
  if (!executablePath)
    throw new MissingDependencyError('Chromium: install it (`apt-get install chromium`) or name it in CHROMIUM');
  const browser = await chromium.launch({ executablePath, args: FLAGS, chromiumSandbox: false });
  try {
    const page = await browser.newPage({ baseURL: origin, ...options });
    const errors: string[] = [];
    const foreign: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('request', (request) => {
      const { protocol, origin: to } = new URL(request.url());
      if (to !== origin && protocol !== 'data:' && protocol !== 'blob:') foreign.push(request.url());
    });
    await test(page, { errors, foreign });
  } finally {
    await browser.close();
  }
}
