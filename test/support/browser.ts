import { existsSync } from 'node:fs';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { MissingDependencyError } from './missing-dependency-error.ts';

const EXECUTABLES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const LAUNCH_OPTIONS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Problems of a page: errors in the console, and requests to other origins. */
export interface PageProblems {
  readonly errors: readonly string[];
  readonly foreignRequests: readonly string[];
}

/** Opens a page in a new headless Chromium, and passes it to the test. */
export async function withBrowserPage(
  origin: string,
  options: BrowserContextOptions,
  test: (page: Page, problems: PageProblems) => Promise<void>,
): Promise<void> {
  const executablePath = EXECUTABLES.find((path) => path !== undefined && existsSync(path));
  if (!executablePath)
    throw new MissingDependencyError('Chromium: install it (`apt-get install chromium`) or name it in CHROMIUM');
  const browser = await chromium.launch({ executablePath, args: LAUNCH_OPTIONS, chromiumSandbox: false });
  try {
    const page = await browser.newPage({ baseURL: origin, ...options });
    const errors: string[] = [];
    const foreignRequests: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('request', (request) => {
      const { protocol, origin: target } = new URL(request.url());
      if (target !== origin && protocol !== 'data:' && protocol !== 'blob:') foreignRequests.push(request.url());
    });
    await test(page, { errors, foreignRequests });
  } finally {
    await browser.close();
  }
}
