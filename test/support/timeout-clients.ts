import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The outcome of a request. Its status is 0 if the client gave up, or if the connection was closed. */
export interface Outcome {
  readonly status: number;
  readonly milliseconds: number;
  readonly head: string;
  /** When the request ended, by `performance.now()`. */
  readonly at: number;
}

/** Returns the bytes of the request with a number. */
type RequestOf = (number: number) => Buffer;

/** Clients that close their connection after a timeout. Idle connections are reused. */
export class TimeoutClients {
  private readonly free: Socket[] = [];
  private readonly all = new Set<Socket>();

  constructor(
    private readonly url: string,
    private readonly timeoutMs: number,
  ) {}

  /** Sends requests at a constant rate, without waiting for responses (an open loop). */
  async sendAtRate(requestOf: RequestOf, perSecond: number, milliseconds: number): Promise<Outcome[]> {
    const outcomes: Promise<Outcome>[] = [];
    const start = performance.now();
    for (let elapsed = 0; elapsed < milliseconds; elapsed = performance.now() - start) {
      for (let due = Math.floor((elapsed * perSecond) / 1_000) - outcomes.length; due > 0; due--) {
        outcomes.push(this.send(requestOf(outcomes.length)));
      }
      await delay(1);
    }
    return Promise.all(outcomes);
  }

  /** Sends requests with several clients. Each sends one request after another (a closed loop). */
  async sendInLoop(requestOf: RequestOf, clientCount: number, milliseconds: number): Promise<Outcome[]> {
    const end = performance.now() + milliseconds;
    const outcomes: Outcome[] = [];
    let sent = 0;
    const runClient = async () => {
      while (performance.now() < end) outcomes.push(await this.send(requestOf(sent++)));
    };
    await Promise.all(Array.from({ length: clientCount }, runClient));
    return outcomes;
  }

  /** Sends one request. */
  send(request: Buffer): Promise<Outcome> {
    const sentAt = performance.now();
    const socket = this.free.pop() ?? this.open();
    let received = '';
    return new Promise((resolve) => {
      const end = (status: number, head = '') => {
        clearTimeout(timer);
        socket.off('data', read);
        socket.off('close', onClose);
        const at = performance.now();
        resolve({ status, milliseconds: at - sentAt, head, at });
      };
      const onClose = () => end(0);
      const read = (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const headEnd = received.indexOf('\r\n\r\n');
        const head = received.slice(0, headEnd);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
        if (headEnd < 0 || received.length < headEnd + 4 + length) return;
        this.free.push(socket);
        end(Number(received.slice(9, 12)), head);
      };
      const timer = setTimeout(() => socket.destroy(), this.timeoutMs);
      socket.on('data', read);
      socket.on('close', onClose);
      socket.write(request);
    });
  }

  close(): void {
    for (const socket of this.all) socket.destroy();
  }

  private open(): Socket {
    const { hostname: host, port } = new URL(this.url);
    const socket = connect({ host, port: Number(port), noDelay: true });
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
