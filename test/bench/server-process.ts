import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const TICKS_PER_SECOND = 100;
const ASK_EVERY_MS = 2;

/** A server as a process of its own, of which the operating system tells what it uses. */
export interface ServerProcess {
  readonly port: number;
  /** From the start of the process to its first answer. */
  readonly startMs: number;
  /** Seconds of processor time so far; `undefined` where the system does not say (it is read from /proc). */
  cpuSeconds(): number | undefined;
  /** Resident memory; `undefined` where the system does not say. */
  residentMiB(): number | undefined;
  stop(): Promise<void>;
}

/** Starts a script that listens at the port which `PORT` names, and waits until it answers; its log goes nowhere. */
export async function startServer(
  script: string,
  environment: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...process.execArgv, script], {
    env: { ...process.env, ...environment, PORT: String(port) },
    stdio: 'ignore',
  });
  process.on('exit', () => child.kill());
  const ended = once(child, 'exit');
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${script} ended with exit code ${child.exitCode}`);
    await delay(ASK_EVERY_MS);
  }
  const startMs = performance.now() - startedAt;
  return {
    port,
    startMs,
    cpuSeconds() {
      const [, ...fields] = proc(child.pid, 'stat')?.split(') ')[1]?.split(' ') ?? [];
      return fields.length === 0 ? undefined : (Number(fields[10]) + Number(fields[11])) / TICKS_PER_SECOND;
    },
    residentMiB() {
      const kibibytes = /^VmRSS:\s+(\d+)/m.exec(proc(child.pid, 'status') ?? '')?.[1];
      return kibibytes === undefined ? undefined : Number(kibibytes) / 1024;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function proc(pid: number | undefined, file: string): string | undefined {
  const path = `/proc/${pid}/${file}`;
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
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
