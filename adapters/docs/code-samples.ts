import { highlight } from './highlight.ts';

/** A request that samples show. */
export interface SampleRequest {
  readonly method: string;
  /** The path of the operation, such as `/tags/{id}`. */
  readonly path: string;
  /** The query, such as `?page=2`. */
  readonly query?: string;
  readonly body?: unknown;
  /** The path of a list with an ID for `$ID`. The copy button then fills in the first one. */
  readonly listPath?: string | undefined;
}

type WriteSample = (method: string, url: string, headers: Readonly<Record<string, string>>, json?: string) => string;

/** The languages of samples by name, each with the function that writes a sample. `json` is the body. */
const languages: Readonly<Record<string, WriteSample>> = {
  curl: (method, url, headers, json) =>
    [
      `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}"`,
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

/**
 * Renders a request in all languages, with a tab for each language. `id` is the start of the IDs of the elements.
 * Without a script, the style sheet shows all languages instead of the tabs.
 */
export function renderSamples(id: string, { method, path, query = '', body, listPath }: SampleRequest): string {
  const url = `https://API_HOST${path.replace('{id}', '$ID')}${query}`;
  const headers = {
    Authorization: 'Bearer $KEY',
    ...(method === 'POST' ? { 'Idempotency-Key': 'UNIQUE_VALUE' } : {}),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const json = body === undefined ? undefined : toJson(body);
  const parts = Object.entries(languages).map(([name, write], i) => {
    // The script of the page replaces these placeholders. `$KEY` and `$ID` are shown, and replaced in copies only.
    const sample = highlight(write(method, url, headers, json), name)
      .replace('https://API_HOST', '<span data-fill="origin">$&</span>')
      .replace('UNIQUE_VALUE', '<span data-fill="idempotencyKey">$&</span>');
    const panelId = `${id}-${name}`;
    const [selected, hidden] =
      i === 0 ? ['aria-selected="true"', ''] : ['aria-selected="false" tabindex="-1"', ' hidden'];
    return {
      tab: `<button type="button" role="tab" id="${panelId}-tab" aria-controls="${panelId}" ${selected}>${name}</button>`,
      panel: `<pre role="tabpanel" id="${panelId}" aria-labelledby="${panelId}-tab" tabindex="0"${hidden}><code>${sample}</code></pre>`,
    };
  });
  return `<div class="samples"${listPath ? ` data-list="${listPath}"` : ''}>
<div class="bar scripted">
<div role="tablist" aria-label="Language of the samples">${parts.map(({ tab }) => tab).join('')}</div>
<button type="button" class="copy">Copy</button>
</div>
${parts.map(({ panel }) => panel).join('\n')}
</div>`;
}
