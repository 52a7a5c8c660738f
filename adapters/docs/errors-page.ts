import { errorCodes, errors, getErrorAnchor } from '../api/errors.ts';
import { renderPage } from './layout.ts';
import { escapeHtml, renderInlineMarkdown, renderMarkdown } from './markdown.ts';
import { ERRORS_PAGE } from './pages.ts';

/** Renders the error documentation: the page that `doc_url` of an error links to. */
export function renderErrorsPage(): string {
  const listItems = errorCodes.map(
    (code) => `<li><a href="#${getErrorAnchor(code)}">${errors[code].status} <code>${code}</code></a></li>`,
  );
  const text = `<h1>Errors</h1>
<p>Every error response is a JSON object with one field, <code>error</code>. Branch on its <code>code</code> in your
program. Its <code>message</code> tells people what is wrong with the request. Its <code>doc_url</code> links to this page.
If you contact the operator of the service, include the <code>X-Request-Id</code> header of the response. The guide says
<a href="/docs/guide#handle-errors">which errors to retry</a>.</p>
${errorCodes.map(renderError).join('\n')}`;
  return renderPage(ERRORS_PAGE.title, listItems, text);
}

const CONFLICT_LINK = ' The guide says <a href="/docs/guide#resolve-a-conflict-409">what to do for each cause</a>.';

function renderError(code: keyof typeof errors): string {
  const { status, meaning, causes, remedy, example } = errors[code];
  const body = JSON.stringify(
    { error: { code, message: example, doc_url: `/docs/errors#${getErrorAnchor(code)}` } },
    null,
    2,
  );
  return `<section id="${getErrorAnchor(code)}">
<h2><a href="#${getErrorAnchor(code)}">${status} <code>${code}</code></a></h2>
<p>${renderInlineMarkdown(meaning)}</p>
<h3>Causes</h3>
${renderMarkdown(causes.map((cause) => `- ${cause}`).join('\n'))}
<h3>Solution</h3>
<p>${renderInlineMarkdown(remedy)}${code === 'conflict' ? CONFLICT_LINK : ''}</p>
<pre><code>${escapeHtml(body)}</code></pre>
</section>`;
}
