import type { Express, NextFunction, Request, Response } from 'express';
import { createOpenApiDocument } from '../../api/openapi.ts';
import { pathOf } from '../request-target.ts';
import type { Responder } from '../responder.ts';
import { DocsFiles } from './files.ts';
import { renderErrorsPage, renderReferencePage } from './pages.ts';

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
  ...['Content-Type', 'text/html; charset=utf-8'],
  ...['Cache-Control', 'no-cache'],
  ...['Content-Security-Policy', CONTENT_SECURITY_POLICY],
  ...['Referrer-Policy', 'no-referrer'],
];
const IMMUTABLE_CACHE = ['Cache-Control', 'public, max-age=31536000, immutable'];

/** Serves the document of the API and the pages that explain it. What they need is made when it is first asked for. */
export function serveDocs(app: Express, responder: Responder): void {
  let document: string | undefined;
  let reading: Promise<DocsFiles> | undefined;
  const files = () => {
    reading ??= DocsFiles.read().catch((error) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  const get = (route: string, answer: (request: Request, response: Response, next: NextFunction) => unknown) =>
    app.get(route === '/' ? /^\/$/ : route, (request, response, next) => {
      responder.contextOf(response).route = route;
      return answer(request, response, next);
    });

  get('/', (_, response) => responder.send(response, 302, '{}', ['Location', '/docs']));
  get('/openapi.json', (_, response) => {
    document ??= JSON.stringify(createOpenApiDocument());
    responder.send(response, 200, document);
  });
  for (const [path, page] of [
    ['/docs', renderReferencePage],
    ['/docs/errors', renderErrorsPage],
  ] as const) {
    get(path, async (_, response) => {
      const known = await files();
      responder.sendFile(
        response,
        200,
        page((name) => known.getPath(name)),
        PAGE_HEADERS,
      );
    });
  }
  get('/docs/files/:version/:name', async (request, response, next) => {
    const file = (await files()).find(pathOf(request));
    if (!file) return next();
    const { type, bytes, gzipped: zipped } = file;
    const zips = zipped && request.acceptsEncodings('gzip') !== false;
    const headers = ['Content-Type', type, ...IMMUTABLE_CACHE, ...(zipped ? ['Vary', 'Accept-Encoding'] : [])];
    responder.sendFile(response, 200, zips ? zipped : bytes, zips ? [...headers, 'Content-Encoding', 'gzip'] : headers);
  });
}
