import { type ErrorCode, errors, getErrorAnchor } from '../api/errors.ts';
import { getSectionAnchor } from '../api/operations.ts';
import { renderLanguageChoice, renderSamples } from './code-samples.ts';
import {
  type DocumentedField,
  type DocumentedOperation,
  getDocumentedOperations,
  type JsonSchema,
  type OpenApiDocument,
} from './documented-operations.ts';
import { renderKeyForm } from './key-form.ts';
import { renderPage } from './layout.ts';
import { escapeHtml, renderInlineMarkdown, renderMarkdown } from './markdown.ts';
import { ERRORS_PAGE, REFERENCE_PAGE } from './pages.ts';
import { renderRequestForm } from './request-form.ts';
import { getFields, renderFields } from './schema-view.ts';

/** Renders the reference: the page that documents every operation and can send requests. */
export function renderReferencePage(document: OpenApiDocument): string {
  const operations = getDocumentedOperations(document);
  const resources = document.tags.map((tag) => ({
    ...tag,
    id: getSectionAnchor(tag),
    operations: operations.filter(({ tags }) => tags.includes(tag.name)),
  }));
  const listItems = resources.flatMap((resource) => [
    `<li><a href="#${resource.id}">${resource.name}</a></li>`,
    ...resource.operations.map(
      ({ operationId, method, summary }) =>
        `<li class="depth-3"><a href="#${operationId}"><span class="method ${method}">${method}</span> ${escapeHtml(summary)}</a></li>`,
    ),
  ]);
  const text = `<h1>API reference, version ${escapeHtml(document.info.version)}</h1>
${renderMarkdown(document.info.description)}
<p>The <a href="/docs/guide">guide</a> explains these conventions with examples.</p>
<noscript><p class="warning">Without JavaScript, you can read everything on this page. You need JavaScript to fill your API key into the samples, and
to send requests.</p></noscript>
<div class="toolbar">
${renderLanguageChoice()}
${renderKeyForm()}
</div>
${resources
  .map(
    (resource) => `<h2 id="${resource.id}"><a href="#${resource.id}">${resource.name}</a></h2>
<p>${renderInlineMarkdown(resource.description)}</p>
${resource.operations.map(renderOperation).join('\n')}`,
  )
  .join('\n')}`;
  return renderPage(
    REFERENCE_PAGE.title,
    listItems,
    text,
    '<script type="module" src="/docs/files/reference.js"></script>',
  );
}

function renderOperation(operation: DocumentedOperation): string {
  const { operationId: id, method, path, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  // All successes of an operation have the same schema.
  const [status, success] = successes.at(-1) as (typeof successes)[number];
  const { schema, example } = success.content['application/json'];
  const responseFields = getFields(schema);
  const renderList = (title: string, fields: readonly DocumentedField[]) =>
    fields.length > 0 ? `<h4>${title}</h4>\n${renderFields(fields)}` : '';
  const getParameters = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const queryExample = new URLSearchParams();
  for (const { name, example: value } of getParameters('query'))
    if (value !== undefined) queryExample.set(name, String(value));
  const query = queryExample.size > 0 ? `?${queryExample}` : '';
  // The error codes that not all operations can return, but this one can.
  const codes: ErrorCode[] = [
    ...(path.includes('{id}') ? (['not_found'] as const) : []),
    ...(method === 'GET' ? [] : (['conflict'] as const)),
  ];
  return `<section id="${id}" class="operation">
<div>
<h3><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="endpoint"><span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code></p>
<p>${renderInlineMarkdown(description)}</p>
${renderList('Path parameters', getParameters('path'))}
${renderList('Query parameters', getParameters('query'))}
${renderList('Headers', getParameters('header'))}
${renderList('Body', body ? getFields(body.schema) : [])}
<h4>Response</h4>
<ul class="fields">
${successes.map(([code, response]) => `<li><code>${code}</code> ${renderInlineMarkdown(response.description)}</li>`).join('\n')}
</ul>
<details><summary>${getSchemaName(schema)}: ${responseFields.length} ${responseFields.length === 1 ? 'field' : 'fields'}</summary>${renderFields(responseFields, true)}</details>
<p class="muted">Errors: ${[...codes.map(renderErrorLink), `<a href="${ERRORS_PAGE.path}">errors of every operation</a>`].join(', ')}</p>
</div>
<div class="panel">
${renderRequestForm(operation)}
${renderSamples({ method, path, query, body: body?.example })}
<p>Response ${status}</p>
<pre><code>${escapeHtml(JSON.stringify(example, null, 2))}</code></pre>
</div>
</section>`;
}

/** Returns the name of a schema, such as `Array of Campaign`. */
function getSchemaName({ $ref = '', items }: JsonSchema): string {
  return items ? `Array of ${getSchemaName(items)}` : ($ref.split('/').at(-1) as string);
}

function renderErrorLink(code: ErrorCode): string {
  return `<a href="${ERRORS_PAGE.path}#${getErrorAnchor(code)}">${errors[code].status} <code>${code}</code></a>`;
}
