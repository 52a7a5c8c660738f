import type { ServerResponse } from 'node:http';
import { errors } from '../api/errors.ts';
import { createErrorHeaders, toErrorBody, toHttpError } from './errors.ts';
import type { Observer } from './observer.ts';
import { getRequestContext, type HeaderList } from './request-context.ts';
import { getPath } from './request-target.ts';

const JSON_HEADERS: HeaderList = ['Content-Type', 'application/json; charset=utf-8', 'Cache-Control', 'no-store'];

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
    const body = this.createErrorBody(response, error);
    // A key that turns out to be revoked has no rate limit.
    if (httpError.code === 'unauthorized') getRequestContext(response).headers = [];
    this.send(response, errors[httpError.code].status, body, createErrorHeaders(httpError));
  }

  /** Returns the error object for a thrown value, as JSON. Reports the thrown value if it is unexpected. */
  createErrorBody(response: ServerResponse, error: unknown): string {
    const httpError = toHttpError(error);
    if (httpError.code === 'internal_server_error') this.report(response, error);
    return toErrorBody(httpError, this.docsUrl);
  }

  /** Reports an unexpected error to the observers. Sends nothing to the client. */
  report(response: ServerResponse, error: unknown): void {
    for (const observer of this.observers) observer.onError?.(getRequestContext(response), error);
  }
}
