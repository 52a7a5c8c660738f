import type { Express, NextFunction, Request, Response } from 'express';
import { pathOf } from '../request-target.ts';
import type { HeaderList, Responder } from '../responder.ts';
import { pages } from './pages.ts';
import { matchesEtag, type StaticContent } from './static-content.ts';

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
  ['/llms.txt', ['Cache-Control', 'no-cache']],
  ['/llms-full.txt', ['Cache-Control', 'no-cache']],
  ...pages.map(({ path }) => [path, PAGE_HEADERS] as const),
];

/** Serves the OpenAPI document, the texts for language models, and the pages and files of the documentation. */
export function serveDocs(app: Express, responder: Responder): void {
  // Loaded at the first request, so that the service starts faster.
  const loadSite = () => import('./site.ts');
  const serveGet = (route: string, handle: (request: Request, response: Response, next: NextFunction) => unknown) =>
    app.get(route === '/' ? /^\/$/ : route, (request, response, next) => {
      responder.contextOf(response).route = route;
      return handle(request, response, next);
    });
  const send = (request: Request, response: Response, { type, plain, gzipped }: StaticContent, headers: HeaderList) => {
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
  };

  serveGet('/', (_, response) => responder.send(response, 302, '{}', ['Location', '/docs']));
  for (const [path, headers] of routes) {
    serveGet(path, async (request, response) =>
      send(request, response, await (await loadSite()).getContent(path), headers),
    );
  }
  serveGet('/docs/files/:version/:name', async (request, response, next) => {
    const file = await (await loadSite()).findFile(pathOf(request));
    if (!file) return next();
    send(request, response, file, ['Cache-Control', 'public, max-age=31536000, immutable']);
  });
}
