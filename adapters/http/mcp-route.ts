import type { Express, Request, Response } from 'express';
import { requirePermission } from '../../core/access/permissions.ts';
import { formatName } from '../api/parse.ts';
import { listTools, sectionAnchors } from '../mcp/tools.ts';
import { HttpError } from './errors.ts';
import { admitCaller, type HandlerServices, runOperation } from './operation-handler.ts';
import { readQuery } from './query-string.ts';
import { getRequestContext, type HeaderList } from './request-context.ts';
import type { Responder } from './responder.ts';

export const MCP_PATH = '/mcp';

const NO_STORE: HeaderList = ['Cache-Control', 'no-store'];

/**
 * Serves the operations as tools for agents (Model Context Protocol). The checks of a message run in the order of the
 * lines below, and then those of the operation that the message calls.
 */
export function serveMcp(app: Express, services: HandlerServices): void {
  const { readBody, responder } = services;
  for (const method of ['get', 'delete'] as const) {
    app[method](MCP_PATH, (_request, response) => {
      getRequestContext(response).route = MCP_PATH;
      responder.sendContent(response, 405, '', ['Allow', 'POST', ...NO_STORE]);
    });
  }
  app.post(MCP_PATH, async (request, response) => {
    const context = getRequestContext(response);
    context.route = MCP_PATH;
    const admitted = await admitCaller(request, response, services);
    if (!admitted) return;
    const { caller } = admitted;
    // A caller without any tool has an expired invitation.
    if (listTools(caller, sectionAnchors).length === 0) requirePermission(caller, 'read');
    requireNoOrigin(request);
    const operations = listTools(caller, readSections(request.url));
    const message = await readBody(request, response, caller.workspaceId);
    // Loading the package takes a tenth of a second.
    const { answerMessage } = await import('../mcp/mcp-server.ts');
    const answer = await answerMessage(selectHeaders(request), message, {
      operations,
      run: (operation, input) => {
        context.tool = operation.id;
        return runOperation(operation, input, response, admitted, services);
      },
      describeError: (error) => responder.createErrorBody(response, error),
    });
    await sendAnswer(response, answer, responder);
  });
}

/** Rejects the requests of web pages. Otherwise a page could reach a server on the network of its visitor. */
function requireNoOrigin({ headers }: Request): void {
  if (headers.origin === undefined) return;
  throw new HttpError('forbidden', 'Web pages cannot use MCP. Send the request without an Origin header.');
}

/** Returns the anchors of the sections that the query selects. By default, all sections are selected. */
function readSections(url: string): readonly string[] {
  const { sections, ...unknown } = readQuery(url);
  const [parameter] = Object.keys(unknown);
  if (parameter !== undefined)
    throw new HttpError('bad_request', `${formatName(parameter)}: unknown parameter, allowed parameters: sections`);
  const anchors = sections?.flatMap((value) => value.split(',')) ?? sectionAnchors;
  const other = anchors.find((anchor) => !sectionAnchors.includes(anchor));
  if (other === undefined) return anchors;
  const problem = `sections: unknown section ${formatName(other)}, allowed sections: ${sectionAnchors.join(', ')}`;
  throw new HttpError('bad_request', problem);
}

/** Returns the headers that the protocol reads. */
function selectHeaders({ headers }: Request): Headers {
  const selected = new Headers({ 'Content-Type': 'application/json' });
  for (const name of ['accept', 'mcp-method', 'mcp-name', 'mcp-protocol-version'])
    if (headers[name] !== undefined) selected.set(name, String(headers[name]));
  return selected;
}

async function sendAnswer(response: Response, answer: globalThis.Response, responder: Responder): Promise<void> {
  const { status, headers } = answer;
  const text = await answer.text();
  if (status >= 500) throw new Error(`The MCP server failed: ${text}`);
  const error = status === 400 ? JSON.parse(text).error : undefined;
  // An error that lists the supported versions lets the client choose one of them.
  if (error && !error.data?.supported) throw new HttpError('bad_request', error.message.replace('Bad Request: ', ''));
  const type = headers.get('Content-Type');
  responder.sendContent(response, status, text, [...(type ? ['Content-Type', type] : []), ...NO_STORE]);
}
