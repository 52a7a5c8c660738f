import { escapeHtml } from './markdown.ts';

/** A request that a sample shows. */
export interface SampleRequest {
  readonly method: string;
  /** The path of the operation, such as `/tags/{id}`. */
  readonly path: string;
  /** The query, such as `?page=2`. */
  readonly query?: string;
  readonly body?: unknown;
}

/** Renders a request as a command for a shell with the variables `API_URL` and `API_KEY`. */
export function renderCurlSample({ method, path, query = '', body }: SampleRequest): string {
  const json = JSON.stringify(body, null, 2)?.replaceAll("'", `'\\''`);
  const lines = [
    `curl -X ${method} "$API_URL${path.replace('{id}', 'ID')}${query}"`,
    '-H "Authorization: Bearer $API_KEY"',
    ...(method === 'POST' ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(json === undefined ? [] : ['-H "Content-Type: application/json"', `-d '${json}'`]),
  ];
  return `<pre class="sample"><code>${escapeHtml(lines.join(' \\\n  '))}</code></pre>`;
}
