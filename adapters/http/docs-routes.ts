import type { Express } from 'express';
import { createDocsSite } from '../docs/docs-site.ts';
import { getRequestContext } from './request-context.ts';
import type { Responder } from './responder.ts';

/** Serves the documentation, and redirects `/` to it. */
export function serveDocs(app: Express, responder: Responder): void {
  app.get(/^\/$/, (_request, response) => {
    getRequestContext(response).route = '/';
    responder.send(response, 302, '{}', ['Location', '/docs']);
  });
  const site = createDocsSite();
  for (const path of site.paths) {
    app.get(path, async (request, response) => {
      getRequestContext(response).route = path;
      const { status, headers, body } = await site.respond(path, {
        // A client that accepts neither form gets the compressed one: RFC 9110 lets the server choose.
        acceptsGzip: request.acceptsEncodings('gzip', 'identity') !== 'identity',
        // `request.fresh` of Express ignores this header if a request also has `Cache-Control: no-cache`, which Node's
        // `fetch` adds.
        ifNoneMatch: request.headers['if-none-match'],
      });
      // Node.js sends no body with a 304, as with the response to a HEAD.
      responder.sendContent(response, status, body, headers);
    });
  }
}
