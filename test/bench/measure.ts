import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Done, Load } from './client.ts';
import { bytesOf, type Row } from './requests.ts';
import type { Usage } from './usage.ts';

/** What a server did in a round of a row. */
export interface Measure {
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

  async measure(server: Measured, database: Usage | undefined, row: Row, milliseconds: number): Promise<Measure> {
    const status = row.method === 'POST' ? 201 : 200;
    const load: Load = { port: server.port, request: bytesOf(row), status, connections: row.connections, milliseconds };
    const before = [server.cpuSeconds(), database?.cpuSeconds() ?? 0] as const;
    this.child.send(load);
    const done = await Promise.race([
      once(this.child, 'message').then(([message]) => message as Done),
      this.ended.then(() => Promise.reject(new Error('the client ended'))),
    ]);
    const perRequest = (seconds: number) => (seconds * 1e6) / done.requests;
    return {
      perSecond: done.requests / done.seconds,
      failures: done.failures,
      median: done.median,
      p99: done.p99,
      cpu: perRequest(server.cpuSeconds() - before[0]),
      databaseCpu: perRequest((database?.cpuSeconds() ?? 0) - before[1]),
    };
  }

  close(): void {
    this.child.disconnect();
  }
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}
