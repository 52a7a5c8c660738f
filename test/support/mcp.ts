import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport, type VersionNegotiationOptions } from '@modelcontextprotocol/client';
import type { Operation } from '../../adapters/api/operation.ts';
import { type ApiResponse, type CallOptions, request } from './request.ts';

/** The generations of the protocol: how a client of each one connects. */
export const generations: Readonly<Record<string, VersionNegotiationOptions>> = {
  '2026-07-28': { mode: { pin: '2026-07-28' } },
  '2025-11-25': { mode: 'legacy' },
};

/** Runs a test with a connected client. `query` is that of the URL, such as `?sections=tags`. */
export async function withMcpClient(
  { url, key, query = '' }: { readonly url: string; readonly key: string; readonly query?: string },
  versionNegotiation: VersionNegotiationOptions,
  test: (client: Client) => Promise<void>,
): Promise<void> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation });
  const requestInit = { headers: { Authorization: `Bearer ${key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), { requestInit }));
  try {
    await test(client);
  } finally {
    await client.close();
  }
}

/** Sends a message without a client, by default one of the previous generation that lists the tools. */
export function sendMessage(
  { url }: { readonly url: string },
  { body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers, query = '', ...options }: MessageOptions = {},
): Promise<ApiResponse> {
  const allHeaders = { Accept: 'application/json, text/event-stream', ...headers };
  return request(`${url}/mcp${query}`, 'POST', { ...options, body, headers: allHeaders });
}

export interface MessageOptions extends CallOptions {
  readonly query?: string;
}

/** The result of a tool call, as tests compare it. */
export interface ToolResult {
  readonly texts: readonly string[];
  readonly isError: boolean;
}

/** Calls a tool without a client. Fails if the result has something else than texts. */
export async function callTool(
  service: { readonly url: string },
  key: string,
  name: string,
  toolArguments: object = {},
): Promise<ToolResult> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: toolArguments } };
  const { status, text, json } = await sendMessage(service, { key, body });
  assert.equal(status, 200, text);
  return toToolResult(json.result ?? assert.fail(text));
}

/** Returns the texts of a result. Fails if the result has anything else. */
export function toToolResult({ content, isError = false, ...others }: ToolResultJson): ToolResult {
  assert.deepEqual(
    Object.keys(others).filter((name) => name !== '_meta' && name !== 'resultType'),
    [],
  );
  for (const item of content) assert.deepEqual(Object.keys(item).sort(), ['text', 'type']);
  return { texts: content.map(({ text }) => text as string), isError };
}

interface ToolResultJson {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean | undefined;
}

/** Returns the arguments of a tool call that has the same input as a request over HTTP. */
export function toArguments({ path }: Operation, target: string, body: object | undefined): object {
  const { pathname, searchParams } = new URL(target, 'http://localhost');
  const position = path.split('/').indexOf('{id}');
  return { ...(position > 0 && { id: pathname.split('/')[position] }), ...Object.fromEntries(searchParams), ...body };
}
