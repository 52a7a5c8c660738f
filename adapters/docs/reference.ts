import { type ErrorCode, errors, getErrorAnchor } from '../api/errors.ts';
import { renderLanguageChoice, renderSamples } from './code-samples.ts';
import {
  type DocumentedOperation,
  type DocumentedParameter,
  getDocumentedOperations,
  type OpenApiDocument,
} from './documented-operations.ts';
import { renderPage } from './layout.ts';
import { escapeHtml, renderInlineMarkdown, renderMarkdown } from './markdown.ts';
import { ERRORS_PAGE, REFERENCE_PAGE } from './pages.ts';
import { renderRequestForm } from './request-form.ts';
import { type DocumentedField, getFields, type JsonSchema, type NamedSchemas, renderFields } from './schema-view.ts';

/** Renders the reference: the page that documents every operation and can send requests. */
export function renderReferencePage(document: OpenApiDocument): string {
  const { schemas } = document.components;
  const operations = getDocumentedOperations(document);
  const resources = document.tags.map((tag) => ({
    ...tag,
    id: tag.name.toLowerCase().replaceAll(' ', '-'),
    operations: operations.filter((operation) => operation.tag === tag.name),
  }));
  const listItems = resources.flatMap((resource) => [
    `<li><a href="#${resource.id}">${resource.name}</a></li>`,
    ...resource.operations.map(
      ({ id, method, summary }) =>
        `<li class="depth-3"><a href="#${id}"><span class="method ${method}">${method}</span> ${escapeHtml(summary)}</a></li>`,
    ),
  ]);
  const text = `<h1>API reference, version ${escapeHtml(document.info.version)}</h1>
${renderMarkdown(document.info.description)}
<p>The <a href="/docs/guide">guide</a> explains these conventions with examples.</p>
<noscript><p class="warning">Without JavaScript, you can read everything on this page. You need JavaScript to fill your API key into the samples, and
to send requests.</p></noscript>
<div class="toolbar">
${renderLanguageChoice()}
<form class="key-form" autocomplete="off" hidden>
<label>API key <input id="key" autocomplete="off" autocapitalize="none" spellcheck="false" placeholder="adv_…" pattern="\\s*[\\w.~+\\/\\-]*\\s*"
title="An API key contains only letters, digits and - . _ ~ + /. The tab keeps it until you close the tab."></label>
</form>
</div>
${resources
  .map(
    ({ id, name, description, operations }) => `<h2 id="${id}"><a href="#${id}">${name}</a></h2>
<p>${renderInlineMarkdown(description)}</p>
${operations.map((operation) => renderOperation(operation, schemas)).join('\n')}`,
  )
  .join('\n')}`;
  return renderPage(REFERENCE_PAGE.title, listItems, text, '<script defer src="/docs/files/reference.js"></script>');
}

function renderOperation(operation: DocumentedOperation, schemas: NamedSchemas): string {
  const { id, method, path, summary, description, parameters, bodySchema, bodyExample, queryExample, successes } =
    operation;
  const success = successes.at(-1);
  const renderList = (title: string, fields: readonly DocumentedField[]) =>
    fields.length > 0 ? `<h4>${title}</h4>\n${renderFields(fields, schemas)}` : '';
  const renderParameters = (place: DocumentedParameter['in'], title: string) =>
    renderList(
      title,
      parameters.filter((parameter) => parameter.in === place),
    );
  return `<section id="${id}" class="operation">
<div>
<h3><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="endpoint"><span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code></p>
<p>${renderInlineMarkdown(description)}</p>
${renderParameters('path', 'Path parameters')}
${renderParameters('query', 'Query parameters')}
${renderParameters('header', 'Headers')}
${renderList('Body', bodySchema ? getFields(bodySchema, schemas) : [])}
<h4>Response</h4>
${renderSuccesses(operation, schemas)}
<p class="muted">Errors: ${[...getAdditionalErrorCodes(operation).map(renderErrorLink), `<a href="${ERRORS_PAGE.path}">errors of every operation</a>`].join(', ')}</p>
</div>
<div class="panel">
${renderRequestForm(operation)}
${renderSamples({ method, path, query: queryExample, body: bodyExample })}
<p>Response ${success?.status}</p>
<pre><code>${escapeHtml(JSON.stringify(success?.example, null, 2))}</code></pre>
</div>
</section>`;
}

/**
 * Renders the successful statuses, and the fields of the response. All successes of an operation have the same schema.
 */
function renderSuccesses({ successes }: DocumentedOperation, schemas: NamedSchemas): string {
  const [{ schema } = { schema: {} }] = successes;
  const fields = getFields(schema, schemas);
  return `<ul class="fields">
${successes.map(({ status, description }) => `<li><code>${status}</code> ${renderInlineMarkdown(description)}</li>`).join('\n')}
</ul>
<details><summary>${getSchemaName(schema)}: ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}</summary>${renderFields(fields, schemas, 'response')}</details>`;
}

/** Returns the name of a schema, such as `Array of Campaign`. */
function getSchemaName({ $ref = '', items }: JsonSchema): string {
  return items ? `Array of ${getSchemaName(items)}` : ($ref.split('/').at(-1) as string);
}

/** Returns the error codes that not all operations can return, but this one can. */
function getAdditionalErrorCodes({ method, path }: DocumentedOperation): ErrorCode[] {
  return [
    ...(path.includes('{id}') ? (['not_found'] as const) : []),
    ...(method === 'GET' ? [] : (['conflict'] as const)),
  ];
}

function renderErrorLink(code: ErrorCode): string {
  return `<a href="${ERRORS_PAGE.path}#${getErrorAnchor(code)}">${errors[code].status} <code>${code}</code></a>`;
}
