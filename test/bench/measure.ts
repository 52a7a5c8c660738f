import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ProcessUsage } from '../support/usage.ts';
import type { ClientLoad, LoadResult } from './client.ts';
import { type RequestType, serializeRequest } from './requests.ts';

const WARM_UP_REQUEST_COUNT = 5_000;
const WARM_UP_STEP_MS = 500;
const MAX_WARM_UP_MS = 8_000;

/** The figures of one server, for one type of request and one round. */
export interface Measurement {
  readonly requests: number;
  readonly perSecond: number;
  /** The number of responses with another status than expected. */
  readonly failures: number;
  /** The median and the 99th percentile of the latency, in milliseconds. */
  readonly median: number;
  readonly p99: number;
  readonly max: number;
  /** The processor time of the server per request, in microseconds. */
  readonly cpu: number;
  /** The processor time of the database server per request, in microseconds. It is 0 without a database server. */
  readonly databaseCpu: number;
}

export interface MeasuredServer extends ProcessUsage {
  readonly port: number;
}

/** Sends requests to servers from a process of its own. */
export class LoadClient {
  private readonly child: ChildProcess = fork(join(import.meta.dirname, 'client.js'), { serialization: 'advanced' });
  private readonly exited = once(this.child, 'exit');

  /** Sends enough requests that V8 has probably optimized the server's code. Begins no step after `MAX_WARM_UP_MS`. */
  async warmUp(server: MeasuredServer, type: RequestType): Promise<void> {
    let requests = 0;
    for (const end = Date.now() + MAX_WARM_UP_MS; requests < WARM_UP_REQUEST_COUNT && Date.now() < end; ) {
      requests += (await this.runLoad(server, type, WARM_UP_STEP_MS)).requests;
    }
  }

  async measure(
    server: MeasuredServer,
    database: ProcessUsage | undefined,
    type: RequestType,
    milliseconds: number,
  ): Promise<Measurement> {
    const databaseSeconds = () => database?.cpuSeconds() ?? 0;
    const before = [server.cpuSeconds(), databaseSeconds()] as const;
    const { requests, seconds, ...others } = await this.runLoad(server, type, milliseconds * type.durationFactor);
    const perRequest = (cpuSeconds: number) => (cpuSeconds * 1e6) / requests;
    return {
      ...others,
      requests,
      perSecond: requests / seconds,
      cpu: perRequest(server.cpuSeconds() - before[0]),
      databaseCpu: perRequest(databaseSeconds() - before[1]),
    };
  }

  private runLoad({ port }: MeasuredServer, type: RequestType, milliseconds: number): Promise<LoadResult> {
    const status = type.status ?? (type.method === 'POST' ? 201 : 200);
    const requests = type.requests.map((request) => serializeRequest(type, request));
    this.child.send({ port, requests, status, connections: type.connections, milliseconds } satisfies ClientLoad);
    return Promise.race([
      once(this.child, 'message').then(([message]) => message as LoadResult),
      this.exited.then(() => Promise.reject(new Error('the client exited'))),
    ]);
  }

  close(): void {
    this.child.disconnect();
  }
}

/** Returns a line with the number of failed requests, if there are any. */
export function describeFailures(name: string, measurements: readonly Measurement[] = []): string[] {
  const count = measurements.reduce((sum, { failures }) => sum + failures, 0);
  return count > 0 ? [`${count} requests failed: ${name}.`] : [];
}

export function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}
