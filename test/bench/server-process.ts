import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Usage, usageOf, withChildren } from './usage.ts';

const ASK_EVERY_MS = 2;

/** A server to be started: a script that listens at the port which `PORT` names. */
export interface Script {
  readonly path: string;
  /** Options of Node. */
  readonly options?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Whether what it writes to standard error is a log of every request, which goes nowhere. */
  readonly logs: boolean;
}

/** A server as a process of its own. */
export interface ServerProcess extends Usage {
  readonly port: number;
  /** From the start of the process to its first answer, whatever that was. */
  readonly startMs: number;
  /** The first thing that it tells the process that started it. */
  readonly told: Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a server and waits until it answers. */
export async function startServer({ path, options = [], environment, logs }: Script): Promise<ServerProcess> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, ...options, path], {
    env: { ...process.env, NODE_ENV: 'production', ...environment, PORT: String(port) },
    stdio: ['ignore', 'ignore', logs ? 'ignore' : 'inherit', 'ipc'],
  });
  const endIt = () => child.kill('SIGKILL');
  process.on('exit', endIt);
  const ended = once(child, 'exit');
  const told = once(child, 'message').then(([message]) => message);
  while (!(await answers(port))) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${path} ended with ${child.exitCode ?? child.signalCode}`);
    }
    await delay(ASK_EVERY_MS);
  }
  return {
    port,
    startMs: performance.now() - startedAt,
    told,
    ...usageOf(child.pid as number),
    async stop() {
      for (const pid of withChildren(child.pid as number)) process.kill(pid, 'SIGKILL');
      await ended;
      process.off('exit', endIt);
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/healthz`, { headers: { Connection: 'close' } }).then(
    (reply) => reply.text().then(() => true),
    () => false,
  );
}
