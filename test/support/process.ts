import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { doNothing } from '../../core/shared/do-nothing.ts';
import { DEMO_API_KEY } from './request.ts';

/** The module that starts the service. */
export const MAIN_PATH = join(import.meta.dirname, '../../bootstrap/main.js');

/** Stands for a setting that is not set. If a test only omits a setting, `startProcess` may set a default. */
export const UNSET = undefined as never;

/** A small heap. V8 then collects garbage early, so that the memory of the process includes little garbage. */
export const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=128' };

/** A process that runs the service. */
export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** The output so far. `stdout` has the messages of the lines, each followed by an empty line. */
  readonly output: { stdout: string; stderr: string };
  /** Resolves with the exit code when the process has exited. */
  waitForExit(): Promise<number | null>;
  /** Kills the process with SIGKILL. Resolves when it has exited. */
  kill(): Promise<unknown>;
}

/**
 * Starts the service on a free port, and on memory storage unless `settings` name another storage. Resolves when the
 * service listens. If the service exits before that, rejects with its exit code and its standard error.
 */
export async function startProcess(
  settings: Readonly<Record<string, string>> = {},
  standardError: 'pipe' | number = 'pipe',
): Promise<ServiceProcess> {
  // REDIS_URL of the test run would cause a warning, so only tests that need Redis set it.
  const defaults = { STORAGE: 'memory', REDIS_URL: undefined, PORT: '0', DEMO_API_KEY, RATE_LIMIT_POINTS: '1000000' };
  const env = { ...process.env, ...defaults, ...settings };
  const child = spawn(process.execPath, ['--enable-source-maps', MAIN_PATH], {
    env,
    stdio: ['ignore', 'pipe', standardError],
  });
  return waitForService(child);
}

/** Waits until a process that starts the service has printed its address. */
export async function waitForService(child: ChildProcess): Promise<ServiceProcess> {
  const output = { stdout: '', stderr: '' };
  const lines = child.stdout && createInterface(child.stdout);
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  child.stderr?.on('data', (chunk) => (output.stderr += chunk));
  const listening = new Promise<string>((resolve) => {
    lines?.on('line', (line) => {
      output.stdout += `${line.startsWith('{') ? `${JSON.parse(line).msg}\n` : line}\n`;
      const url = /listens on (http:\S+)\s/.exec(output.stdout)?.[1];
      if (url) resolve(url);
    });
  });
  const failed = exit.then((code) => {
    throw new Error(`ended with exit code ${code}: ${output.stderr}`);
  });
  // `failed` also rejects if the service exits later, when nothing awaits `failed` any more.
  failed.catch(doNothing);
  const kill = () => {
    child.kill('SIGKILL');
    return exit;
  };
  return { url: await Promise.race([listening, failed]), child, output, waitForExit: () => exit, kill };
}

/** Runs the service as a process during a test, and kills it afterwards. */
export async function withProcess(
  settings: Readonly<Record<string, string>>,
  test: (service: ServiceProcess) => Promise<void>,
): Promise<void> {
  const service = await startProcess(settings);
  try {
    await test(service);
  } finally {
    await service.kill();
  }
}
