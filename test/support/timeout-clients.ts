import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** The outcome of a request: status 0 if its client gave up, or if the connection was closed. */
export interface Outcome {
  readonly status: number;
  readonly milliseconds: number;
  readonly head: string;
  /** When it ended, as of `performance.now()`. */
  readonly at: number;
}

/** The bytes of the request with a number. */
type RequestOf = (number: number) => Buffer;

/** Clients that give up after a time: they close their connections. Connections that are free are used again. */
export class TimeoutClients {
  private readonly free: Socket[] = [];
  private readonly all = new Set<Socket>();

  constructor(
    private readonly url: string,
    private readonly giveUpMs: number,
  ) {}

  /** Sends requests at a rate, whatever becomes of those before (an open loop). */
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

  /** Sends one request after another, so many at the same time (a closed loop). */
  async sendInLoop(requestOf: RequestOf, clients: number, milliseconds: number): Promise<Outcome[]> {
    const end = performance.now() + milliseconds;
    const outcomes: Outcome[] = [];
    let sent = 0;
    const client = async () => {
      while (performance.now() < end) outcomes.push(await this.send(requestOf(sent++)));
    };
    await Promise.all(Array.from({ length: clients }, client));
    return outcomes;
  }

  /** Sends one request. */
  send(request: Buffer): Promise<Outcome> {
    const sentAt = performance.now();
    const socket = this.free.pop() ?? this.open();
    let received = '';
    return new Promise((resolve) => {
      const end = (status: number, head = '') => {
        clearTimeout(giveUp);
        socket.off('data', read);
        socket.off('close', lose);
        const at = performance.now();
        resolve({ status, milliseconds: at - sentAt, head, at });
      };
      const lose = () => end(0);
      const read = (chunk: Buffer) => {
        received += chunk.toString('latin1');
        const headEnd = received.indexOf('\r\n\r\n');
        const head = received.slice(0, headEnd);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
        if (headEnd < 0 || received.length < headEnd + 4 + length) return;
        this.free.push(socket);
        end(Number(received.slice(9, 12)), head);
      };
      const giveUp = setTimeout(() => socket.destroy(), this.giveUpMs);
      socket.on('data', read);
      socket.on('close', lose);
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
