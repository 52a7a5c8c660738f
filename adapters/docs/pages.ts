/** A page of the documentation, as the navigation lists it. */
interface Page {
  readonly path: string;
  readonly title: string;
}

/** A page that shows a Markdown file of the repository: a guide, the settings or the changelog. */
export interface Guide extends Page {
  /** The path of the file from the root of the package. */
  readonly file: string;
  readonly description: string;
}

/** The guides, the settings and the changelog. */
export const guides: readonly Guide[] = [
  {
    path: '/docs/guide',
    title: 'Guide',
    file: 'docs/guide.md',
    description: "Authentication, errors, pages, filters, retries, limits, and how to build an employee's app.",
  },
  {
    path: '/docs/webhooks',
    title: 'Events',
    file: 'docs/webhooks.md',
    description: 'How to receive events with a webhook, to catch up, and to rotate a secret.',
  },
  {
    path: '/docs/clients',
    title: 'Typed clients',
    file: 'docs/clients.md',
    description: 'The TypeScript client, how to generate clients for other languages, and how to connect agents.',
  },
  {
    path: '/docs/stability',
    title: 'Stability',
    file: 'docs/stability.md',
    description: 'The promises of a version of the API, and the changes that clients must tolerate.',
  },
  {
    path: '/docs/settings',
    title: 'Settings',
    file: 'docs/settings.md',
    description: 'The environment variables of the service, with their defaults.',
  },
  {
    path: '/docs/changelog',
    title: 'Changelog',
    file: 'CHANGELOG.md',
    description: 'The changes of each version for callers and operators.',
  },
];

export const REFERENCE_PAGE: Page = { path: '/docs', title: 'Reference' };
export const ERRORS_PAGE: Page = { path: '/docs/errors', title: 'Errors' };
export const DASHBOARD_PAGE: Page = { path: '/dashboard', title: 'Dashboard' };

/** The pages in the order of the navigation. */
export const pages: readonly Page[] = [REFERENCE_PAGE, ...guides, ERRORS_PAGE, DASHBOARD_PAGE];
