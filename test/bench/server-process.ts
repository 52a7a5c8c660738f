import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { findFreePort } from '../support/server-process.ts';
import { type ProcessUsage, usageOf } from '../support/usage.ts';

const POLL_INTERVAL_MS = 2;

/** A server that is measured. */
export interface Contender {
  readonly name: string;
  /** A noun phrase for docs/benchmark.md. */
  readonly description: string;
  /** The script of the server, which listens on the port in the environment variable `PORT`. */
  readonly path: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the server logs every request to standard error. The log is discarded. */
  readonly hasLog: boolean;
}

/** A server in a process of its own. */
export interface BenchServer extends ProcessUsage {
  readonly port: number;
  /** The time from the start of the process to its first response, of any status. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** Starts a server and waits until it responds. */
export async function startScript({ path, environment, hasLog: logs }: Contender): Promise<BenchServer> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, path], {
    env: { ...process.env, NODE_ENV: 'production', ...environment, PORT: String(port) },
    stdio: ['ignore', 'ignore', logs ? 'ignore' : 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  const exited = once(child, 'exit');
  while (!(await isResponding(port))) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${path} exited with ${child.exitCode ?? child.signalCode}`);
    }
    await delay(POLL_INTERVAL_MS);
  }
  return {
    port,
    startMs: performance.now() - startedAt,
    ...usageOf(child.pid as number),
    async stop() {
      kill();
      await exited;
      process.off('exit', kill);
    },
  };
}

function isResponding(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`, { headers: { Connection: 'close' }, redirect: 'manual' }).then(
    (response) => response.text().then(() => true),
    () => false,
  );
}
