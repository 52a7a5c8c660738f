import type { Express, RequestHandler } from 'express';
import { requirePermission } from '../../core/access/permissions.ts';
import { formatName } from '../api/parse.ts';
import { listTools, sectionAnchors } from '../mcp/tools.ts';
import { HttpError } from './errors.ts';
import { admitRequest, type HandlerServices } from './operation-handler.ts';
import { readQuery } from './query-string.ts';
import { getRequestContext } from './request-context.ts';

export const MCP_PATH = '/mcp';

/**
 * Serves the operations as tools for agents (Model Context Protocol). The checks of a message run in the order of the
 * lines below. Those of the operation that the message calls follow.
 */
export function serveMcp(app: Express, services: HandlerServices): void {
  const { readBody, responder } = services;
  const rejectMethod: RequestHandler = (_request, response) => {
    getRequestContext(response).route = MCP_PATH;
    responder.send(response, 405, '', ['Allow', 'POST']);
  };
  const handleMessage: RequestHandler = async (request, response) => {
    const context = getRequestContext(response);
    context.route = MCP_PATH;
    const admitted = await admitRequest(request, response, services);
    if (!admitted) return;
    const { caller, run } = admitted;
    // A caller without any tool has an expired invitation.
    if (listTools(caller, sectionAnchors).length === 0) requirePermission(caller, 'read');
    // Otherwise a web page could reach a server on the network of its visitor.
    if (request.headers.origin !== undefined)
      throw new HttpError('forbidden', 'Web pages cannot use MCP. Send the request without an Origin header.');
    const { sections: values, ...unknown } = readQuery(request.url);
    const [name] = Object.keys(unknown);
    if (name !== undefined)
      throw new HttpError('bad_request', `${formatName(name)}: unknown parameter, allowed parameters: sections`);
    const sections = values?.join().split(',') ?? sectionAnchors;
    if (!sections.every((section) => sectionAnchors.includes(section)))
      throw new HttpError('bad_request', `sections: must be among ${sectionAnchors.join(', ')}`);
    const message = await readBody(request, response, caller.workspaceId);
    // Loading the package takes a tenth of a second.
    const { respondToMessage } = await import('../mcp/mcp-server.ts');
    const mcpResponse = await respondToMessage(request.headers, message, {
      operations: listTools(caller, sections),
      run: (operation, input) => {
        context.tool = operation.id;
        return run(operation, input);
      },
      describeError: (error) => responder.createErrorBody(response, error),
    });
    const text = await mcpResponse.text();
    if (mcpResponse.status >= 500) throw new Error(`The MCP server failed: ${text}`);
    const error = mcpResponse.status === 400 ? JSON.parse(text).error : undefined;
    // An error that lists the supported versions lets the client choose one of them.
    if (error && !error.data?.supported) throw new HttpError('bad_request', error.message.replace('Bad Request: ', ''));
    const type = mcpResponse.headers.get('Content-Type') ?? 'application/json';
    responder.sendContent(response, mcpResponse.status, text, ['Content-Type', type, 'Cache-Control', 'no-store']);
  };
  app.route(MCP_PATH).get(rejectMethod).delete(rejectMethod).post(handleMessage);
}
