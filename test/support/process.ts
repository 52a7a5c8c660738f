import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DEMO_API_KEY } from './request.ts';

const MAIN = join(import.meta.dirname, '../../bootstrap/main.js');

/** V8 lets garbage lie for as long as there is room; with little of it, the memory of a process is what it holds. */
export const SMALL_HEAP = { NODE_OPTIONS: '--max-old-space-size=128' };

/** The service as a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** What it printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /** Its exit code, when it has ended. */
  ended(): Promise<number | null>;
}

/**
 * Starts the service on a free port; resolves when it listens, rejects with what it printed when it ends before. `program`
 * is another module that starts the service.
 */
export async function startProcess(
  settings: Readonly<Record<string, string>> = {},
  standardError: 'pipe' | number = 'pipe',
  program = MAIN,
): Promise<ServiceProcess> {
  // The Redis of the tests is for those that name it: elsewhere the service would warn about it.
  const own = { REDIS_URL: undefined, PORT: '0', DEMO_API_KEY, RATE_LIMIT_POINTS: '1000000' };
  const env = { ...process.env, ...own, ...settings };
  const child = spawn(process.execPath, ['--enable-source-maps', program], {
    env,
    stdio: ['ignore', 'pipe', standardError],
  });
  return serviceOf(child);
}

/** Waits until a process that starts the service has printed where it listens. */
export async function serviceOf(child: ChildProcess): Promise<ServiceProcess> {
  const printed = { stdout: '', stderr: '' };
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  child.stderr?.on('data', (chunk) => (printed.stderr += chunk));
  const listening = new Promise<string>((resolve) => {
    child.stdout?.on('data', (chunk) => {
      printed.stdout += chunk;
      const url = /listens at (http:\S+?),?\s/.exec(printed.stdout)?.[1];
      if (url) resolve(url);
    });
  });
  const failed = exit.then((code) => {
    throw new Error(`ended with exit code ${code}: ${printed.stderr}`);
  });
  failed.catch(() => 'told to whoever waits');
  return { url: await Promise.race([listening, failed]), child, printed, ended: () => exit };
}

/** Runs the service as a process while a test works with it; the process is gone afterwards. */
export async function withProcess(
  settings: Readonly<Record<string, string>>,
  test: (service: ServiceProcess) => Promise<void>,
  program?: string,
): Promise<void> {
  const service = await startProcess(settings, 'pipe', program);
  try {
    await test(service);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended();
  }
}
