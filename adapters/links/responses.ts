/** A response to a request for a short link, by its outcome. A redirect has no page. */
interface LinkResponse {
  readonly status: number;
  /** The title and the text of the page. */
  readonly page?: readonly [title: string, text: string];
  /** Headers besides those of all responses, each name followed by its value. */
  readonly headers?: readonly string[];
}

/** All responses by their outcomes. `Location` and the `Retry-After` of `limited` depend on the request. */
const responses = {
  destination: { status: 302 },
  expired_url: { status: 302 },
  not_found_url: { status: 302 },
  bad_request: { status: 400, page: ['Bad request', 'This request is not valid. Open the link in a web browser.'] },
  not_found: { status: 404, page: ['Link not found', 'This link does not exist. Check that you have the whole link.'] },
  method_not_allowed: {
    status: 405,
    page: ['Method not allowed', 'Only the methods GET and HEAD are allowed.'],
    headers: ['Allow', 'GET, HEAD'],
  },
  gone: { status: 410, page: ['Link expired', 'This link has expired. Ask the person who shared it for a new one.'] },
  limited: {
    status: 429,
    page: [
      'Too many requests',
      'Your network has opened too many links that do not exist. Wait a minute, and try again.',
    ],
  },
  unavailable: {
    status: 503,
    page: ['Temporarily unavailable', 'This link cannot be opened right now. Try again in a moment.'],
    headers: ['Retry-After', '1'],
  },
} as const satisfies Record<string, LinkResponse>;

export type LinkOutcome = keyof typeof responses;

/** The headers of all responses. */
const COMMON_HEADERS = [
  ...['Cache-Control', 'no-store'],
  ...['X-Robots-Tag', 'noindex'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['X-Content-Type-Options', 'nosniff'],
];

/** A response as it is written, without the headers that depend on the request. */
export interface PreparedResponse {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** The prepared responses by their outcomes. */
export const preparedResponses = Object.fromEntries(
  Object.entries<LinkResponse>(responses).map(([outcome, { status, page, headers = [] }]) => {
    const body = page ? formatPage(...page) : '';
    const type = page ? ['Content-Type', 'text/html; charset=utf-8'] : [];
    const length = ['Content-Length', String(Buffer.byteLength(body))];
    return [outcome, { status, body, headers: [...COMMON_HEADERS, ...type, ...length, ...headers] }];
  }),
) as unknown as Readonly<Record<LinkOutcome, PreparedResponse>>;

function formatPage(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
}
