import { pages, REFERENCE_PAGE } from './pages.ts';

/**
 * Renders a page with the navigation, and with a list of its sections unless it is empty. If the navigation has a link
 * with this `title`, the link is marked as the current page. The items of the list, the text, `head`, and the `tools`
 * above the list are HTML.
 */
export function renderPage(title: string, listItems: readonly string[], text: string, head = '', tools = ''): string {
  const links = pages.map(
    (page) => `<a href="${page.path}"${page.title === title ? ' aria-current="page"' : ''}>${page.title}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Workspace Advocacy API</title>
<link rel="icon" type="image/svg+xml" href="/docs/files/favicon.svg">
<link rel="stylesheet" href="/docs/files/docs.css">
<script defer src="/docs/files/navigation.js"></script>
${head}
</head>
<body>
<header class="site-header">
<a class="visually-hidden" href="#content">Skip to the content</a>
<a class="brand" href="${REFERENCE_PAGE.path}">Workspace Advocacy</a>
<search class="scripted">
<input id="search" type="search" aria-label="Search the documentation" placeholder="Search" autocomplete="off">
<div class="results" popover><p role="status"></p><ul></ul></div>
</search>
<nav aria-label="Documentation">
${links.join('\n')}
</nav>
</header>
<div id="content" tabindex="-1">
${listItems.length > 0 ? renderSidebar(listItems, tools) : ''}
<main>
${text}
</main>
</div>
</body>
</html>
`;
}

function renderSidebar(listItems: readonly string[], tools: string): string {
  return `<aside class="sidebar">
${tools}
<nav class="contents" aria-labelledby="contents">
<details open>
<summary id="contents">On this page</summary>
<ul>
${listItems.join('\n')}
</ul>
</details>
</nav>
</aside>`;
}
