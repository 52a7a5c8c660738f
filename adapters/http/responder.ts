import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errors } from '../api/errors.ts';
import { errorBody, toHttpError } from './errors.ts';
import type { Rejection } from './fair-queue.ts';
import { MemoryBudget } from './memory-budget.ts';
import { pathOf } from './request-target.ts';

/** Names of headers, each followed by its value: Node writes them as they stand, at less cost than those of an object. */
export type Headers = readonly string[];

const JSON_HEADERS: Headers = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

/** How long a client may take to read a reply. */
const RESPONSE_READ_TIMEOUT_MS = 60_000;

/** What is known of a request while it is served: for its reply, the log and the metrics. */
export interface RequestContext {
  readonly requestId: string;
  /** Milliseconds, as of `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  /** The caller's place in its trace (W3C Trace Context), where it sent one. */
  readonly traceparent: string | undefined;
  /** The path of the operation, with the names of its parameters; `undefined` where there is no operation. */
  route: string | undefined;
  /** The path as it was sent, without the query. Set only for a 404. */
  path: string | undefined;
  workspaceId: string | undefined;
  keyId: string | undefined;
  /** What every reply to this request says, beside what is said of all. */
  headers: Headers;
}

/** Why a connection was cut, with the replies that it still waited for. */
export type ConnectionCloseReason = 'reply_not_read' | 'too_many_pipelined';

/** Is told of every reply, of every failure that nobody foresaw, and of every connection that was cut. */
export interface Observer {
  onResponse(context: RequestContext, status: number, milliseconds: number): void;
  onError?(context: RequestContext, error: unknown): void;
  onConnectionClosed?(reason: ConnectionCloseReason): void;
  /** Observes a request that is rejected because of overload. */
  onRejected?(reason: Rejection): void;
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Writes every reply of a server, so that all are alike and none goes unseen. */
export class Responder {
  /** While it is true, each reply ends its connection. */
  stopping = false;
  private readonly unread = new MemoryBudget();
  private readonly contexts = new WeakMap<ServerResponse, RequestContext>();

  constructor(
    private readonly docsUrl: string,
    private readonly observers: readonly Observer[],
  ) {}

  /** What is known of the request to which it responds. */
  contextOf(response: ServerResponse): RequestContext {
    const known = this.contexts.get(response);
    if (known) return known;
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
      headers: [],
    };
    this.contexts.set(response, context);
    return context;
  }

  /** Whether so many replies of a workspace are not read that no more should be made. */
  areTooManyUnread(workspaceId: string): boolean {
    return this.unread.isExhausted(workspaceId);
  }

  /** Replies with a body of JSON, unless the request was answered already. */
  send(response: ServerResponse, status: number, body: string, headers: Headers = []): void {
    this.write(response, status, body, JSON_HEADERS, headers);
  }

  /** Replies with what is no JSON of the API; the headers tell its type, and how long it may be kept. */
  sendFile(response: ServerResponse, status: number, body: string | Buffer, headers: Headers): void {
    this.write(response, status, body, [], headers);
  }

  /** Replies with the error object for what was thrown. */
  fail(response: ServerResponse, error: unknown): void {
    const refusal = toHttpError(error);
    if (refusal.code === 'internal_server_error') this.report(response, error);
    this.send(response, errors[refusal.code].status, errorBody(refusal, this.docsUrl), refusal.headers);
  }

  /** Tells the observers, and nobody else, of a failure while a request was served. */
  report(response: ServerResponse, error: unknown): void {
    for (const observer of this.observers) observer.onError?.(this.contextOf(response), error);
  }

  /** Ends a connection at once, whatever it still waits for. */
  closeConnection(socket: Duplex, reason: ConnectionCloseReason): void {
    if (socket.destroyed) return;
    socket.destroy();
    for (const observer of this.observers) observer.onConnectionClosed?.(reason);
  }

  private write(
    response: ServerResponse,
    status: number,
    body: string | Buffer,
    kind: Headers,
    headers: Headers,
  ): void {
    if (response.headersSent) return;
    const context = this.contextOf(response);
    if (status === 404) context.path = pathOf(response.req);
    const bytes = Buffer.byteLength(body);
    if (this.stopping) response.shouldKeepAlive = false;
    const all: string[] = [
      ...kind,
      'X-Content-Type-Options',
      'nosniff',
      'Content-Length',
      `${bytes}`,
      'X-Request-Id',
      context.requestId,
      ...context.headers,
      ...headers,
    ];
    response.writeHead(status, all);
    response.end(body);
    if (!response.writableFinished) this.limitReading(response, context, bytes + all.join('').length);
    const milliseconds = performance.now() - context.startedAt;
    for (const observer of this.observers) observer.onResponse(context, status, milliseconds);
  }

  private limitReading(response: ServerResponse, { workspaceId }: RequestContext, bytes: number): void {
    const timer = setTimeout(
      () => this.closeConnection(response.req.socket, 'reply_not_read'),
      RESPONSE_READ_TIMEOUT_MS,
    ).unref();
    if (workspaceId !== undefined) this.unread.reserve(workspaceId, bytes);
    response.once('close', () => {
      clearTimeout(timer);
      if (workspaceId !== undefined) this.unread.reserve(workspaceId, -bytes);
    });
  }
}
