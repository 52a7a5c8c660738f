import type { Express } from 'express';
import type { HeaderList, Responder } from '../responder.ts';
import { fileTypes, pages } from './pages.ts';
import { matchesEtag } from './static-content.ts';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const PAGE_HEADERS = [
  ...['Cache-Control', 'no-cache'],
  ...['Content-Security-Policy', CONTENT_SECURITY_POLICY],
  ...['Referrer-Policy', 'no-referrer'],
];

/** The paths of the documentation with the headers of their responses. */
const routes: readonly (readonly [path: string, headers: HeaderList])[] = [
  ['/openapi.json', ['Cache-Control', 'no-store']],
  ...['/llms.txt', '/llms-full.txt', ...Object.keys(fileTypes)].map(
    (path) => [path, ['Cache-Control', 'no-cache']] as const,
  ),
  ...pages.map(({ path }) => [path, PAGE_HEADERS] as const),
];

/** Serves the OpenAPI document, the texts for language models, and the pages and files of the documentation. */
export function serveDocs(app: Express, responder: Responder): void {
  app.get(/^\/$/, (_request, response) => {
    responder.contextOf(response).route = '/';
    responder.send(response, 302, '{}', ['Location', '/docs']);
  });
  for (const [path, headers] of routes) {
    app.get(path, async (request, response) => {
      responder.contextOf(response).route = path;
      // Loaded at the first request, so that the service starts faster.
      const { getContent } = await import('./site.ts');
      const { type, plain, gzipped } = await getContent(path);
      // A client that accepts neither form gets the compressed one: RFC 9110 lets the server choose.
      const isGzipped = request.acceptsEncodings('gzip', 'identity') !== 'identity';
      const { bytes, etag } = isGzipped ? gzipped : plain;
      // Node.js sends no body with a 304, as with the response to a HEAD.
      const status = matchesEtag(request.headers['if-none-match'], etag) ? 304 : 200;
      responder.sendContent(response, status, bytes, [
        ...['Content-Type', type],
        ...(isGzipped ? ['Content-Encoding', 'gzip'] : []),
        ...['Vary', 'Accept-Encoding', 'ETag', etag],
        ...headers,
      ]);
    });
  }
}
