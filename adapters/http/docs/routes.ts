import type { Express, NextFunction, Request, Response } from 'express';
import { openApi } from '../../api/openapi.ts';
import { pathOf } from '../request-target.ts';
import type { Responder } from '../responder.ts';
import { DocsFiles } from './files.ts';
import { errorsPage, referencePage } from './pages.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const PAGE = [
  ...['Content-Type', 'text/html; charset=utf-8'],
  ...['Cache-Control', 'no-cache'],
  ...['Content-Security-Policy', POLICY],
  ...['Referrer-Policy', 'no-referrer'],
];
const FOR_EVER = ['Cache-Control', 'public, max-age=31536000, immutable'];

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
    document ??= JSON.stringify(openApi());
    responder.send(response, 200, document);
  });
  for (const [path, page] of [
    ['/docs', referencePage],
    ['/docs/errors', errorsPage],
  ] as const) {
    get(path, async (_, response) => {
      const known = await files();
      responder.sendFile(
        response,
        200,
        page((name) => known.pathOf(name)),
        PAGE,
      );
    });
  }
  get('/docs/files/:version/:name', async (request, response, next) => {
    const file = (await files()).at(pathOf(request));
    if (!file) return next();
    const { type, bytes, zipped } = file;
    const zips = zipped && request.acceptsEncodings('gzip') !== false;
    const headers = ['Content-Type', type, ...FOR_EVER, ...(zipped ? ['Vary', 'Accept-Encoding'] : [])];
    responder.sendFile(response, 200, zips ? zipped : bytes, zips ? [...headers, 'Content-Encoding', 'gzip'] : headers);
  });
}
