import type { Express } from 'express';
import { getRequestContext, type Responder } from '../responder.ts';
import { HTML_TYPE, mediaTypes } from './pages.ts';
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
const PAGE_HEADERS = ['Content-Security-Policy', CONTENT_SECURITY_POLICY, 'Referrer-Policy', 'no-referrer'];

/** Serves the OpenAPI document, the texts for language models, and the pages and files of the documentation. */
export function serveDocs(app: Express, responder: Responder): void {
  app.get(/^\/$/, (_request, response) => {
    getRequestContext(response).route = '/';
    responder.send(response, 302, '{}', ['Location', '/docs']);
  });
  for (const [path, type] of Object.entries(mediaTypes)) {
    app.get(path, async (request, response) => {
      getRequestContext(response).route = path;
      // Loaded at the first request, so that the service starts faster.
      const { getContent } = await import('./site.ts');
      const { plain, gzipped } = await getContent(path);
      // A client that accepts neither form gets the compressed one: RFC 9110 lets the server choose.
      const isGzipped = request.acceptsEncodings('gzip', 'identity') !== 'identity';
      const { bytes, etag } = isGzipped ? gzipped : plain;
      // Node.js sends no body with a 304, as with the response to a HEAD.
      const status = matchesEtag(request.headers['if-none-match'], etag) ? 304 : 200;
      responder.sendContent(response, status, bytes, [
        ...['Content-Type', type],
        ...(isGzipped ? ['Content-Encoding', 'gzip'] : []),
        ...['Vary', 'Accept-Encoding', 'ETag', etag],
        ...['Cache-Control', path === '/openapi.json' ? 'no-store' : 'no-cache'],
        ...(type === HTML_TYPE ? PAGE_HEADERS : []),
      ]);
    });
  }
}
