import { pages } from './pages.ts';

/** Returns the path of a static file by its name. */
export type GetPath = (name: string) => string;

/**
 * Renders a page with the navigation. `title` is that of the navigation, if the page is listed there. `head` adds HTML to the head.
 * `main` is the HTML below the navigation, with a `main` element.
 */
export function renderPage(
  getPath: GetPath,
  { title, head, main }: Readonly<Record<'title' | 'head' | 'main', string>>,
): string {
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
<link rel="icon" type="image/svg+xml" href="${getPath('favicon.svg')}">
<link rel="stylesheet" href="${getPath('docs.css')}">
${head}
</head>
<body>
<header class="site-header">
<a class="skip-link" href="#content">Skip to the content</a>
<nav aria-label="Documentation">
${links.join('\n')}
<a href="/openapi.json">OpenAPI document</a>
</nav>
</header>
<div id="content" tabindex="-1">
${main}
</div>
</body>
</html>
`;
}

/** The style that all pages share. The variables are the design tokens, for light and dark mode. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: #1b1f24; --muted: #545d68; --background: #fff; --surface: #f4f6f8; --border: #c9ced4;
  --link: #0b57d0; --success: #14703f; --danger: #b3261e;
  --sans: system-ui, sans-serif; --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  --radius: .4rem;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e8eaed; --muted: #aab1b9; --background: #1b1f24; --surface: #262b31; --border: #4a515a;
    --link: #8ab4f8; --success: #81c995; --danger: #ff9c94;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--background); color: var(--text); font: 1rem/1.6 var(--sans); overflow-wrap: anywhere; }
a { color: var(--link); }
h1, h2, h3 { line-height: 1.25; }
code, pre, samp { font-family: var(--mono); }
code { font-size: .9em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
#content:focus { outline: none; }

.site-header { padding: .75rem 1rem; border-bottom: 1px solid var(--border); }
.site-header nav { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; max-width: 78rem; margin: 0 auto; }
.site-header [aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
.skip-link { position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; background: var(--background); }
.skip-link:focus { top: .5rem; }

.guide { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 3rem; max-width: 78rem; margin: 0 auto; padding: 1rem; }
.guide main { max-width: 52rem; }
.guide .contents { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; padding: 1.5rem .25rem; font-size: .925rem; }
.contents p { margin: 0; font-weight: 600; }
.contents ul { margin: .5rem 0 0; padding: 0; list-style: none; }
.contents li { margin: .35rem 0; line-height: 1.35; }
.guide h2 { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--border); }
.guide :is(h2, h3) > a { color: inherit; text-decoration: none; }
.guide :is(h2, h3) > a:hover { text-decoration: underline; }
.guide :is(h2, h3):target { border-left: .35rem solid var(--link); padding-left: 1rem; }
.guide :not(pre) > code { padding: .1em .3em; border-radius: var(--radius); background: var(--surface); }
.guide h2 code, .guide h3 code { background: none; padding: 0; }
.guide pre { padding: 1rem; border-radius: var(--radius); background: var(--surface); white-space: pre-wrap; line-height: 1.5; }
.guide samp { color: var(--muted); }
.guide table { width: 100%; border-collapse: collapse; }
.guide :is(th, td) { padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--border); text-align: left; vertical-align: top; }
.guide td:first-child { overflow-wrap: break-word; }
@media (max-width: 56rem) {
  .guide { display: block; }
  .guide .contents { position: static; max-height: none; padding: 0; }
}
`;
