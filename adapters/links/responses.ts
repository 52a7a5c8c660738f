/** The headers of all responses. */
const COMMON_HEADERS = [
  ...['Cache-Control', 'no-store'],
  ...['X-Robots-Tag', 'noindex'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['X-Content-Type-Options', 'nosniff'],
];

/** Creates a response with a page. `headers` are additional headers, each name followed by its value. */
function createPage(status: number, title: string, text: string, headers: readonly string[] = []) {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<h1>${title}</h1>
<p>${text}</p>
</html>
`;
  const contentHeaders = ['Content-Type', 'text/html; charset=utf-8', 'Content-Length', `${Buffer.byteLength(body)}`];
  return { status, headers: [...COMMON_HEADERS, ...contentHeaders, ...headers], body };
}

const REDIRECT = { status: 302, headers: [...COMMON_HEADERS, 'Content-Length', '0'], body: '' };

/** All responses by their outcomes. `link-server.ts` adds `Location`, and the `Retry-After` of `limited`. */
export const responses = {
  destination: REDIRECT,
  expired_url: REDIRECT,
  not_found_url: REDIRECT,
  bad_request: createPage(400, 'Bad request', 'This request is not valid. Open the link in a web browser.'),
  not_found: createPage(404, 'Link not found', 'This link does not exist. Check that you have the whole link.'),
  method_not_allowed: createPage(405, 'Method not allowed', 'Only the methods GET and HEAD are allowed.', [
    'Allow',
    'GET, HEAD',
  ]),
  gone: createPage(410, 'Link expired', 'This link has expired. Ask the person who shared it for a new one.'),
  limited: createPage(
    429,
    'Too many requests',
    'Your network has opened too many links that do not exist. Wait a minute, and try again.',
  ),
  unavailable: createPage(
    503,
    'Temporarily unavailable',
    'This link cannot be opened right now. Try again in a moment.',
    ['Retry-After', '1'],
  ),
};

/** The outcome of a request. */
export type LinkOutcome = keyof typeof responses;
