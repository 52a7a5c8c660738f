import { type ChildProcess, spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const STARTED_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 10;

/**
 * A server program on a port of this machine and on data of its own. It may be killed, frozen and started again, and is
 * gone with its data at the latest when this process is gone, however that ends.
 */
export interface ServerProcess {
  readonly port: number;
  /** The process that runs, or ran last. */
  readonly pid: number;
  /** Starts it (again) on the same port and data; resolves when it accepts connections. */
  start(): Promise<void>;
  /** Freezes it (SIGSTOP) or lets it go on (SIGCONT). */
  freeze(): void;
  thaw(): void;
  /** Ends it with SIGKILL; resolves when it is gone, its data still there. */
  kill(): Promise<void>;
  /** Kills it and removes its data. */
  stop(): Promise<void>;
}

/** Starts a program with the arguments that its port and its folder of data make. */
export async function startServer(
  program: string,
  argumentsOf: (port: number, folder: string) => readonly string[],
): Promise<ServerProcess> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'advocacy-test-'));
  const logFile = join(folder, 'log');
  let child: ChildProcess | undefined;
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  const server: ServerProcess = {
    port,
    get pid() {
      return child?.pid as number;
    },
    async start() {
      const log = openSync(logFile, 'a');
      child = spawn(program, argumentsOf(port, folder), { stdio: ['ignore', log, log], detached: true });
      closeSync(log);
      child.unref();
      if (child.pid === undefined) throw (await once(child, 'error'))[0];
      endWithThisProcess(child, folder);
      for (const end = Date.now() + STARTED_WITHIN_MS; !(await accepts(port)); await delay(LOOK_EVERY_MS)) {
        if (isRunning() && Date.now() < end) continue;
        throw new Error(`${program} did not start: ${(await readFile(logFile, 'utf8')).slice(-2_000)}`);
      }
    },
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    async kill() {
      if (!child || !isRunning()) return;
      const gone = once(child, 'exit');
      child.ref();
      child.kill('SIGKILL');
      await gone;
    },
    async stop() {
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** A shell in a session of its own waits for the end of its input, which comes with the end of this process. */
function endWithThisProcess(child: ChildProcess, folder: string): void {
  const script = 'read _; kill -9 "$0"; sleep 1; rm -rf -- "$1"';
  const guard = spawn('sh', ['-c', script, String(child.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  child.once('exit', () => guard.kill('SIGKILL'));
}

/** Returns a free port below those of outgoing connections, one of which could prevent a server from starting again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await happens(server, 'listening');
    server.close();
    if (isFree) return port;
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isAccepted = await happens(socket, 'connect');
  socket.destroy();
  return isAccepted;
}

/** Whether the event comes; `false` where an error comes before. */
function happens(emitter: EventEmitter, event: string): Promise<boolean> {
  return once(emitter, event).then(
    () => true,
    () => false,
  );
}
