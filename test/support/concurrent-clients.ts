import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { DEMO_API_KEY } from './service.ts';
import { campaignBody } from './tenants.ts';

/** What came of a request of a crowd. */
export interface TimedResponse {
  readonly status: number;
  /** The first line and the headers. */
  readonly head: string;
  readonly body: string;
  readonly milliseconds: number;
  /** When the answer was there, as of `performance.now()`. */
  readonly at: number;
}

/** The bytes of a request with the demo's key. */
export function requestBytes(method: string, path: string, body = ''): Buffer {
  const length = body && `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${DEMO_API_KEY}\r\n${length}\r\n${body}`,
  );
}

/**
 * The bytes of a search for `z` and another letter, which reads all campaigns: a term of three letters has an index, and one whose
 * first letter is nowhere takes no time. Those at the same time have terms of their own, so that none shares a result.
 */
export function searchRequest(number: number, key: string): Buffer {
  const term = encodeURIComponent(`z${String.fromCharCode(0xe0 + (number % 23))}`);
  return Buffer.from(requestBytes('GET', `/campaigns?search=${term}`).toString().replace(DEMO_API_KEY, key));
}

/** The campaigns of a page, each with the longest description. */
const CAMPAIGNS = 25;
const LARGE = JSON.stringify({ ...campaignBody(), description: '\u{1f9f5}'.repeat(2_500) });

/** Makes the first page of campaigns so large that forty of it are more than the buffers of a connection hold. */
export async function createLargePage(url: string): Promise<void> {
  const crowd = await ConcurrentClients.open(url, CAMPAIGNS);
  const answers = await crowd.sendOnAll(requestBytes('POST', '/campaigns', LARGE));
  crowd.close();
  assert.ok(answers.every(({ status }) => status === 201));
}

/** Connections that are kept, each with one request at a time: so cheap to this process that it can overload a service. */
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

  /** A request over each connection at once. */
  sendOnAll(request: Buffer): Promise<TimedResponse[]> {
    return Promise.all(this.sockets.map((socket) => ask(socket, request)));
  }

  /** Over each connection one request after another, for a while. */
  async sendInLoop(request: Buffer, milliseconds: number): Promise<TimedResponse[]> {
    const end = performance.now() + milliseconds;
    const answers: TimedResponse[] = [];
    const sendRaw = async (socket: Socket) => {
      while (performance.now() < end) answers.push(await ask(socket, request));
    };
    await Promise.all(this.sockets.map(sendRaw));
    return answers;
  }

  /** So many requests a second for a while, whatever becomes of those before, as long as a connection is free for one. */
  async sendAtRate(request: Buffer, perSecond: number, milliseconds: number): Promise<TimedResponse[]> {
    const free = [...this.sockets];
    const answers: Promise<TimedResponse>[] = [];
    const start = performance.now();
    const send = async (socket: Socket) => {
      const answer = await ask(socket, request);
      free.push(socket);
      return answer;
    };
    for (let elapsed = 0; elapsed < milliseconds; elapsed = performance.now() - start) {
      const due = Math.floor((elapsed * perSecond) / 1000) - answers.length;
      for (const socket of free.splice(0, Math.max(0, due))) answers.push(send(socket));
      await delay(1);
    }
    return Promise.all(answers);
  }
}

function ask(socket: Socket, request: Buffer): Promise<TimedResponse> {
  const sentAt = performance.now();
  let received = '';
  socket.write(request);
  return new Promise((resolve, reject) => {
    const done = () => {
      socket.off('data', read);
      socket.off('close', lost);
    };
    const lost = () => reject(new Error('the service closed a connection'));
    const read = (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
      if (end < 0 || received.length < end + 4 + length) return;
      done();
      const at = performance.now();
      const [head, body] = [received.slice(0, end), received.slice(end + 4)];
      resolve({ status: Number(received.slice(9, 12)), head, body, milliseconds: at - sentAt, at });
    };
    socket.on('data', read);
    socket.on('close', lost);
  });
}
