import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { errors } from '../api/errors.ts';
import { createErrorHeaders, toErrorBody, toHttpError } from './errors.ts';
import { getPath } from './request-target.ts';

/** Header names, each followed by its value. Node writes such a list with less work than an object. */
export type HeaderList = readonly string[];

const JSON_HEADERS: HeaderList = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** The request context: data of a request for its response, the log and the metrics. */
export interface RequestContext {
  readonly requestId: string;
  /** The start time in milliseconds, from `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  /** The `traceparent` header (W3C Trace Context), if it is valid. */
  readonly traceparent: string | undefined;
  /** The path of the route, such as `/tags/{id}` or `/healthz`. `undefined` if no route matches. */
  route: string | undefined;
  /** The path as it was sent, without the query. Set only for a response with status 404. */
  path: string | undefined;
  workspaceId: string | undefined;
  keyId: string | undefined;
  /** The member that the API key belongs to. */
  memberId: string | undefined;
  /** The record that the request created, changed or deleted. */
  recordId: string | undefined;
  /** The headers that the response to this request has in addition to the common headers of all responses. */
  headers: HeaderList;
}

/**
 * The kind of overload for which a request is rejected: its workspace sends too many requests, all workspaces together
 * send too many, or the request waits too long.
 */
export type RejectionReason = 'workspace' | 'service' | 'timeout';

/**
 * Observes responses, unexpected errors, rejected requests, and connections that are closed because a response is not
 * read.
 */
export interface Observer {
  onResponse(context: RequestContext, status: number, milliseconds: number): void;
  onError?(context: RequestContext, error: unknown): void;
  /**
   * Observes a response of `bytes` bytes that stays in memory for now, because the client does not read it fast enough.
   */
  onBufferedResponse?(context: RequestContext, response: ServerResponse, bytes: number): void;
  /** Observes that a connection is closed because its client has not read a response in time. */
  onUnreadResponse?(): void;
  /** Observes a request that is rejected because of overload. */
  onRejected?(reason: RejectionReason): void;
}

/**
 * The key of the property in which a response keeps its request context. A `WeakMap` would add work to each garbage
 * collection.
 */
const CONTEXT = Symbol('request context');

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the request context that belongs to a response. The first call creates it, and so determines `startedAt`. */
export function getRequestContext(response: ServerResponse & { [CONTEXT]?: RequestContext }): RequestContext {
  const existing = response[CONTEXT];
  if (existing) return existing;
  const { method, headers } = response.req;
  const { traceparent } = headers;
  const context: RequestContext = {
    requestId: randomUUID(),
    startedAt: performance.now(),
    method: method ?? '',
    traceparent: typeof traceparent === 'string' && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    route: undefined,
    path: undefined,
    workspaceId: undefined,
    keyId: undefined,
    memberId: undefined,
    recordId: undefined,
    headers: [],
  };
  response[CONTEXT] = context;
  return context;
}

/** Writes all responses of a server, so that each one has the common headers and is observed. */
export class Responder {
  /** Set at shutdown: from then on, each response closes its connection. */
  isStopping = false;

  constructor(
    private readonly docsUrl: string,
    private readonly observers: readonly Observer[],
  ) {}

  /** Sends a JSON response, unless a response was sent already. */
  send(response: ServerResponse, status: number, body: string, headers: HeaderList = []): void {
    this.sendContent(response, status, body, [...JSON_HEADERS, ...headers]);
  }

  /** Sends a response like `send`. `headers` must include its `Content-Type` and `Cache-Control`. */
  sendContent(response: ServerResponse, status: number, body: string | Buffer, headers: HeaderList): void {
    if (response.headersSent) return;
    const context = getRequestContext(response);
    if (status === 404) context.path = getPath(response.req);
    const bytes = Buffer.byteLength(body);
    if (this.isStopping) response.shouldKeepAlive = false;
    const allHeaders: string[] = [
      ...headers,
      'X-Content-Type-Options',
      'nosniff',
      'Content-Length',
      `${bytes}`,
      'X-Request-Id',
      context.requestId,
      ...context.headers,
    ];
    response.writeHead(status, allHeaders);
    response.end(body);
    // Usually, nothing is left in memory, because the operating system has taken the whole response.
    if (response.writableLength > 0) {
      const allBytes = bytes + allHeaders.join('').length;
      for (const observer of this.observers) observer.onBufferedResponse?.(context, response, allBytes);
    }
    const milliseconds = performance.now() - context.startedAt;
    for (const observer of this.observers) observer.onResponse(context, status, milliseconds);
  }

  /** Sends the error object for a thrown value. Reports the thrown value if it is unexpected. */
  fail(response: ServerResponse, error: unknown): void {
    const httpError = toHttpError(error);
    if (httpError.code === 'internal_server_error') this.report(response, error);
    this.send(
      response,
      errors[httpError.code].status,
      toErrorBody(httpError, this.docsUrl),
      createErrorHeaders(httpError),
    );
  }

  /** Reports an unexpected error to the observers. Sends nothing to the client. */
  report(response: ServerResponse, error: unknown): void {
    for (const observer of this.observers) observer.onError?.(getRequestContext(response), error);
  }
}
