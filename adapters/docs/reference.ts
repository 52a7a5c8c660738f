import { type Permission, permissionRequirements } from '../../core/access/permissions.ts';
import { type ErrorCode, errors, getErrorAnchor } from '../api/errors.ts';
import { getSectionAnchor, operations } from '../api/operations.ts';
import { renderSamples } from './code-samples.ts';
import {
  type DocumentedField,
  type DocumentedOperation,
  type DocumentedParameter,
  getDocumentedOperations,
  type JsonSchema,
  type OpenApiDocument,
} from './documented-operations.ts';
import { renderJson } from './highlight.ts';
import { renderKeyForm } from './key-form.ts';
import { renderPage } from './layout.ts';
import { escapeHtml, renderInlineMarkdown, renderMarkdown } from './markdown.ts';
import { ERRORS_PAGE, REFERENCE_PAGE } from './pages.ts';
import { renderRequestForm } from './request-form.ts';
import { describeType, getFields, renderFields } from './schema-view.ts';

/** Renders the reference: the page that documents every operation and can send requests. */
export function renderReferencePage(document: OpenApiDocument): string {
  const documentedOperations = getDocumentedOperations(document);
  const resources = document.tags.map((tag) => ({
    ...tag,
    id: getSectionAnchor(tag),
    operations: documentedOperations.filter(({ tags }) => tags.includes(tag.name)),
  }));
  const listItems = resources.flatMap((resource) => [
    `<li><a href="#${resource.id}">${resource.name}</a></li>`,
    ...resource.operations.map(
      ({ operationId, method, summary }) =>
        `<li class="depth-3"><a href="#${operationId}"><span class="method ${method}">${method}</span> ${escapeHtml(summary)}</a></li>`,
    ),
  ]);
  const text = `<h1>API reference</h1>
<p class="muted">Version ${escapeHtml(document.info.version)} · <a href="/openapi.json">OpenAPI document</a> · <a href="/llms.txt">llms.txt</a></p>
${renderMarkdown(document.info.description)}
<p>The <a href="/docs/guide">guide</a> explains these conventions with examples.</p>
<noscript><p class="warning">Without JavaScript, you can read everything on this page. You need JavaScript to search, to choose the language of the
samples, to fill your API key into them, and to send requests.</p></noscript>
${resources
  .map(
    (resource) => `<h2 id="${resource.id}"><a href="#${resource.id}">${resource.name}</a></h2>
<p>${renderInlineMarkdown(resource.description)}</p>
${resource.operations.map((operation) => renderOperation(operation, resource.operations.find(isListWithIds))).join('\n')}`,
  )
  .join('\n')}`;
  const head = '<script type="module" src="/docs/files/reference.js"></script>';
  return renderPage(REFERENCE_PAGE.title, listItems, text, head, renderKeyForm());
}

/** Renders an operation. `list` is the list that has the IDs of the resource. */
function renderOperation(operation: DocumentedOperation, list: DocumentedOperation | undefined): string {
  const { operationId: id, method, path, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json'];
  const successes = Object.entries(responses);
  // All successes of an operation have the same schema.
  const [status, success] = successes.at(-1) as (typeof successes)[number];
  const { schema, example } = success.content['application/json'];
  const renderList = (title: string, fields: readonly DocumentedField[]) =>
    fields.length > 0 ? `<h4>${title}</h4>\n${renderFields(fields)}` : '';
  const getParameters = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const query = renderQuery(getParameters('query'));
  const listWithIds = path.includes('{id}') || query.includes('$ID') ? list : undefined;
  // The error codes that not all operations can return, but this one can.
  const codes: ErrorCode[] = method === 'GET' ? [] : ['conflict'];
  if (path.includes('{id}')) codes.unshift('not_found');
  return `<section id="${id}" class="operation">
<div>
<h3><a href="#${id}">${escapeHtml(summary)}</a></h3>
<p class="endpoint"><span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code></p>
<p>${renderPermission(id)}</p>
<p>${renderInlineMarkdown(description)}</p>
${renderList('Path parameters', getParameters('path'))}
${renderList('Query parameters', getParameters('query'))}
${renderList('Headers', getParameters('header'))}
${renderList('Body', body ? getFields(body.schema) : [])}
<h4>Response: ${getSchemaName(schema)}</h4>
<ul class="fields">
${successes.map(([code, response]) => `<li><code>${code}</code> ${renderInlineMarkdown(response.description)}</li>`).join('\n')}
</ul>
${renderFields(getFields(schema), true)}
<p class="muted">Errors: ${codes.map((code) => `<a href="${ERRORS_PAGE.path}#${getErrorAnchor(code)}">${errors[code].status} <code>${code}</code></a>, `).join('')}<a href="${ERRORS_PAGE.path}">errors of every operation</a></p>
</div>
<div class="panel">
${renderRequestForm(operation)}
${renderSamples(id, { method, path, query, body: body?.example, listPath: method === 'GET' ? listWithIds?.path : undefined })}
${listWithIds ? `<p class="muted"><code>$ID</code> is an <code>id</code> from <a href="#${listWithIds.operationId}">${escapeHtml(listWithIds.summary)}</a>.</p>` : ''}
<div class="bar">Response ${status}</div>
${renderJson(example)}
</div>
</section>`;
}

/** Renders the query of the sample. The IDs of the example do not exist, so `$ID` replaces them. */
function renderQuery(parameters: readonly DocumentedParameter[]): string {
  const query = new URLSearchParams();
  for (const { name, schema, example } of parameters)
    if (example !== undefined) query.set(name, describeType(schema).includes('UUID') ? '$ID' : String(example));
  return query.size > 0 ? `?${query}`.replaceAll('%24', '$') : '';
}

/** Renders which API keys have the permission of an operation. */
function renderPermission(operationId: string): string {
  const permission = operations.find(({ id }) => id === operationId)?.permission as Permission;
  const { access, roles, needsMember } = permissionRequirements[permission];
  const members = roles.includes('member') ? ['any', 'any member'] : ['admin or no member', 'admin'];
  const text = `${access.includes('read') ? '' : 'full access · '}${members[needsMember ? 1 : 0]}`;
  return `<a class="badge" href="/docs/guide#authenticate">API key: ${text}</a>`;
}

/** Returns whether an operation is a list whose items have an ID. */
function isListWithIds({ method, responses }: DocumentedOperation): boolean {
  const schema = responses[200]?.content['application/json'].schema;
  return method === 'GET' && schema?.items !== undefined && getFields(schema).some(({ name }) => name === 'id');
}

/** Returns the name of a schema, such as `Array of Campaign`. */
function getSchemaName({ $ref = '', items }: JsonSchema): string {
  return items ? `Array of ${getSchemaName(items)}` : ($ref.split('/').at(-1) as string);
}
