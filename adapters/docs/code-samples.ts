import { escapeHtml } from './markdown.ts';

/** A request that samples show. */
export interface SampleRequest {
  readonly method: string;
  /** The path of the operation, such as `/tags/{id}`. */
  readonly path: string;
  /** The query, such as `?page=2`. */
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
  idempotencyKey: 'UNIQUE_VALUE',
};

type WriteSample = (method: string, url: string, headers: Readonly<Record<string, string>>, json?: string) => string;

/** The languages of samples by name, each with the function that writes a sample. `json` is the body. */
const languages: Readonly<Record<string, WriteSample>> = {
  curl: (method, url, headers, json) =>
    [
      `curl -X ${method} "${url}"`,
      ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${value}"`),
      ...(json ? [`-d '${json.replaceAll("'", `'\\''`)}'`] : []),
    ].join(' \\\n  '),
  JavaScript: (method, url, headers, json) => `const response = await fetch("${url}", {
  method: "${method}",
  headers: ${indent(toJson(headers))},${json ? `\n  body: JSON.stringify(${indent(json)}),` : ''}
});
console.log(response.status, await response.json());`,
  Python: (method, url, headers, json) => `import json, urllib.request

request = urllib.request.Request(
  "${url}",
  method="${method}",
  headers=${indent(toJson(headers))},${json ? `\n  data=r"""${json}""".encode(),` : ''}
)
with urllib.request.urlopen(request) as response:
  print(json.load(response))`,
};

const toJson = (value: unknown) => JSON.stringify(value, null, 2);
const indent = (text: string) => text.replaceAll('\n', '\n  ');

/** Renders the choice of the language of all samples on a page. It works without a script. */
export function renderLanguageChoice(): string {
  const choices = Object.keys(languages).map(
    (name, i) =>
      `<label><input type="radio" name="language" value="${name}"${i === 0 ? ' checked' : ''}> ${name}</label>`,
  );
  return `<fieldset><legend class="visually-hidden">Language of the samples</legend>${choices.join('')}</fieldset>`;
}

/** Renders a request in all languages. The style sheet shows the language that was chosen. */
export function renderSamples({ method, path, query = '', body }: SampleRequest): string {
  const url = `{{origin}}${path.replace('{id}', 'ID')}${query}`;
  const headers = {
    Authorization: 'Bearer {{key}}',
    ...(method === 'POST' ? { 'Idempotency-Key': '{{idempotencyKey}}' } : {}),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const json = body === undefined ? undefined : toJson(body);
  const samples = Object.entries(languages).map(([name, write]) => {
    const sample = escapeHtml(write(method, url, headers, json)).replaceAll(
      /\{\{(\w+)\}\}/g,
      (_, placeholder: string) => `<span data-fill="${placeholder}">${placeholders[placeholder]}</span>`,
    );
    return `<pre data-language="${name}"><code>${sample}</code></pre>`;
  });
  return `<div class="samples">\n${samples.join('\n')}\n</div>`;
}
