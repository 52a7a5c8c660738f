import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DEMO_API_KEY } from './service.ts';
import { createCampaignBody } from './tenants.ts';

/** A response with its latency. */
export interface TimedResponse {
  readonly status: number;
  /** The first line and the headers. */
  readonly head: string;
  readonly body: string;
  readonly milliseconds: number;
  /** When the response was complete, by `performance.now()`. */
  readonly at: number;
}

/** Returns the bytes of a request with the demo key. */
export function requestBytes(method: string, path: string, body = ''): Buffer {
  const length = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\n${length}\r\n${body}`,
  );
}

/**
 * Returns the bytes of a search for `z` and another letter. The search examines all campaigns, because only terms of three or
 * more letters have an index. The term starts with `z`, which the campaigns of the tests contain, because a text without the
 * first letter of the term is skipped at once. Simultaneous searches have different terms, so that they do not share a result.
 */
export function searchRequest(number: number, key: string): Buffer {
  const term = encodeURIComponent(`z${String.fromCharCode(0xe0 + (number % 23))}`);
  return Buffer.from(requestBytes('GET', `/campaigns?search=${term}`).toString().replace(DEMO_API_KEY, key));
}

const PAGE_SIZE = 25;
const LARGE_BODY = JSON.stringify({ ...createCampaignBody(), description: '\u{1f9f5}'.repeat(2_500) });

/** Creates a first page of large campaigns. Forty responses with this page exceed the buffers of a connection. */
export async function createLargePage(url: string): Promise<void> {
  const clients = await ConcurrentClients.open(url, PAGE_SIZE);
  const responses = await clients.sendOnAll(requestBytes('POST', '/campaigns', LARGE_BODY));
  clients.close();
  assert.ok(responses.every(({ status }) => status === 201));
}

/** Persistent connections that send one request at a time. They need so little CPU time that they can overload a service. */
export class ConcurrentClients {
  private constructor(private readonly sockets: readonly Socket[]) {}

  static async open(url: string, connections: number): Promise<ConcurrentClients> {
    const { hostname: host, port } = new URL(url);
    const sockets = Array.from({ length: connections }, () => connect({ host, port: Number(port), noDelay: true }));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return new ConcurrentClients(sockets);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  /** Sends a request over each connection at the same time. */
  sendOnAll(request: Buffer): Promise<TimedResponse[]> {
    return Promise.all(this.sockets.map((socket) => send(socket, request)));
  }

  /** Sends one request after another over each connection, for a time. */
  async sendInLoop(request: Buffer, milliseconds: number): Promise<TimedResponse[]> {
    const end = performance.now() + milliseconds;
    const responses: TimedResponse[] = [];
    const keepBusy = async (socket: Socket) => {
      while (performance.now() < end) responses.push(await send(socket, request));
    };
    await Promise.all(this.sockets.map(keepBusy));
    return responses;
  }

  /** Sends requests at a constant rate for a time, without waiting for responses. If no connection is free, the requests wait. */
  async sendAtRate(request: Buffer, perSecond: number, milliseconds: number): Promise<TimedResponse[]> {
    const free = [...this.sockets];
    const responses: Promise<TimedResponse>[] = [];
    const start = performance.now();
    const sendAndFree = async (socket: Socket) => {
      const response = await send(socket, request);
      free.push(socket);
      return response;
    };
    for (let elapsed = 0; elapsed < milliseconds; elapsed = performance.now() - start) {
      const due = Math.floor((elapsed * perSecond) / 1000) - responses.length;
      for (const socket of free.splice(0, Math.max(0, due))) responses.push(sendAndFree(socket));
      await delay(1);
    }
    return Promise.all(responses);
  }
}

function send(socket: Socket, request: Buffer): Promise<TimedResponse> {
  const sentAt = performance.now();
  let received = '';
  socket.write(request);
  return new Promise((resolve, reject) => {
    const removeListeners = () => {
      socket.off('data', read);
      socket.off('close', onClose);
    };
    const onClose = () => reject(new Error('the service closed a connection'));
    const read = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
      if (end < 0 || received.length < end + 4 + length) return;
      removeListeners();
      const at = performance.now();
      const [head, body] = [received.slice(0, end), received.slice(end + 4)];
      resolve({ status: Number(received.slice(9, 12)), head, body, milliseconds: at - sentAt, at });
    };
    socket.on('data', read);
    socket.on('close', onClose);
  });
}
