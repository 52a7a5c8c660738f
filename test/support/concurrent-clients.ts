import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DEMO_API_KEY } from './service.ts';
import { createCampaignBody } from './tenants.ts';

/** A response with its latency. */
export interface TimedResponse {
  /** 0 if the connection was closed before the response was complete. */
  readonly status: number;
  /** The first line and the headers. */
  readonly head: string;
  readonly body: string;
  readonly milliseconds: number;
  /** When the response was complete, or the connection was closed, by `performance.now()`. */
  readonly at: number;
}

/** Returns the bytes of a request. */
export function requestBytes(method: string, path: string, body = '', key = DEMO_API_KEY): Buffer {
  const length = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${length}\r\n${body}`);
}

/**
 * Returns the bytes of a search that is slow on purpose. The term is `z` and another letter. The search examines all
 * campaigns, because no index contains terms of less than three letters. The campaigns must contain `z`: the search
 * would skip a text without the first letter of the term at once. Successive numbers give up to 23 different terms, so
 * that simultaneous searches do not share a result.
 */
export function searchRequest(number: number, key: string): Buffer {
  const term = encodeURIComponent(`z${String.fromCharCode(0xe0 + (number % 23))}`);
  return requestBytes('GET', `/campaigns?search=${term}`, '', key);
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

/**
 * Persistent connections that send one request at a time. They need so little CPU time that they can overload a
 * service.
 */
export class ConcurrentClients {
  private constructor(private readonly sockets: readonly Socket[]) {}

  static async open(url: string, connections: number): Promise<ConcurrentClients> {
    const sockets = Array.from({ length: connections }, () => connectTo(url));
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
}

/** Clients that close their connection after a timeout. Idle connections are reused. */
export class TimeoutClients {
  private readonly free: Socket[] = [];
  private readonly all = new Set<Socket>();

  constructor(
    private readonly url: string,
    private readonly timeoutMs: number,
  ) {}

  /**
   * Sends requests at a constant rate, without waiting for responses (an open loop). `requestOf` gets the request
   * number.
   */
  async sendAtRate(requestOf: RequestOf, perSecond: number, milliseconds: number): Promise<TimedResponse[]> {
    const responses: Promise<TimedResponse>[] = [];
    const start = performance.now();
    for (let elapsed = 0; elapsed < milliseconds; elapsed = performance.now() - start) {
      for (let due = Math.floor((elapsed * perSecond) / 1_000) - responses.length; due > 0; due--) {
        responses.push(this.send(requestOf(responses.length)));
      }
      await delay(1);
    }
    return Promise.all(responses);
  }

  /** Sends requests with several clients. Each sends one request after another (a closed loop). */
  async sendInLoop(requestOf: RequestOf, clientCount: number, milliseconds: number): Promise<TimedResponse[]> {
    const end = performance.now() + milliseconds;
    const responses: TimedResponse[] = [];
    let sent = 0;
    const runClient = async () => {
      while (performance.now() < end) responses.push(await this.send(requestOf(sent++)));
    };
    await Promise.all(Array.from({ length: clientCount }, runClient));
    return responses;
  }

  /** Sends one request. */
  async send(request: Buffer): Promise<TimedResponse> {
    const socket = this.free.pop() ?? this.open();
    const timer = setTimeout(() => socket.destroy(), this.timeoutMs);
    const response = await exchange(socket, request);
    clearTimeout(timer);
    if (response.status !== 0) this.free.push(socket);
    return response;
  }

  close(): void {
    for (const socket of this.all) socket.destroy();
  }

  private open(): Socket {
    const socket = connectTo(this.url);
    this.all.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      this.all.delete(socket);
      const at = this.free.indexOf(socket);
      if (at >= 0) this.free.splice(at, 1);
    });
    return socket;
  }
}

/** Returns the bytes of the request with a number. */
type RequestOf = (number: number) => Buffer;

function connectTo(url: string): Socket {
  const { hostname: host, port } = new URL(url);
  return connect({ host, port: Number(port), noDelay: true });
}

async function send(socket: Socket, request: Buffer): Promise<TimedResponse> {
  const response = await exchange(socket, request);
  if (response.status === 0) throw new Error('the service closed a connection');
  return response;
}

/** Sends a request over a free connection. Resolves when the response is complete, or the connection is closed. */
function exchange(socket: Socket, request: Buffer): Promise<TimedResponse> {
  const sentAt = performance.now();
  let received = '';
  return new Promise((resolve) => {
    const end = (status: number, head = '', body = '') => {
      socket.off('data', read);
      socket.off('close', onClose);
      const at = performance.now();
      resolve({ status, head, body, milliseconds: at - sentAt, at });
    };
    const onClose = () => end(0);
    const read = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n');
      const head = received.slice(0, headEnd);
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
      if (headEnd < 0 || received.length < headEnd + 4 + length) return;
      end(Number(received.slice(9, 12)), head, received.slice(headEnd + 4));
    };
    socket.on('data', read);
    socket.on('close', onClose);
    socket.write(request);
  });
}
