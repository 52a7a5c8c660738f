import { errorCodes, errors, getErrorAnchor } from '../../api/errors.ts';

/** Returns the path of a static file by its name. */
type GetPath = (name: string) => string;

/** Renders the error documentation: the page that `doc_url` of an error links to. */
export function renderErrorsPage(getPath: GetPath): string {
  const contents = errorCodes.map(
    (code) =>
      `<li><a href="#${getErrorAnchor(code)}">${errors[code].status} <code>${code}</code></a>: ${renderMarkdown(errors[code].meaning)}</li>`,
  );
  return renderPage(getPath, {
    title: 'Errors',
    head: `<link rel="stylesheet" href="${getPath('docs.css')}">`,
    main: `<main>
<h1>Errors</h1>
<p>Every error response is a JSON object with one field, <code>error</code>. Branch on its <code>code</code> in your
program. Its <code>message</code> tells people what is wrong with the request. Its <code>doc_url</code> links to this page.
If you contact the operator of the service, include the <code>X-Request-Id</code> header of the response.</p>
<ul class="contents">
${contents.join('\n')}
</ul>
${errorCodes.map(renderError).join('\n')}
</main>`,
  });
}

function renderError(code: keyof typeof errors): string {
  const { status, meaning, causes, remedy, example } = errors[code];
  const body = JSON.stringify(
    { error: { code, message: example, doc_url: `/docs/errors#${getErrorAnchor(code)}` } },
    null,
    2,
  );
  return `<section id="${getErrorAnchor(code)}">
<h2><a href="#${getErrorAnchor(code)}">${status} <code>${code}</code></a></h2>
<p>${renderMarkdown(meaning)}</p>
<h3>Causes</h3>
<ul>
${causes.map((cause) => `<li>${renderMarkdown(cause)}</li>`).join('\n')}
</ul>
<h3>Solution</h3>
<p>${renderMarkdown(remedy)}</p>
<pre tabindex="0" role="region" aria-label="Example of ${code}"><code>${escapeHtml(body)}</code></pre>
</section>`;
}

export function renderPage(
  getPath: GetPath,
  { title, head, main }: Readonly<Record<'title' | 'head' | 'main', string>>,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Workspace Advocacy API</title>
<link rel="icon" type="image/png" href="${getPath('favicon-32x32.png')}">
${head}
</head>
<body>
<header>
<nav aria-label="Documentation"><a href="/docs">Reference</a> <a href="/docs/errors">Errors</a> <a href="/openapi.json">OpenAPI document</a></nav>
</header>
${main}
</body>
</html>
`;
}

/** Renders a text as HTML. Text in backticks (Markdown) becomes code. */
function renderMarkdown(markdown: string): string {
  return escapeHtml(markdown).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(value: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return value.replaceAll(/[&<>"]/g, (character) => entities[character] as string);
}

export const STYLE = `:root { color-scheme: light dark; --text: #1b1f24; --background: #fff; --link: #0b57d0; --surface: #f1f3f5; --border: #c9ced4; --success: #14703f; --danger: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8eaed; --background: #1b1f24; --link: #8ab4f8; --surface: #2a2f36; --border: #4a515a; --success: #81c995; --danger: #ff9c94; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--background); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: anywhere; }
header, main, .intro { max-width: 60rem; margin: 0 auto; padding: 1rem; }
header { border-bottom: 1px solid var(--border); }
nav { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
h1, h2, h3 { line-height: 1.25; }
main > section h3 { font-size: 1rem; margin-bottom: 0; }
main > section > h2 a { color: inherit; text-decoration: none; }
main > section { border-top: 1px solid var(--border); margin-top: 2rem; }
main > section:target { border-left: .35rem solid var(--link); padding-left: 1rem; }
main > section code, main > p code, .contents code { font-family: ui-monospace, monospace; font-size: .95em; }
main > section > pre { background: var(--surface); padding: 1rem; overflow-x: auto; white-space: pre-wrap; }
`;
