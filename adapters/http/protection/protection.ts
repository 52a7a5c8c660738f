import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Observer } from '../observer.ts';
import { getRequestContext, type RequestContext } from '../request-context.ts';
import { Admission, type RequestKind } from './admission.ts';
import type { Fail } from './connection-guard.ts';
import { MemoryBudget } from './memory-budget.ts';
import { createProtectedServer, type ProtectedServer, type ProtectedServerOptions } from './protected-server.ts';
import { limitReadingTime } from './unread-response.ts';

// Code outside of this folder, except tests, imports only this file.
export { createProtectedServer, limitReadingTime, type ProtectedServer, type RequestKind };

/**
 * Protects the API server from too much load and from slow clients (docs/adr/0016-http.md). It must observe all
 * responses.
 */
export class Protection implements Observer {
  readonly memory = new MemoryBudget();
  private readonly admission: Admission;

  /** Creates a protection. `observers` observe rejected requests. */
  constructor(observers: readonly Observer[]) {
    this.admission = new Admission(observers);
  }

  /**
   * Creates the server. It calls `serve` for each request that is admitted, and otherwise `fail`, for example under
   * overload. It calls `classify` before anything else is known of a request.
   */
  createServer(
    serve: RequestListener,
    fail: Fail,
    classify: (request: IncomingMessage) => RequestKind,
    options: Omit<ProtectedServerOptions, 'admit'>,
  ): ProtectedServer {
    const protectedServer = createProtectedServer(serve, fail, {
      ...options,
      admit: (request, response, serveAdmitted) =>
        this.admit(classify(request), request, response, serveAdmitted, fail),
    });
    protectedServer.server.on('connection', () => this.admission.onConnection());
    return protectedServer;
  }

  /** Calls `serve` when the admission control lets the request begin. Under overload, calls `fail` instead. */
  private admit(
    kind: RequestKind,
    { headers, socket }: IncomingMessage,
    response: ServerResponse,
    serve: () => void,
    fail: Fail,
  ): void {
    if (response.headersSent) return;
    this.admission.add({
      kind,
      context: getRequestContext(response),
      authorization: headers.authorization,
      address: socket.remoteAddress,
      begin: () => {
        if (response.headersSent || response.closed) return false;
        serve();
        return true;
      },
      reject: (error) => !response.closed && fail(response, error),
    });
  }

  /**
   * Settles like `slowWork`, which waits for the client or in a queue. Until then, the request does not count as in
   * flight.
   */
  awaitOutsideInFlightCount<T>(response: ServerResponse, slowWork: Promise<T>): Promise<T> {
    return this.admission.awaitOutsideInFlightCount(getRequestContext(response), slowWork, () => response.headersSent);
  }

  onResponse(context: RequestContext, status: number): void {
    this.admission.onResponse(context, status);
  }

  /**
   * Limits the time until the client has read a response. If the workspace is known, counts the memory of the response
   * until then.
   */
  onBufferedResponse({ workspaceId }: RequestContext, response: ServerResponse, bytes: number): void {
    limitReadingTime(response);
    if (workspaceId === undefined) return;
    this.memory.reserve(workspaceId, bytes);
    response.once('close', () => this.memory.reserve(workspaceId, -bytes));
  }
}
