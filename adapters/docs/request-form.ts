import type { DocumentedOperation, DocumentedParameter } from './documented-operations.ts';
import { escapeHtml } from './markdown.ts';

/**
 * Renders a form that sends a request to the service. The script of the page shows it, sends the request and shows the
 * response.
 */
export function renderRequestForm(operation: DocumentedOperation): string {
  const { method, path, parameters = [], requestBody, summary } = operation;
  const isWrite = method !== 'GET';
  const label = `${method} ${path}`;
  return `<details class="try scripted">
<summary>Try it<span class="visually-hidden">: ${escapeHtml(summary)}</span></summary>
<form data-method="${method}" data-path="${escapeHtml(path)}" autocomplete="off">
${parameters.map(renderParameterInput).join('\n')}
${requestBody ? renderBodyInput(requestBody.content['application/json'].example) : ''}
${isWrite ? '<p class="warning">This request changes the workspace that your API key belongs to.</p>' : ''}
<p><button type="${isWrite ? 'button' : 'submit'}">Send request<span class="visually-hidden">: ${escapeHtml(label)}</span></button></p>
</form>
<div class="result"><p role="status"></p></div>
</details>`;
}

function renderParameterInput({ name, in: place, schema, required }: DocumentedParameter): string {
  const attributes = `name="${name}" data-in="${place}"${required ? ' required' : ''}`;
  const values = schema.enum ?? (schema.type === 'boolean' ? ['true', 'false'] : undefined);
  const hint = schema.default === undefined ? '' : `default: ${schema.default}`;
  const input = values
    ? `<select ${attributes}><option value="">${hint}</option>${values.map((value) => `<option>${escapeHtml(value)}</option>`).join('')}</select>`
    : `<input ${attributes} spellcheck="false" placeholder="${escapeHtml(hint)}">`;
  return `<label><code>${name}</code> ${input}</label>`;
}

function renderBodyInput(example: unknown): string {
  const json = JSON.stringify(example, null, 2);
  const lineCount = Math.min(json.split('\n').length, 16);
  return `<label>Body (JSON) <textarea name="body" rows="${lineCount}" spellcheck="false">${escapeHtml(json)}</textarea></label>`;
}
