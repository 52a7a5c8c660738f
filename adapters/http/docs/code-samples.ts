import { escapeHtml } from './markdown.ts';

/** A request that samples show. */
export interface SampleRequest {
  readonly method: string;
  /** The path of the operation, such as `/tags/{id}`. */
  readonly path: string;
  /** The query, such as `?page=2`. The script of the page can replace it. */
  readonly query?: string;
  readonly body?: unknown;
}

/**
 * The placeholders of samples by name, each with the text that is shown until the script of the page fills in the
 * value. A sample contains a placeholder as `{{name}}`.
 */
const placeholders: Readonly<Record<string, string>> = {
  origin: 'https://API_HOST',
  key: 'API_KEY',
  id: 'ID',
  query: '',
  idempotencyKey: 'UNIQUE_VALUE',
};

/** The languages of samples by name, each with the function that writes a request in that language. */
const languages: Readonly<Record<string, (request: SampleRequest) => string>> = {
  curl: writeCurl,
  JavaScript: writeJavaScript,
  Python: writePython,
};

/**
 * Renders a request in all languages. Radio buttons choose the language, so that the choice works without a script,
 * too. `id` must be unique on the page.
 */
export function renderSamples(id: string, request: SampleRequest): string {
  const names = Object.keys(languages);
  const choices = names.map(
    (name, i) =>
      `<label><input type="radio" name="${id}-language" value="${name}"${i === 0 ? ' checked' : ''}> ${name}</label>`,
  );
  const samples = names.map((name) => `<pre data-language="${name}"><code>${renderSample(name, request)}</code></pre>`);
  return `<div class="samples">
<fieldset><legend class="visually-hidden">Language of the sample</legend>${choices.join('')}</fieldset>
${samples.join('\n')}
</div>`;
}

function renderSample(language: string, request: SampleRequest): string {
  const sample = (languages[language] as (request: SampleRequest) => string)(request);
  const query = request.query ?? placeholders.query;
  return escapeHtml(sample).replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = name === 'query' ? query : placeholders[name];
    return `<span data-fill="${name}">${escapeHtml(value as string)}</span>`;
  });
}

const RETRY_HINT = 'Choose an Idempotency-Key for each new record. A retry sends the same one again.';

const getUrl = ({ path }: SampleRequest) => `{{origin}}${path.replace('{id}', '{{id}}')}{{query}}`;
const toJson = (value: unknown) => JSON.stringify(value, null, 2);

function writeCurl({ method, body, ...request }: SampleRequest): string {
  const hasBody = body !== undefined;
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${getUrl({ method, ...request })}"`,
    '-H "Authorization: Bearer {{key}}"',
    ...(hasBody ? ['-H "Content-Type: application/json"'] : []),
    ...(method === 'POST' ? ['-H "Idempotency-Key: {{idempotencyKey}}"'] : []),
    ...(hasBody ? [`-d '${toJson(body).replaceAll("'", `'\\''`)}'`] : []),
  ].join(' \\\n  ');
}

function writeJavaScript(request: SampleRequest): string {
  const { method, body } = request;
  const hasBody = body !== undefined;
  return [
    ...(method === 'POST' ? [`// ${RETRY_HINT}`] : []),
    `const response = await fetch("${getUrl(request)}", {`,
    ...(method === 'GET' ? [] : [`  method: "${method}",`]),
    '  headers: {',
    '    "Authorization": "Bearer {{key}}",',
    ...(hasBody ? ['    "Content-Type": "application/json",'] : []),
    ...(method === 'POST' ? ['    "Idempotency-Key": "{{idempotencyKey}}",'] : []),
    '  },',
    ...(hasBody ? [`  body: JSON.stringify(${indent(toJson(body))}),`] : []),
    '});',
    'if (!response.ok) throw new Error(await response.text());',
    'console.log(await response.json());',
  ].join('\n');
}

function writePython(request: SampleRequest): string {
  const { method, body } = request;
  const hasBody = body !== undefined;
  const isPost = method === 'POST';
  return [
    'import json, urllib.request',
    '',
    ...(isPost ? [`# ${RETRY_HINT}`] : []),
    'request = urllib.request.Request(',
    `    "${getUrl(request)}",`,
    ...(method === 'GET' ? [] : [`    method="${method}",`]),
    '    headers={',
    '        "Authorization": "Bearer {{key}}",',
    ...(hasBody ? ['        "Content-Type": "application/json",'] : []),
    ...(isPost ? ['        "Idempotency-Key": "{{idempotencyKey}}",'] : []),
    '    },',
    ...(hasBody ? [`    data=json.dumps(${indent(toPython(body), '    ')}).encode(),`] : []),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(json.load(response))',
  ].join('\n');
}

function indent(text: string, spaces = '  '): string {
  return text.replaceAll('\n', `\n${spaces}`);
}

/** Writes a JSON value as a Python expression. */
export function toPython(value: unknown): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = isList
    ? value.map(toPython)
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${toPython(item)}`);
  const [open, close] = isList ? '[]' : '{}';
  return items.length === 0
    ? `${open}${close}`
    : `${open}\n    ${items.map((item) => indent(item, '    ')).join(',\n    ')},\n${close}`;
}
