import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Header names, each followed by its value. Node writes such a list with less work than an object. */
export type HeaderList = readonly string[];

/** The request context: data of a request for its response, the log and the metrics. */
export class RequestContext {
  readonly requestId = randomUUID();
  /** The start time in milliseconds, from `performance.now()`. */
  readonly startedAt = performance.now();
  readonly method: string;
  /** The path of the route, such as `/tags/{id}` or `/healthz`. `undefined` if no route matches. */
  route: string | undefined;
  /** The path as it was sent, without the query. Set only for a response with status 404. */
  path: string | undefined;
  /** The tool that the request calls: the ID of an operation. */
  tool: string | undefined;
  workspaceId: string | undefined;
  keyId: string | undefined;
  /** The member that the API key belongs to. */
  memberId: string | undefined;
  /** The record that the request created, changed or deleted. */
  recordId: string | undefined;
  /** The headers that the response to this request has in addition to the common headers of all responses. */
  headers: HeaderList = [];

  constructor({ method = '' }: IncomingMessage) {
    this.method = method;
  }
}

/**
 * The key of the property in which a response keeps its request context. A `WeakMap` would add work to each garbage
 * collection.
 */
const CONTEXT = Symbol('request context');

/** Returns the request context that belongs to a response. The first call creates it, and so determines `startedAt`. */
export function getRequestContext(response: ServerResponse & { [CONTEXT]?: RequestContext }): RequestContext {
  response[CONTEXT] ??= new RequestContext(response.req);
  return response[CONTEXT];
}
