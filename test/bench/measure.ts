import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Done, Load } from './client.ts';
import { bytesOf, type Row } from './requests.ts';
import type { Usage } from './usage.ts';

const WARM_UP_REQUESTS = 5_000;
const WARM_UP_STEP_MS = 500;
const WARM_UP_AT_MOST_MS = 8_000;

/** What a server did in a round of a row. */
export interface Measure {
  readonly requests: number;
  readonly perSecond: number;
  /** How many requests were not answered with the status that they should be. */
  readonly failures: number;
  /** Milliseconds from a request to its answer. */
  readonly median: number;
  readonly p99: number;
  /** Microseconds of processor time for each request: of the server, and of the database where there is one. */
  readonly cpu: number;
  readonly databaseCpu: number;
}

/** A server that is measured. */
export interface Measured extends Usage {
  readonly port: number;
}

/** Asks servers from a process of its own. */
export class Client {
  private readonly child: ChildProcess = fork(join(import.meta.dirname, 'client.js'), { serialization: 'advanced' });
  private readonly ended = once(this.child, 'exit');

  /** Asks until the server's code is compiled as it will be: small servers are there sooner than large ones. */
  async warmUp(server: Measured, row: Row): Promise<void> {
    let requests = 0;
    for (const end = Date.now() + WARM_UP_AT_MOST_MS; requests < WARM_UP_REQUESTS && Date.now() < end; ) {
      requests += (await this.load(server, row, WARM_UP_STEP_MS)).requests;
    }
  }

  async measure(server: Measured, database: Usage | undefined, row: Row, milliseconds: number): Promise<Measure> {
    const before = [server.cpuSeconds(), database?.cpuSeconds() ?? 0] as const;
    const { requests, seconds, ...told } = await this.load(server, row, milliseconds * row.lasts);
    const perRequest = (cpuSeconds: number) => (cpuSeconds * 1e6) / requests;
    return {
      ...told,
      requests,
      perSecond: requests / seconds,
      cpu: perRequest(server.cpuSeconds() - before[0]),
      databaseCpu: perRequest((database?.cpuSeconds() ?? 0) - before[1]),
    };
  }

  private load({ port }: Measured, row: Row, milliseconds: number): Promise<Done> {
    const status = row.method === 'POST' ? 201 : 200;
    const requests = row.requests.map((request) => bytesOf(row, request));
    this.child.send({ port, requests, status, connections: row.connections, milliseconds } satisfies Load);
    return Promise.race([
      once(this.child, 'message').then(([message]) => message as Done),
      this.ended.then(() => Promise.reject(new Error('the client ended'))),
    ]);
  }

  close(): void {
    this.child.disconnect();
  }
}

/** Says how many requests failed, where any did. */
export function failuresOf(what: string, measures: readonly Measure[] = []): string[] {
  const count = measures.reduce((sum, { failures }) => sum + failures, 0);
  return count > 0 ? [`${count} requests failed: ${what}.`] : [];
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}
