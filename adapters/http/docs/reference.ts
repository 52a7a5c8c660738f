import { type ErrorCode, errors, getErrorAnchor } from '../../api/errors.ts';
import type { JsonSchema } from '../../api/field-examples.ts';
import { renderSamples } from './code-samples.ts';
import { type Convention, type Entry, getConventions, renderExample } from './conventions.ts';
import {
  type DocumentedOperation,
  type DocumentedParameter,
  getDocumentedOperations,
  type OpenApiDocument,
} from './documented-operations.ts';
import type { Section } from './guides.ts';
import { renderPage } from './layout.ts';
import { escapeHtml, renderInlineMarkdown, renderMarkdown } from './markdown.ts';
import { API_GUIDE_PAGE, ERRORS_PAGE, REFERENCE_PAGE } from './pages.ts';
import { renderRequestForm } from './request-form.ts';
import { type DocumentedField, getFields, type NamedSchemas, renderFields } from './schema-view.ts';

/**
 * Renders the reference: the page that documents every operation and can send requests. Its side list and search lead
 * to the sections of the guide, too.
 */
export function renderReferencePage(document: OpenApiDocument, guideSections: readonly Section[]): string {
  const { schemas } = document.components;
  const operations = getDocumentedOperations(document);
  const conventions = getConventions(document);
  const resources = document.tags.map((tag) => ({
    ...tag,
    id: tag.name.toLowerCase().replaceAll(' ', '-'),
    operations: operations.filter((operation) => operation.tag === tag.name),
  }));
  const groups: readonly (readonly [title: string, entries: readonly Entry[]])[] = [
    ['Conventions', conventions.map(({ id, ...convention }) => ({ href: `#${id}`, ...convention }))],
    ...resources.map(
      ({ name, operations }) => [name, operations.map((operation) => toEntry(operation, schemas))] as const,
    ),
    [
      API_GUIDE_PAGE.title,
      guideSections.map(({ id, title, text }) => ({
        href: `${API_GUIDE_PAGE.path}#${id}`,
        title,
        label: API_GUIDE_PAGE.title,
        keywords: text,
      })),
    ],
  ];
  return renderPage({
    title: REFERENCE_PAGE.title,
    head: `<link rel="stylesheet" href="/docs/files/reference.css">
<script defer src="/docs/files/reference.js"></script>`,
    main: `<div class="reference">
${renderSideList(groups)}
<main>
<div class="columns">
<div>
<h1>API reference</h1>
<p>With this API, you manage the campaigns, inspiration questions, content pillars, domains, groups and tags of a workspace. Every
operation acts on the workspace that the API key belongs to. Requests and responses are JSON. This is version ${escapeHtml(document.info.version)}.</p>
<noscript><p class="warning">Without JavaScript, you can read everything on this page. You need JavaScript to search, to fill your API key into the
samples, and to send requests.</p></noscript>
</div>
<div>${renderKeyForm()}</div>
</div>
${conventions.map(renderConvention).join('\n')}
${resources
  .map(
    ({ id, name, description, operations }) => `<section class="resource">
<h2 id="${id}"><a href="#${id}">${name}</a></h2>
<p>${renderInlineMarkdown(description)}</p>
${operations.map((operation) => renderOperation(operation, schemas)).join('\n')}
</section>`,
  )
  .join('\n')}
</main>
</div>`,
  });
}

/** Renders the side list. On a narrow screen, the `summary` element opens and closes the list. */
function renderSideList(groups: readonly (readonly [title: string, entries: readonly Entry[]])[]): string {
  return `<details class="side-list" open>
<summary>Contents and search<span class="current-place"></span></summary>
<nav aria-label="Sections">
<form class="search" role="search" hidden>
<label>Search <kbd>Ctrl K</kbd><input type="search" autocomplete="off" spellcheck="false" placeholder="tagNames, 409, retry …"></label>
<p role="status"></p>
</form>
<ul class="results" hidden></ul>
${groups
  .map(
    ([title, entries]) => `<div class="group">
<p>${title}</p>
<ul>
${entries.map(renderEntry).join('\n')}
</ul>
</div>`,
  )
  .join('\n')}
</nav>
</details>`;
}

function renderEntry({ href, title, label, keywords }: Entry): string {
  // The label of an operation is its method, which has a style.
  const prefix = label ? `<span class="method ${label}">${label}</span> ` : '';
  return `<li data-keywords="${escapeHtml(keywords)}"><a href="${href}">${prefix}<span>${escapeHtml(title)}</span></a></li>`;
}

function toEntry(
  { id, summary, method, path, parameters, bodySchema }: DocumentedOperation,
  schemas: NamedSchemas,
): Entry {
  const fields = bodySchema ? getFields(bodySchema, schemas) : [];
  const names = [...parameters, ...fields].map(({ name }) => name);
  return { href: `#${id}`, title: summary, label: method, keywords: [id, path, ...names].join(' ') };
}

function renderKeyForm(): string {
  return `<form class="key-form" autocomplete="off" hidden>
<label for="key">API key</label>
<input id="key" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="key-hint" placeholder="adv_…">
<p id="key-hint" role="status">The samples and the requests of this page use this key. The tab keeps it until you close the tab.</p>
</form>`;
}

function renderConvention({ id, title, text, aside }: Convention): string {
  return `<section id="${id}" class="columns">
<div>
<h2><a href="#${id}">${title}</a></h2>
${renderMarkdown(text)}</div>
<div class="panel">${aside}</div>
</section>`;
}

function renderOperation(operation: DocumentedOperation, schemas: NamedSchemas): string {
  const { id, method, path, summary, description, parameters, bodySchema, bodyExample, queryExample, successes } =
    operation;
  const renderList = (part: string, title: string, fields: readonly DocumentedField[]) =>
    fields.length > 0
      ? `<h4 id="${id}-${part}"><a href="#${id}-${part}">${title}</a></h4>\n${renderFields(fields, schemas)}`
      : '';
  const renderParameters = (place: DocumentedParameter['in'], title: string) =>
    renderList(
      place,
      title,
      parameters.filter((parameter) => parameter.in === place),
    );
  return `<section id="${id}" class="operation columns">
<div>
<h3><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="endpoint"><span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code></p>
<p>${renderInlineMarkdown(description)}</p>
${renderParameters('path', 'Path parameters')}
${renderParameters('query', 'Query parameters')}
${renderParameters('header', 'Headers')}
${renderList('body', 'Body', bodySchema ? getFields(bodySchema, schemas) : [])}
<h4 id="${id}-response"><a href="#${id}-response">Response</a></h4>
${renderSuccesses(operation, schemas)}
<p class="errors">Errors: ${[...getAdditionalErrorCodes(operation).map(renderErrorLink), '<a href="#errors">errors of every operation</a>'].join(', ')}</p>
</div>
<div class="panel">
${renderRequestForm(operation)}
${renderSamples(id, { method, path, query: queryExample, body: bodyExample })}
${renderExample(`Response ${successes.at(-1)?.status}`, successes.at(-1)?.example)}
</div>
</section>`;
}

/**
 * Renders the successful statuses, and the fields of the response. All successes of an operation have the same schema.
 */
function renderSuccesses({ successes }: DocumentedOperation, schemas: NamedSchemas): string {
  const [{ schema } = { schema: {} }] = successes;
  const name = getSchemaName(schema);
  const fields = getFields(schema, schemas);
  return `<ul class="statuses">
${successes.map(({ status, description }) => `<li><code>${status}</code> ${renderInlineMarkdown(description)}</li>`).join('\n')}
</ul>
<details><summary>${name}: ${fields.length} ${fields.length === 1 ? 'field' : 'fields'}</summary>${renderFields(fields, schemas, 'response')}</details>`;
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
