import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Responder } from '../responder.ts';
import type { Admission, QueuedRequest } from './admission.ts';
import { guardConnections } from './connection-guard.ts';
import { LimitedAddresses } from './limited-addresses.ts';
import { OpenConnections } from './open-connections.ts';
import { PipeliningQueue } from './pipelining.ts';

/** Matches the URL of a health probe, which is served even under overload. */
const PROBE_URL = /^\/(?:healthz|readyz)\/?(?:\?|$)/;

/**
 * Protects a server from too much load, pipelined requests, slow clients and too many wrong keys. Each request passes it once,
 * before it is routed (docs/adr/0016-overload.md).
 */
export class Protection {
  /** The addresses that have sent too many wrong keys. */
  readonly limitedAddresses = new LimitedAddresses();
  private readonly pipelining = new PipeliningQueue();

  /** Creates a protection. `admission` must observe the responses of `responder`. */
  constructor(
    private readonly responder: Responder,
    private readonly admission: Admission,
  ) {}

  /** Protects the connections of a server. Returns its open connections. */
  guard(server: Server): OpenConnections {
    server.on('connection', () => this.admission.onConnection());
    guardConnections(server, this.pipelining, this.responder);
    return new OpenConnections(server, this.pipelining);
  }

  /** Begins a request after the earlier requests of its connection, when the admission control lets it begin. Rejects it under overload. */
  admit(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    this.pipelining.add(response, () => {
      if (response.headersSent) return;
      const { url = '', headers, socket } = request;
      const queued: QueuedRequest = {
        context: this.responder.getContext(response),
        authorization: headers.authorization,
        begin: () => {
          if (response.headersSent || response.closed) return false;
          begin();
          return true;
        },
        reject: (error) => !response.closed && this.responder.fail(response, error),
      };
      if (PROBE_URL.test(url)) this.admission.addProbe(queued);
      else this.admission.add(url, queued, socket.remoteAddress);
    });
  }

  /** Waits for a client or for a queue. During the wait, the request does not count as in flight. */
  excludeFromInFlight<T>(response: ServerResponse, wait: Promise<T>): Promise<T> {
    return this.admission.excludeFromInFlight(this.responder.getContext(response), wait, () => response.headersSent);
  }
}
