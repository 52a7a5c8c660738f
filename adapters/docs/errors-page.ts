import { type ErrorCode, errorCodes, errors, getErrorAnchor, getErrorCauses } from '../api/errors.ts';
import { renderJson } from './highlight.ts';
import { renderPage } from './layout.ts';
import { renderInlineMarkdown, renderMarkdown } from './markdown.ts';
import { ERRORS_PAGE } from './pages.ts';

/** Renders the error documentation: the page that `doc_url` of an error links to. */
export function renderErrorsPage(): string {
  const listItems = errorCodes.flatMap((code) => [
    `<li><a href="#${getErrorAnchor(code)}">${errors[code].status} ${code}</a></li>`,
    ...getErrorCauses(code).map(([anchor]) => `<li class="depth-3"><a href="#${anchor}">${anchor}</a></li>`),
  ]);
  const text = `<h1>Errors</h1>
${renderMarkdown(`Every error response is a JSON object with one field, \`error\`. Its \`message\` tells people what is wrong
with the request. Branch on its \`code\` in your program. If a cause below has a name, the fragment of \`doc_url\` is this
name, such as \`#conflict-name-taken\`: branch on it, too. The guide says [which errors to retry](/docs/guide#handle-errors).
If you contact the operator of the service, include the \`X-Request-Id\` header of the response.`)}
${errorCodes.map(renderError).join('\n')}`;
  return renderPage(ERRORS_PAGE.title, listItems, text);
}

function renderError(code: ErrorCode): string {
  const { status, meaning, otherCauses, remedy, example } = errors[code];
  const id = getErrorAnchor(code);
  const causes = getErrorCauses(code);
  return `<section id="${id}">
<h2><a href="#${id}">${status} <code>${code}</code></a></h2>
<p>${renderInlineMarkdown(meaning)} ${renderInlineMarkdown(remedy)}</p>
${renderJson({ error: { code, message: example, doc_url: `${ERRORS_PAGE.path}#${id}` } })}
${otherCauses.length > 0 ? `<p>${causes.length > 0 ? 'Causes without a name:' : 'Causes:'}</p>\n${renderMarkdown(otherCauses.map((cause) => `- ${cause}`).join('\n'))}` : ''}
${causes.map(([anchor, text]) => `<h3 id="${anchor}"><a href="#${anchor}"><code>${anchor}</code></a></h3>\n<p>${renderInlineMarkdown(text)}</p>`).join('\n')}
</section>`;
}
