import { RESPONSE_TTL_HOURS } from '../../../core/idempotency/idempotency.ts';
import { DEFAULT_REQUEST_LIMIT } from '../../api/default-limits.ts';
import { errorCodes, errors, getErrorAnchor } from '../../api/errors.ts';
import { renderSamples } from './code-samples.ts';
import type { OpenApiDocument } from './documented-operations.ts';
import { escapeHtml } from './markdown.ts';
import { ERRORS_PAGE } from './pages.ts';

/**
 * A link in the side list of the reference. The search finds its title and its keywords. The label, such as `POST`, is
 * shown before the title.
 */
export interface Entry {
  readonly href: string;
  readonly title: string;
  readonly label?: string;
  readonly keywords: string;
}

/** A section about a convention of all operations. `text` is Markdown. `aside` is HTML that is shown beside it. */
export interface Convention {
  readonly id: string;
  readonly title: string;
  readonly keywords: string;
  readonly text: string;
  readonly aside: string;
}

/** Returns what all operations have in common, so that the operations do not repeat it. */
export function getConventions({ components }: OpenApiDocument): readonly Convention[] {
  return [
    {
      id: 'authentication',
      title: 'Authentication',
      keywords: 'Authorization Bearer API key access role member 401 403 GET /me',
      text: `Send your API key in the header \`Authorization: Bearer API_KEY\`. The operator of the service creates keys.

A key can read everything in its workspace, unless the invitation of its member is pending or has expired. To create, change or
delete records, the key needs \`full\` access. If the key belongs to a member, the member also needs the role \`admin\`. Creating a content pillar requires a key that belongs to an admin. Sharing a campaign
requires a key with \`full\` access that belongs to a member, of any role. [Retrieve the caller](#getMe) returns the access
of your key.`,
      aside: renderSamples('authentication', { method: 'GET', path: '/me' }),
    },
    {
      id: 'errors',
      title: 'Errors',
      keywords: `status code message doc_url ${errorCodes.map((code) => `${errors[code].status} ${code}`).join(' ')}`,
      text: `Every error has the same JSON shape. Branch on \`code\` in your program. For a 422, \`message\` names up to
ten invalid fields. \`doc_url\` links to the causes and the solution. The guide says [which errors to retry](/docs/guide#handle-errors)
and [what to do about a 409](/docs/guide#resolve-a-conflict-409).

| Status | Code | Meaning |
|---|---|---|
${errorCodes.map(formatErrorRow).join('\n')}`,
      aside: renderExample('Response 409', {
        error: {
          code: 'conflict',
          message: errors.conflict.example,
          doc_url: `${ERRORS_PAGE.path}#${getErrorAnchor('conflict')}`,
        },
      }),
    },
    {
      id: 'pagination',
      title: 'Pagination and filters',
      keywords: 'page pageSize Link next prev list second page tagNames tagIds search filter',
      text: `A list returns a JSON array. \`page\` starts at 1, and \`pageSize\` sets the number of items per page:
each list states its default and maximum. To read all pages, follow the link with \`rel="next"\` in the \`Link\` header until that link is missing. The link keeps your filters.

A list contains the records that match all filters. Some filters accept several values: repeat the parameter or separate the
values with commas. A record matches if it has at least one of them. An unknown parameter returns 422.

The sample returns the second page of the campaigns with the tag \`launch\`. The guide has [a loop over all
pages](/docs/guide#read-all-pages).`,
      aside: `${renderSamples('pagination', { method: 'GET', path: '/campaigns', query: '?tagNames=launch&pageSize=10&page=2' })}
${renderExample('Link header of the response', '</campaigns?tagNames=launch&pageSize=10&page=3>; rel="next", </campaigns?tagNames=launch&pageSize=10&page=1>; rel="prev"')}`,
    },
    {
      id: 'retries',
      title: 'Retry a request safely',
      keywords:
        'retries resend repeat again Idempotency-Key Idempotency-Replayed create POST twice duplicate timeout network lost response',
      text: `To retry a POST safely, send it with an \`Idempotency-Key\`: a value that you choose once for the record that you create,
such as a UUID. If the response is lost, send the same request with the same key again. The first success is stored for ${RESPONSE_TTL_HOURS} hours,
and a retry returns it with the header \`Idempotency-Replayed: true\`. So the record is created only once. After ${RESPONSE_TTL_HOURS} hours, the key counts
as a new one. An error is not stored.

- The same key with another path or body returns 422. Another API key can use it.
- If the first request is still in progress, a retry returns 409. Retry after a moment.
- PATCH and DELETE need no \`Idempotency-Key\`: you can repeat them. A repeated DELETE returns 404.

After a 429, wait for the number of seconds in \`Retry-After\`. After a 500, wait a moment. Do not retry other errors unless the
message says so.`,
      aside: `${renderSamples('retries', { method: 'POST', path: '/tags', body: { name: 'Onboarding' } })}
${renderExample('Headers of the response to a retry', 'HTTP/1.1 201 Created\nIdempotency-Replayed: true')}`,
    },
    {
      id: 'headers',
      title: 'Response headers and rate limits',
      keywords: `rate limit 429 quota ${Object.keys(components.headers).join(' ')}`,
      text: `A key can send ${DEFAULT_REQUEST_LIMIT} requests per minute by default. If the service has accepted the key of a request, the response shows
the limit and the remaining requests. The service rejects a request without a check of its key if it is overloaded (429), if its storage
is unavailable (500), and if the path is unknown (404) or malformed (400).

| Header | Meaning |
|---|---|
${Object.entries(components.headers)
  .map(([name, { description }]) => `| \`${name}\` | ${description} |`)
  .join('\n')}`,
      aside: renderExample(
        'Headers of a response',
        Object.entries(components.headers)
          .filter(([, { example }]) => example !== undefined)
          .map(([name, { example }]) => `${name}: ${example}`)
          .join('\n'),
      ),
    },
  ];
}

function formatErrorRow(code: (typeof errorCodes)[number]): string {
  const { status, meaning } = errors[code];
  return `| ${status} | [\`${code}\`](${ERRORS_PAGE.path}#${getErrorAnchor(code)}) | ${meaning} |`;
}

/** Renders an example with its title. A text is shown as it is, and any other value as JSON. */
export function renderExample(title: string, value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return `<div class="example">
<p>${title}</p>
<pre><code>${escapeHtml(text)}</code></pre>
</div>`;
}
