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
      // A client that accepts neither form gets the compressed one: RFC 9110 lets the server choose.
      const isCompressed = request.acceptsEncodings('gzip', 'identity') !== 'identity';
      const { headers, body } = await site.respond(path, isCompressed);
      responder.sendContent(response, 200, body, headers);
    });
  }
}
