import { type ChildProcess, spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TEST_TIMEOUT_MS } from './scale.ts';

const START_TIMEOUT_MS = TEST_TIMEOUT_MS / 2;
const POLL_INTERVAL_MS = 10;
const FIRST_PORT = 20_000;
const PORT_COUNT = 10_000;
/** The distance between the first ports of two processes with consecutive IDs. */
const PORT_STEP = 20;
let portOffset = process.pid * PORT_STEP;

/**
 * A server program with a local port and its own data. A test can kill, freeze and restart the server. If the server
 * still runs when this process exits for any reason, the server is killed and its data is removed.
 */
export interface ServerProcess {
  readonly port: number;
  /** The ID of the current or last process. */
  readonly pid: number;
  /** Starts the server, or restarts it with the same port and data. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Suspends the server (SIGSTOP). */
  freeze(): void;
  /** Resumes the server (SIGCONT). */
  thaw(): void;
  /** Kills the server with SIGKILL and keeps its data. Resolves when the process has exited. */
  kill(): Promise<void>;
  /** Kills the server and removes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a program. `argumentsOf` returns its arguments for a free port and for a new data folder in `parentFolder`.
 */
export async function startServerProcess(
  program: string,
  argumentsOf: (port: number, folder: string) => readonly string[],
  parentFolder = tmpdir(),
): Promise<ServerProcess> {
  const port = await findFreePort();
  const folder = await mkdtemp(join(parentFolder, 'advocacy-test-'));
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
      killWithThisProcess(child, folder);
      for (
        const end = Date.now() + START_TIMEOUT_MS;
        !((await acceptsConnections(port)) && isRunning());
        await delay(POLL_INTERVAL_MS)
      ) {
        if (isRunning() && Date.now() < end) continue;
        throw new Error(`${program} did not start: ${(await readFile(logFile, 'utf8')).slice(-2_000)}`);
      }
    },
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    async kill() {
      if (!child || !isRunning()) return;
      const exited = once(child, 'exit');
      child.ref();
      child.kill('SIGKILL');
      await exited;
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

/** Starts a shell in a new session. When this process exits, the shell kills the server, and removes its data. */
function killWithThisProcess(child: ChildProcess, folder: string): void {
  // `read` returns when this process exits, because that closes the input of the shell.
  const script = 'read _; kill -9 "$0"; sleep 1; rm -rf -- "$1"';
  const guard = spawn('sh', ['-c', script, String(child.pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  (guard.stdin as Socket).unref();
  child.once('exit', () => guard.kill('SIGKILL'));
}

/**
 * Returns a free port that is lower than the ports that the operating system gives to outgoing connections. Otherwise,
 * an outgoing connection could take the port of a server while the server is stopped. Processes try different ports,
 * because a port is free until its server has started.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (portOffset++ % PORT_COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await waitForEvent(server, 'listening');
    server.close();
    if (isFree) return port;
  }
}

async function acceptsConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isAccepted = await waitForEvent(socket, 'connect');
  socket.destroy();
  return isAccepted;
}

/** Returns whether the event happens before an error. */
function waitForEvent(emitter: EventEmitter, event: string): Promise<boolean> {
  return once(emitter, event).then(
    () => true,
    () => false,
  );
}
