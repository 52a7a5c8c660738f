import type { Express, NextFunction, Request, Response } from 'express';
import { createOpenApiDocument } from '../../api/openapi.ts';
import { pathOf } from '../request-target.ts';
import type { Responder } from '../responder.ts';
import { renderErrorsPage } from './errors-page.ts';
import { DocsFiles } from './files.ts';
import { readGuide, renderGuidePage } from './guides.ts';
import type { GetPath } from './layout.ts';
import { ERRORS_PAGE, guides, REFERENCE_PAGE } from './pages.ts';
import { renderReferencePage } from './reference.ts';

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

/** Serves the OpenAPI document and the pages that show it. The document and the files are created at the first request. */
export function serveDocs(app: Express, responder: Responder): void {
  let document: string | undefined;
  let loadedFiles: Promise<DocsFiles> | undefined;
  const loadFiles = () => {
    loadedFiles ??= DocsFiles.read().catch((error) => {
      loadedFiles = undefined;
      throw error;
    });
    return loadedFiles;
  };
  const serveGet = (route: string, handle: (request: Request, response: Response, next: NextFunction) => unknown) =>
    app.get(route === '/' ? /^\/$/ : route, (request, response, next) => {
      responder.contextOf(response).route = route;
      return handle(request, response, next);
    });

  serveGet('/', (_, response) => responder.send(response, 302, '{}', ['Location', '/docs']));
  serveGet('/openapi.json', (_, response) => {
    document ??= JSON.stringify(createOpenApiDocument());
    responder.send(response, 200, document);
  });
  const servePage = (path: string, renderPage: (getPath: GetPath) => string | Promise<string>) =>
    serveGet(path, async (_, response) => {
      const files = await loadFiles();
      const html = await renderPage((name) => files.getPath(name));
      responder.sendContent(response, 200, html, PAGE_HEADERS);
    });
  servePage(REFERENCE_PAGE.path, renderReferencePage);
  servePage(ERRORS_PAGE.path, renderErrorsPage);
  for (const guide of guides)
    servePage(guide.path, async (getPath) => renderGuidePage(getPath, guide, await readGuide(guide)));
  serveGet('/docs/files/:version/:name', async (request, response, next) => {
    const file = (await loadFiles()).find(pathOf(request));
    if (!file) return next();
    const { type, bytes, gzipped } = file;
    const headers = ['Content-Type', type, ...IMMUTABLE_CACHE, ...(gzipped ? ['Vary', 'Accept-Encoding'] : [])];
    if (gzipped && request.acceptsEncodings('gzip') !== false) {
      responder.sendContent(response, 200, gzipped, [...headers, 'Content-Encoding', 'gzip']);
    } else {
      responder.sendContent(response, 200, bytes, headers);
    }
  });
}
