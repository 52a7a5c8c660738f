import type { IncomingHttpHeaders } from 'node:http';
import * as mcp from '@modelcontextprotocol/server';
import { z } from 'zod';
import { createInvalidFieldsError } from '../../core/shared/core-error.ts';
import { getDescription } from '../api/description.ts';
import { MAX_QUERY_TEXT_LENGTH, recordId } from '../api/fields.ts';
import { getNextPage } from '../api/next-page.ts';
import type { Operation, OperationResult } from '../api/operation.ts';
import { operations } from '../api/operations.ts';
import { formatName, parse } from '../api/parse.ts';
import { version } from '../api/version.ts';

/** The tools of a request, and how to run them. */
export interface ToolRunner {
  /** The operations that are tools for the caller. */
  readonly operations: readonly Operation[];
  run(operation: Operation, input: ReturnType<typeof toInput>): Promise<OperationResult>;
  /** Returns the error object of a thrown value, as JSON. */
  describeError(error: unknown): string;
}

/** The arguments of a tool call, by their names. */
type ToolArguments = Readonly<Record<string, unknown>>;

/**
 * Responds to a message of the Model Context Protocol (Streamable HTTP, stateless), in its newest version or in earlier
 * ones.
 */
export async function respondToMessage(
  headers: IncomingHttpHeaders,
  parsedBody: object,
  runner: ToolRunner,
): Promise<Response> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  const request = new Request('http://localhost/mcp', { method: 'POST', headers: entries });
  const server = createServer(runner);
  if (!(await mcp.isLegacyRequest(request, parsedBody)))
    return mcp.createMcpHandler(() => server, { legacy: 'reject' }).fetch(request, { parsedBody });
  // `createMcpHandler` would respond to earlier versions with a stream.
  const transport = new mcp.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  return transport.handleRequest(request, { parsedBody });
}

function createServer({ operations, run, describeError }: ToolRunner): mcp.Server {
  const server = new mcp.Server({ name: 'workspace-advocacy', version }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: operations.map(({ id }) => tools[id] as mcp.Tool) }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: toolArguments = {} } }) => {
    const operation = operations.find(({ id }) => id === name);
    if (!operation)
      throw new mcp.ProtocolError(mcp.ProtocolErrorCode.InvalidParams, `Unknown tool: ${formatName(name)}`);
    // The text of an error that leaves this function reaches the client.
    try {
      const { body, hasNext } = await run(operation, toInput(operation, toolArguments));
      return toResult(body, ...(hasNext ? [describeNextPage(body, toolArguments)] : []));
    } catch (error) {
      return { ...toResult(describeError(error)), isError: true };
    }
  });
  return server;
}

function toResult(...texts: readonly string[]): mcp.CallToolResult {
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

function describeNextPage(body: string, { page = 1 }: ToolArguments): string {
  const [[name, value] = []] = Object.entries(getNextPage(body, Number(page)));
  return `More results: call this tool with the same arguments, and with \`${name}\` ${value}.`;
}

const idField = z.object({ id: recordId });
const hasId = ({ path }: Operation): boolean => path.includes('{id}');

/** The descriptions of all tools, by the IDs of the operations. */
const tools = Object.fromEntries(operations.map((operation) => [operation.id, describeTool(operation)]));

function describeTool(operation: Operation): mcp.Tool {
  const { id: name, method, summary, query, body } = operation;
  const fields = z.strictObject({ ...(hasId(operation) && idField.shape), ...query.shape, ...body?.shape });
  const { $schema: _, properties = {}, ...schema } = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  // zod omits the default of a schema that transforms text.
  for (const [field, type] of Object.entries(query.shape))
    if (type instanceof z.ZodDefault) Object.assign(properties[field] as object, { default: type.def.defaultValue });
  return {
    name,
    description: `${summary}. ${getDescription(operation)}`,
    inputSchema: { ...schema, properties } as mcp.Tool['inputSchema'],
    annotations: {
      readOnlyHint: method === 'GET',
      destructiveHint: method === 'DELETE',
      idempotentHint: method !== 'POST',
    },
  };
}

/**
 * Returns the arguments of a tool call as the input of the operation. Throws `invalid` if the ID is missing. The
 * validation of the operation rejects unknown arguments.
 */
function toInput(operation: Operation, toolArguments: ToolArguments) {
  const { id } = hasId(operation) ? parse(idField, toolArguments) : { id: '' };
  const fields = Object.entries(toolArguments).filter(([name]) => name !== 'id' || !hasId(operation));
  const isInQuery = ([name]: [string, unknown]) => !operation.body || Object.hasOwn(operation.query.shape, name);
  return {
    id,
    query: Object.fromEntries(fields.filter(isInQuery).flatMap(toParameter)),
    body: operation.body && Object.fromEntries(fields.filter((field) => !isInQuery(field))),
  };
}

/**
 * Returns an argument as a parameter of a query, whose values are texts. Objects and `null` fail the validation. An
 * empty array is like a parameter that is not sent. Throws `invalid` if the texts are longer than a URL can be, because
 * their validation could take a second.
 */
function toParameter([name, value]: [string, unknown]): [string, unknown[]][] {
  const values = [value].flat().map((item) => (typeof item === 'object' ? item : String(item)));
  if (values.filter((item) => typeof item === 'string').join().length > MAX_QUERY_TEXT_LENGTH) {
    const problem = `must have at most ${MAX_QUERY_TEXT_LENGTH} characters in all`;
    throw createInvalidFieldsError([{ path: formatName(name), problem }]);
  }
  return values.length > 0 ? [[name, values]] : [];
}
