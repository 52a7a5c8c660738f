import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { getNextPage } from '../api/next-page.ts';
import type { Operation, OperationResult } from '../api/operation.ts';
import { formatName } from '../api/parse.ts';
import { version } from '../api/version.ts';
import { describeTool, type ToolArguments, type ToolInput, toOperationInput } from './tools.ts';

/** How the tools of a request run. */
export interface ToolRunner {
  /** The operations that are tools for the caller. */
  readonly operations: readonly Operation[];
  run(operation: Operation, input: ToolInput): Promise<OperationResult>;
  /** Returns the error object of a thrown value, as JSON. */
  describeError(error: unknown): string;
}

const INSTRUCTIONS =
  'Tools for a workspace of employee advocacy. A result is JSON, as the HTTP API returns it. IDs come from the results of other tools.';

/**
 * Answers a message of the Model Context Protocol (Streamable HTTP, stateless) in its newest version or in earlier
 * ones. The response is JSON, or a stream that has ended.
 */
export async function answerMessage(headers: Headers, message: object, runner: ToolRunner): Promise<Response> {
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  const options = { parsedBody: message };
  if (!(await isLegacyRequest(request, message)))
    return createMcpHandler(() => createServer(runner), { legacy: 'reject' }).fetch(request, options);
  // `createMcpHandler` would answer earlier versions with a stream.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await createServer(runner).connect(transport);
  return transport.handleRequest(request, options);
}

/** Creates the server of one request. */
function createServer({ operations, run, describeError }: ToolRunner): Server {
  const server = new Server(
    { name: 'workspace-advocacy', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({ tools: operations.map(describeTool) }));
  server.setRequestHandler('tools/call', async ({ params }): Promise<CallToolResult> => {
    const operation = operations.find(({ id }) => id === params.name);
    if (!operation)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${formatName(params.name)}`);
    const toolArguments = params.arguments ?? {};
    // The text of an error that leaves this function reaches the client.
    try {
      const { body, hasNext } = await run(operation, toOperationInput(operation, toolArguments));
      return { content: [body, ...(hasNext ? [describeNextPage(body, toolArguments)] : [])].map(toText) };
    } catch (error) {
      return { content: [toText(describeError(error))], isError: true };
    }
  });
  return server;
}

function toText(text: string) {
  return { type: 'text' as const, text };
}

function describeNextPage(body: string, { page = 1 }: ToolArguments): string {
  const [[name, value] = []] = Object.entries(getNextPage(body, Number(page)));
  return `More results: call this tool with the same arguments, and with \`${name}\` ${value}.`;
}
