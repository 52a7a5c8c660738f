import { pages } from './pages.ts';

/**
 * Renders a page with the navigation, and with a list of its sections. If the navigation has a link with this `title`,
 * the link is marked as the current page. The items of the list, the text and `head` are HTML.
 */
export function renderPage(title: string, listItems: readonly string[], text: string, head = ''): string {
  const links = pages.map((page) => {
    const current = page.title === title ? ' aria-current="page"' : '';
    return `<a href="${page.path}"${current}>${page.title}</a>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Workspace Advocacy API</title>
<link rel="icon" type="image/svg+xml" href="/docs/files/favicon.svg">
<link rel="stylesheet" href="/docs/files/docs.css">
${head}
</head>
<body>
<header class="site-header">
<a class="visually-hidden" href="#content">Skip to the content</a>
<nav aria-label="Documentation">
${links.join('\n')}
<a href="/openapi.json">OpenAPI document</a>
<a href="/llms.txt">llms.txt</a>
</nav>
</header>
<div id="content" tabindex="-1">
<nav class="contents" aria-labelledby="contents">
<p id="contents">On this page</p>
<ul>
${listItems.join('\n')}
</ul>
</nav>
<main>
${text}
</main>
</div>
</body>
</html>
`;
}
